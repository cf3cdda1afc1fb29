import type { jobStatuses } from '../../partner/contract/jobs.ts';
import { defaultStageTypes, systemStageTypes } from '../../partner/contract/pipelines.ts';
import { type Context, effect, invalidRequest, iso, notFound, refuse } from '../context.ts';
import { customFieldsOfJob } from './custom-fields.ts';
import { emit } from './deliveries.ts';

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

/** Section 2.1: the stages of a new pipeline. */
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

/** Puts a new stage at `position`; later ones move up by one. */
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

/** Removes an empty stage; the remaining ones are numbered anew. */
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

type JobStatus = (typeof jobStatuses)[number];

export interface Job {
  id: number;
  companyId: number;
  pipelineId: number;
  status: JobStatus;
  createdAt: number;
  updatedAt: number;
  /** Everything else, as given at creation. */
  fields: JobFields;
}

interface JobFields {
  title: string;
  city: string;
  state: string;
  country: string;
  description: string;
  workMode: string;
  publishType: string;
  salaryRangeFrom: number | null;
  salaryRangeTo: number | null;
  salaryCurrency: string | null;
  [key: string]: unknown;
}

interface Row extends Omit<Job, 'fields'> {
  body: string;
}

const JOB = `select id, company_id as companyId, pipeline_id as pipelineId, status, created_at as createdAt,
    updated_at as updatedAt, body from jobs`;

function toJob({ body, ...row }: Row): Job {
  return { ...row, fields: JSON.parse(body) as JobFields };
}

/**
 * A job, on the company's first pipeline unless another is named (J1, assumed). The API emits no job.created; the
 * dashboard does (section 6, J16).
 */
export function createJob(ctx: Context, input: Record<string, unknown> & { title: string }): Job {
  const { status, pipelineId, customFields: _values, ...given } = input;
  const { state, company, now } = ctx;
  const id = state.nextId('job', 50_001);
  const fields: JobFields = {
    city: '',
    state: '',
    country: '',
    workMode: 'ONSITE',
    publishType: 'EXTERNAL',
    salaryRangeFrom: null,
    salaryRangeTo: null,
    salaryCurrency: null,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    title: input.title,
    description:
      typeof given['description'] === 'string'
        ? given['description']
        : `${input.title}: we are looking for a colleague.`,
  };
  state.run(
    'insert into jobs (id, company_id, pipeline_id, status, created_at, updated_at, body) values (?, ?, ?, ?, ?, ?, ?)',
    id,
    company.id,
    typeof pipelineId === 'number' ? findPipeline(ctx, pipelineId).id : defaultPipeline(ctx).id,
    typeof status === 'string' ? status : 'DRAFT',
    now,
    now,
    JSON.stringify(fields),
  );
  effect(ctx, 'job', id);
  if (ctx.origin === 'dashboard') emit(ctx, 'job.created', { jobId: id, title: input.title });
  return findJob(ctx, id);
}

/** 404 when unknown or another company's. */
export function findJob(ctx: Context, id: number): Job {
  const row = ctx.state.one<Row>(`${JOB} where id = ? and company_id = ?`, id, ctx.company.id);
  if (row === undefined) throw notFound('Job');
  return toJob(row);
}

/** A DELETED job accepts nobody (C7, assumed). */
export function openJob(ctx: Context, id: number): Job {
  const job = findJob(ctx, id);
  if (job.status === 'DELETED') throw notFound('Job');
  return job;
}

/** Edits basic details and the pipeline: job.updated names the real changes; without any, nothing happens. */
export function updateJob(
  ctx: Context,
  id: number,
  given: Record<string, unknown>,
  pipelineId: number | undefined,
): Job {
  const job = findJob(ctx, id);
  const before: Record<string, unknown> = { ...job.fields, pipelineId: job.pipelineId };
  const asked = Object.entries({ ...given, pipelineId }).filter(([, value]) => value !== undefined);
  const changes = asked.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]));
  if (changes.length === 0) return job;
  const { pipelineId: placed, ...fields } = { ...before, ...Object.fromEntries(changes) };
  refuseSalary(fields);
  ctx.state.run(
    'update jobs set body = ?, pipeline_id = ?, updated_at = ? where id = ?',
    JSON.stringify(fields),
    Number(placed),
    ctx.now,
    id,
  );
  effect(ctx, 'job-updated', id);
  emit(ctx, 'job.updated', { jobId: id, updatedFields: changes.map(([field]) => field) });
  return findJob(ctx, id);
}

/** Section 2.2, for the job as it would be: the three together, and from less than to. */
function refuseSalary(fields: Record<string, unknown>): void {
  const salary = ['salaryRangeFrom', 'salaryRangeTo', 'salaryCurrency'].map((field) => fields[field] ?? undefined);
  const given = salary.filter((value) => value !== undefined).length;
  if (given === 0 || (given === 3 && Number(salary[0]) < Number(salary[1]))) return;
  throw invalidRequest('salaryRangeFrom, a greater salaryRangeTo and salaryCurrency must be given together', {
    salaryRangeFrom: 'does not fit the other two',
  });
}

export function setJobStatus(
  ctx: Context,
  id: number,
  status: JobStatus,
  closing: { status?: string | undefined; reason?: string | undefined } = {},
): Job {
  const job = findJob(ctx, id);
  ctx.state.run('update jobs set status = ?, updated_at = ? where id = ?', status, ctx.now, id);
  effect(ctx, 'job-updated', id, { status });
  emit(ctx, 'job.status_changed', {
    jobId: id,
    status,
    previousStatus: job.status,
    closingStatus: closing.status ?? null,
    closingReason: closing.reason ?? null,
  });
  return findJob(ctx, id);
}

interface JobQuery {
  pageNumber: number;
  perPage: number;
  [filter: string]: unknown;
}

/** Text filters match a part, ignoring case (J2, assumed). */
const PARTIAL = "instr(lower(body ->> '$'), lower(?)) > 0";
const EXACT = "body ->> '$' = ?";
const FILTERS: Record<string, string> = {
  status: 'status = ?',
  jobTitle: PARTIAL.replace('$', 'title'),
  city: PARTIAL.replace('$', 'city'),
  state: PARTIAL.replace('$', 'state'),
  country: PARTIAL.replace('$', 'country'),
  ...Object.fromEntries(
    ['teamId', 'careerLevel', 'contractType', 'degreeLevel', 'jobRole', 'publishType', 'workMode'].map((field) => [
      field,
      EXACT.replace('$', field),
    ]),
  ),
};

/** Newest first (J3); a DELETED job is shown only if the filter asks for that status. */
export function listJobs(ctx: Context, query: JobQuery): { jobs: Job[]; total: number } {
  const used = Object.entries(FILTERS).filter(([name]) => typeof query[name] === 'string');
  const shown = query['status'] === undefined ? ["status <> 'DELETED'"] : [];
  const where = ['company_id = ?', ...shown, ...used.map(([, sql]) => sql)].join(' and ');
  const values = [ctx.company.id, ...used.map(([name]) => query[name] as string)];
  const rows = ctx.state.all<Row>(
    `${JOB} where ${where} order by id desc limit ? offset ?`,
    ...values,
    query.perPage,
    (query.pageNumber - 1) * query.perPage,
  );
  return { jobs: rows.map(toJob), total: ctx.state.count('jobs', where, ...values) };
}

/** The list item of section 2.2. */
export function renderJob(ctx: Context, job: Job): Record<string, unknown> {
  const { fields } = job;
  const counts = new Map(
    ctx.state
      .all<{ stageId: number; n: number }>(
        'select stage_id as stageId, count(*) as n from job_candidates where job_id = ? group by stage_id',
        job.id,
      )
      .map((row) => [row.stageId, row.n]),
  );
  const rejected = ctx.state.count('job_candidates', 'job_id = ? and rejected = 1', job.id);
  return {
    id: job.id,
    title: fields.title,
    description: fields.description,
    city: fields.city,
    state: fields.state,
    country: fields.country,
    pipelineId: job.pipelineId,
    status: job.status,
    workMode: fields.workMode,
    pipelineStage: stagesOf(ctx, job.pipelineId).map((stage) => ({
      name: stage.name,
      type: stage.type,
      totalCandidate: counts.get(stage.id) ?? 0,
    })),
    createdAt: job.createdAt,
    runningRevenue: 0,
    rejectedCandidateCount: rejected,
    salaryRangeFrom: fields.salaryRangeFrom,
    salaryRangeTo: fields.salaryRangeTo,
    salaryCurrency: fields.salaryCurrency,
    customFields: customFieldsOfJob(ctx, job.id),
  };
}
