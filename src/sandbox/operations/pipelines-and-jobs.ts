import { type Context, effect } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { upsertValuesOf } from '../records/custom-fields.ts';
import { jobCandidateIdsIn, moveToStage } from '../records/job-candidates.ts';
import { createJob, findJob, listJobs, renderJob } from '../records/jobs.ts';
import {
  createPipeline,
  findPipeline,
  findStage,
  insertStage,
  isSystemStage,
  listPipelines,
  placeStage,
  removeStage,
  renamePipeline,
  renderPipeline,
  renderStage,
  type Stage,
  stagesOf,
  updateStage,
} from '../records/pipelines.ts';
import { findTeam, findUser, listTeams, listUsers, requireTeam, type User } from '../records/users.ts';
import { confirmation, type OperationTree, success } from './operation.ts';

export const pipelines = {
  list: (ctx) => success(listPipelines(ctx).map((pipeline) => renderPipeline(ctx, pipeline))),

  get: (ctx, { params }) => success(renderPipeline(ctx, findPipeline(ctx, params.pipelineId))),

  create(ctx, { body }) {
    const { id, name } = createPipeline(ctx, body.name);
    return success({ id, name });
  },

  rename(ctx, { params, body }) {
    const { id } = findPipeline(ctx, params.pipelineId);
    renamePipeline(ctx, id, body.name);
    return success({ id, name: body.name });
  },

  saveStage(ctx, { body }) {
    const pipeline = findPipeline(ctx, body.pipelineId);
    if (body.stageId === undefined) {
      const { name = '', type = '' } = body;
      const position = placeForNew(stagesOf(ctx, pipeline.id), body.order);
      const stage = insertStage(ctx, { pipelineId: pipeline.id, name, type, position });
      effect(ctx, 'stage', stage.id);
      return { ...success(renderStage(stage)), status: 201 };
    }
    return { ...success(renderStage(changeStage(ctx, stageIn(ctx, pipeline.id, body.stageId), body))), status: 200 };
  },

  deleteStage(ctx, { params, body }) {
    const pipeline = findPipeline(ctx, body.pipelineId);
    const stage = stageIn(ctx, pipeline.id, params.stageId);
    if (isSystemStage(stage))
      throw invalidRequest(`A ${stage.type} stage cannot be deleted`, { stageId: 'is a system stage' });
    if (body.newStageId === stage.id)
      throw invalidRequest('newStageId is the stage to delete', { newStageId: 'must be another stage' });
    const target = stageIn(ctx, pipeline.id, body.newStageId);
    moveToStage(ctx, jobCandidateIdsIn(ctx, stage.id), target);
    removeStage(ctx, stage);
    return confirmation('Stage deleted');
  },
} satisfies OperationTree['pipelines'];

/** A stage of another pipeline of the company is an invalid stage id (P7, assumed). */
function stageIn(ctx: Context, pipelineId: number, stageId: number): Stage {
  const stage = findStage(ctx, stageId);
  if (stage.pipelineId !== pipelineId)
    throw invalidRequest('Stage id is not valid', { stageId: 'is of another pipeline' });
  return stage;
}

/** Before HIRED unless an order is given; SOURCED keeps the first place (P1, P4, assumed). */
function placeForNew(stages: readonly Stage[], order: number | undefined): number {
  if (order === undefined) return stages.find((stage) => stage.type === 'HIRED')?.position ?? stages.length + 1;
  return checkedOrder(stages, order);
}

function checkedOrder(stages: readonly Stage[], order: number): number {
  if (order > stages.length)
    throw invalidRequest(`order must be between 1 and ${String(stages.length)}`, { order: 'out of range' });
  if (order === 1) throw invalidRequest('The first place is locked for SOURCED', { order: 'is locked' });
  return order;
}

/** A system stage changes only its name; type and order are left out (P2, P3, assumed). */
function changeStage(
  ctx: Context,
  stage: Stage,
  change: { name?: string | undefined; type?: string | undefined; order?: number | undefined },
): Stage {
  if (change.name === undefined && change.type === undefined && change.order === undefined) {
    throw invalidRequest('name, type or order is required', { name: 'is missing' });
  }
  const fixed = isSystemStage(stage);
  if (!fixed && change.type !== undefined && isSystemStage({ ...stage, type: change.type })) {
    throw invalidRequest('Stage type is not valid', { type: 'is a system type' });
  }
  updateStage(ctx, stage, { name: change.name, type: fixed ? undefined : change.type });
  if (!fixed && change.order !== undefined) {
    const stages = stagesOf(ctx, stage.pipelineId);
    // Nothing stands after HIRED (P2, assumed): the last place is the one before it.
    placeStage(ctx, stage, Math.min(checkedOrder(stages, change.order), stages.length - 1));
  }
  effect(ctx, 'stage', stage.id);
  return findStage(ctx, stage.id);
}

export const jobs = {
  list(ctx, { query }) {
    const { jobs: page, total } = listJobs(ctx, query);
    return { body: { jobs: page.map((job) => renderJob(ctx, job)), totalJobs: total } };
  },

  create(ctx, { body }) {
    if (body.teamId !== undefined) requireTeam(ctx, body.teamId);
    const job = createJob(ctx, body);
    upsertValuesOf(ctx, 'job', job.id, body.customFields ?? {});
    return { body: renderJob(ctx, findJob(ctx, job.id)) };
  },
} satisfies OperationTree['jobs'];

/** The two names a filter may use instead of the display name (U2, assumed). */
const ROLE_NAMES: Record<string, string> = { SUPER_ADMIN: 'Super Admin', ADMIN: 'Admin' };

interface Filters {
  status?: string[] | undefined;
  role?: string | undefined;
  isCompanyAdmin?: boolean | undefined;
  search?: string | undefined;
}

export const users = {
  list(ctx, { query: { page, perPage, ...filters } }) {
    const found = listUsers(ctx).filter((user) => matches(user, filters));
    return success(found.slice((page - 1) * perPage, page * perPage), {
      pagination: { page, perPage, total: found.length },
    });
  },

  get: (ctx, { params }) => success(findUser(ctx, params.userId)),
} satisfies OperationTree['users'];

export const teams = {
  list: (ctx) => success(listTeams(ctx)),
  get: (ctx, { params }) => success(findTeam(ctx, params.teamId)),
} satisfies OperationTree['teams'];

/** `search` is trimmed and looks into one field at a time (U3, assumed). */
function matches(user: User, { status = [], role, isCompanyAdmin, search }: Filters): boolean {
  const wanted = search?.trim().toLowerCase() ?? '';
  return (
    (status.length === 0 || status.includes(user.status)) &&
    (role === undefined || user.role === (ROLE_NAMES[role] ?? role)) &&
    (isCompanyAdmin === undefined || user.isCompanyAdmin === isCompanyAdmin) &&
    [user.email, user.firstName, user.lastName].some((field) => field?.toLowerCase().includes(wanted))
  );
}
