import { defaultStageTypes, systemStageTypes } from '../../partner/contract/pipelines.ts';
import { type Context, effect, iso } from '../context.ts';
import { refuse } from '../errors.ts';

interface Pipeline {
  id: number;
  companyId: number;
  name: string;
  createdAt: number;
  updatedAt: number;
}

export interface Stage {
  id: number;
  companyId: number;
  pipelineId: number;
  name: string;
  type: string;
  /** 1-based place in its pipeline. */
  position: number;
  createdAt: number;
  updatedAt: number;
}

/** Section 2.1: what the stages of a new pipeline are called. */
const DEFAULT_NAMES: Record<(typeof defaultStageTypes)[number], string> = {
  SOURCED: 'Sourced',
  APPLIED: 'Applied',
  ASSESSMENT: 'Assessment',
  SCREEN: 'Screening',
  SHORTLISTED: 'Shortlisted',
  HIRED: 'Hired',
};

const SYSTEM_TYPES: ReadonlySet<string> = new Set(systemStageTypes);

const PIPELINE =
  'select id, company_id as companyId, name, created_at as createdAt, updated_at as updatedAt from pipelines';
const STAGE = `select id, company_id as companyId, pipeline_id as pipelineId, name, type, position,
  created_at as createdAt, updated_at as updatedAt from stages`;

/** True for SOURCED, APPLIED and HIRED: only their name may change. */
export function isSystemStage(stage: Stage): boolean {
  return SYSTEM_TYPES.has(stage.type);
}

/** A pipeline with the six default stages. */
export function createPipeline(ctx: Context, name: string): Pipeline {
  const { state, company, now } = ctx;
  const id = state.nextId('pipeline', 301);
  state.run(
    'insert into pipelines (id, company_id, name, created_at, updated_at) values (?, ?, ?, ?, ?)',
    id,
    company.id,
    name,
    now,
    now,
  );
  defaultStageTypes.forEach((type, index) =>
    insertStage(ctx, { pipelineId: id, name: DEFAULT_NAMES[type], type, position: index + 1 }),
  );
  effect(ctx, 'pipeline', id);
  return findPipeline(ctx, id);
}

/** 404 when unknown, 403 when another company's (section 7). */
export function findPipeline(ctx: Context, id: number): Pipeline {
  const pipeline = ctx.state.one<Pipeline>(`${PIPELINE} where id = ?`, id);
  if (pipeline === undefined) throw refuse('PIPELINE_NOT_FOUND', 'Pipeline not found');
  if (pipeline.companyId !== ctx.company.id)
    throw refuse('PERMISSION_DENIED', 'The pipeline belongs to another company');
  return pipeline;
}

export function listPipelines(ctx: Context): Pipeline[] {
  return ctx.state.all<Pipeline>(`${PIPELINE} where company_id = ? order by id`, ctx.company.id);
}

export function renamePipeline(ctx: Context, id: number, name: string): void {
  ctx.state.run('update pipelines set name = ?, updated_at = ? where id = ?', name, ctx.now, id);
}

/** The company's oldest pipeline: where jobs go (J1, assumed). */
export function defaultPipeline(ctx: Context): Pipeline {
  const first = ctx.state.one<Pipeline>(`${PIPELINE} where company_id = ? order by id limit 1`, ctx.company.id);
  return first ?? createPipeline(ctx, 'Default pipeline');
}

/** In order. */
export function stagesOf(ctx: Context, pipelineId: number): Stage[] {
  return ctx.state.all<Stage>(`${STAGE} where pipeline_id = ? order by position`, pipelineId);
}

/** Of any company, or undefined. */
export function stageById(ctx: Context, id: number): Stage | undefined {
  return ctx.state.one<Stage>(`${STAGE} where id = ?`, id);
}

/** 404 when unknown, 403 when another company's. */
export function findStage(ctx: Context, id: number): Stage {
  const stage = stageById(ctx, id);
  if (stage === undefined) throw refuse('NOT_FOUND', 'Stage not found');
  if (stage.companyId !== ctx.company.id) throw refuse('PERMISSION_DENIED', 'The stage belongs to another company');
  return stage;
}

/** The first stage of a type in a pipeline. */
export function stageOfType(ctx: Context, pipelineId: number, type: string): Stage | undefined {
  return ctx.state.one<Stage>(
    `${STAGE} where pipeline_id = ? and type = ? order by position limit 1`,
    pipelineId,
    type,
  );
}

/** Puts a new stage at `position`; those from there on move up by one. */
export function insertStage(
  ctx: Context,
  stage: { pipelineId: number; name: string; type: string; position: number },
): Stage {
  const { state, company, now } = ctx;
  const id = state.nextId('stage', 4001);
  state.run(
    'update stages set position = position + 1 where pipeline_id = ? and position >= ?',
    stage.pipelineId,
    stage.position,
  );
  state.run(
    `insert into stages (id, company_id, pipeline_id, name, type, position, created_at, updated_at)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    stage.pipelineId,
    stage.name,
    stage.type,
    stage.position,
    now,
    now,
  );
  return findStage(ctx, id);
}

/** Changes name and type. */
export function updateStage(
  ctx: Context,
  stage: Stage,
  fields: { name?: string | undefined; type?: string | undefined },
): void {
  ctx.state.run(
    'update stages set name = ?, type = ?, updated_at = ? where id = ?',
    fields.name ?? stage.name,
    fields.type ?? stage.type,
    ctx.now,
    stage.id,
  );
}

/** Moves a stage to `position`; the others stay sequential. */
export function placeStage(ctx: Context, stage: Stage, position: number): void {
  const others = stagesOf(ctx, stage.pipelineId).filter((other) => other.id !== stage.id);
  others.splice(position - 1, 0, stage);
  renumber(ctx, others);
}

/** Removes a stage that nobody is in any more; the remaining ones are numbered anew. */
export function removeStage(ctx: Context, stage: Stage): void {
  ctx.state.run('delete from stages where id = ?', stage.id);
  renumber(ctx, stagesOf(ctx, stage.pipelineId));
  effect(ctx, 'stage-removed', stage.id);
}

export function renderStage(stage: Stage): Record<string, unknown> {
  return {
    id: stage.id,
    name: stage.name,
    type: stage.type,
    createdAt: iso(stage.createdAt),
    updatedAt: iso(stage.updatedAt),
  };
}

export function renderPipeline(ctx: Context, pipeline: Pipeline): Record<string, unknown> {
  return {
    id: pipeline.id,
    name: pipeline.name,
    createdAt: iso(pipeline.createdAt),
    updatedAt: iso(pipeline.updatedAt),
    stages: stagesOf(ctx, pipeline.id).map(renderStage),
  };
}

function renumber(ctx: Context, stages: readonly Stage[]): void {
  stages.forEach((stage, index) => ctx.state.run('update stages set position = ? where id = ?', index + 1, stage.id));
}
