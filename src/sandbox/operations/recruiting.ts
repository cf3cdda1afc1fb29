import { isSectionOf } from '../../partner/contract/custom-fields.ts';
import { type Context, creditsOf, effect, invalidRequest, refuse } from '../context.ts';
import { renderApplication, renderConsentDocument } from '../records/applications.ts';
import { candidatePage } from '../records/candidate-search.ts';
import { candidateByEmail, createCandidate, findCandidate, updateCandidate } from '../records/candidates.ts';
import {
  createCustomField,
  deleteCustomField,
  findCustomField,
  findValue,
  listCustomFields,
  removeValues,
  renderCustomField,
  renderValue,
  requireEntity,
  SELECT_TYPES,
  updateCustomField,
  upsertValue,
  upsertValues,
  upsertValuesOf,
  valuesOf,
} from '../records/custom-fields.ts';
import {
  addToJob,
  findJobCandidate,
  type JobCandidate,
  type JobCandidateQuery,
  jobCandidateById,
  jobCandidateIdsIn,
  jobCandidateIdsOf,
  jobCandidateOf,
  jobCandidatePage,
  moveToStage,
  removeJobCandidates,
  renderJobCandidate,
  stageNow,
  tellAdded,
  updateJobCandidate,
} from '../records/job-candidates.ts';
import {
  createJob,
  createPipeline,
  findJob,
  findPipeline,
  findStage,
  insertStage,
  isSystemStage,
  type Job,
  listJobs,
  listPipelines,
  openJob,
  placeStage,
  removeStage,
  renamePipeline,
  renderJob,
  renderPipeline,
  renderStage,
  type Stage,
  stagesOf,
  updateStage,
} from '../records/pipelines.ts';
import { findRescore, renderRescore, scheduleScoring, startRescore } from '../records/rescoring.ts';
import {
  answeredCandidate,
  candidateText,
  findBatch,
  parsedIn,
  parseResume,
  type ResumeBatch,
  startBatch,
} from '../records/resumes.ts';
import { findTeam, findUser, listTeams, listUsers, requireTeam, type User } from '../records/users.ts';
import { type Answer, confirmation, type OperationTree, success, successTexts } from './operation.ts';

export const customFieldValues = {
  list: (ctx, { query }) => success(valuesOf(ctx, query.entityType, query.entityId).map(renderValue)),

  get: (ctx, { params }) => success(renderValue(findValue(ctx, params.valueId))),

  upsert: (ctx, { body }) => success(renderValue(upsertValue(ctx, body))),

  /** One bad entry refuses all (F3, assumed): the transaction around the operation undoes the others. */
  upsertBulk: (ctx, { body }) => success(upsertValues(ctx, body).map(renderValue)),

  remove(ctx, { params }) {
    removeValues(ctx, [findValue(ctx, params.valueId)]);
    return confirmation('Custom field value deleted');
  },

  /** Without a parent in the query nested values go too; with one only those (F6, assumed). */
  removeByEntity(ctx, { params, query }) {
    requireEntity(ctx, params.entityType, params.entityId);
    const { parentEntityType, parentEntityId } = query;
    const chosen = valuesOf(ctx, params.entityType, params.entityId).filter(
      (value) =>
        (parentEntityType === undefined || value.parentEntityType === parentEntityType) &&
        (parentEntityId === undefined || value.parentEntityId === parentEntityId),
    );
    removeValues(ctx, chosen);
    return confirmation(`${String(chosen.length)} custom field values deleted`);
  },
} satisfies OperationTree['customFieldValues'];

export const customFields = {
  list: (ctx, { query }) => success(listCustomFields(ctx, query.entityType).map(renderCustomField)),

  get: (ctx, { params }) => success(renderCustomField(findCustomField(ctx, params.customFieldId))),

  create: (ctx, { body }) =>
    success(renderCustomField(createCustomField(ctx, body)), { message: 'Custom field created' }),

  update(ctx, { params, body }) {
    const field = findCustomField(ctx, params.customFieldId);
    if (SELECT_TYPES.has(field.fieldType) && body.options?.length === 0) {
      throw invalidRequest('Options are required for select and multi-select', { options: 'must not be empty' });
    }
    if (body.parentSection !== undefined && !isSectionOf(field.entityType, body.parentSection)) {
      throw invalidRequest('Section is not one of the entity', {
        parentSection: `is no section of a ${field.entityType}`,
      });
    }
    return success(renderCustomField(updateCustomField(ctx, field.id, body)));
  },

  remove(ctx, { params }) {
    deleteCustomField(ctx, params.customFieldId);
    return confirmation('Custom field deleted');
  },
} satisfies OperationTree['customFields'];

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

/** Only the name of a system stage can change; a given type or order is ignored (P2, P3, assumed). */
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
    const made = findJob(ctx, job.id);
    return { body: { ...made.fields, ...renderJob(ctx, made) } };
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

const candidateResumes = {
  uploadResumes: (ctx, { body }) => accepted(startBatch(ctx, body.resumeURLs, null), body.resumeURLs.length),

  /** The candidates parsed so far; hasNextPage also describes this moment (C16, assumed). */
  getBatch(ctx, { params, query: { page, perPage } }) {
    const { id, status } = findBatch(ctx, params.batchId);
    const ids = parsedIn(ctx, id, perPage + 1, (page - 1) * perPage);
    const texts = ids.slice(0, perPage).map((candidateId) => candidateText(ctx, candidateId));
    const more = { page, perPage, hasNextPage: ids.length > perPage };
    const head = JSON.stringify({ batchId: id, status, ...more }).slice(0, -1);
    return { json: `{"success":true,"data":${head},"candidates":[${texts.join(',')}]}}` };
  },
} satisfies OperationTree['candidates'];

const jobCandidateResumes = {
  uploadResumes(ctx, { body }) {
    const job = openJob(ctx, body.jobId);
    return accepted(startBatch(ctx, body.resumeURLs, job.id), body.resumeURLs.length);
  },
} satisfies OperationTree['jobCandidates'];

function accepted({ id, jobId, status }: ResumeBatch, fileCount: number): Answer {
  return { body: { success: true, data: { batchId: id, status, fileCount, jobId } } };
}

export const candidates = {
  ...candidateResumes,

  /**
   * The other fields sent for an existing candidate are ignored (C4); a new link starts in SOURCED (C8); both assumed.
   */
  add(ctx, { body }) {
    const { jobId, shouldParseResume, customFields = {}, ...profile } = body;
    const job = jobId === undefined ? undefined : openJob(ctx, jobId);
    const existing = candidateByEmail(ctx, body.email);
    const candidate = existing ?? createCandidate(ctx, profile);
    if (existing === undefined) upsertValuesOf(ctx, 'candidate', candidate.id, customFields);
    if (existing === undefined && shouldParseResume && profile.resume !== undefined)
      parseResume(ctx, candidate.id, profile.resume);
    const present = job === undefined ? undefined : jobCandidateOf(ctx, job.id, candidate.id);
    const linked = present ?? (job === undefined ? undefined : link(ctx, candidate.id, job));
    return success({
      ...answeredCandidate(ctx, candidate),
      isExisting: existing !== undefined,
      isAlreadyInJob: present !== undefined,
      jobCandidateId: linked?.id ?? null,
    });
  },

  list(ctx, { query }) {
    const page = candidatePage(ctx, query);
    return successTexts(page.items, { page: query.pageNumber, perPage: query.perPage, total: page.total });
  },

  get(ctx, { params }) {
    const candidate = findCandidate(ctx, params.candidateId);
    const jobs = jobCandidateIdsOf(ctx, candidate.id).map((id) => {
      const jobCandidate = findJobCandidate(ctx, id);
      const { jobId, stageId } = jobCandidate;
      const stage = stageNow(ctx, jobCandidate);
      return {
        jobId,
        jobCandidateId: id,
        title: findJob(ctx, jobId).fields.title,
        stageId,
        stageName: stage?.name,
        stageType: stage?.type,
      };
    });
    return success({ ...answeredCandidate(ctx, candidate), jobs });
  },

  update(ctx, { params, body }) {
    const { customFields = {}, ...profile } = body;
    const also = Object.keys(customFields).length === 0 ? [] : ['customFields'];
    const candidate = updateCandidate(ctx, params.candidateId, profile, also);
    upsertValuesOf(ctx, 'candidate', candidate.id, customFields);
    return success(answeredCandidate(ctx, candidate));
  },

  /** Unknown ids are left out, repeated ones answered once, in the order asked for (C18, assumed). */
  bulkFetch(ctx, { body }) {
    const texts = numericIds(body.candidateIds).map((id) => candidateText(ctx, id));
    return successTexts(texts.filter((text) => text !== undefined));
  },
} satisfies OperationTree['candidates'];

/** Scoring is enabled for linked candidates; without a credit for it the call is refused (section 7, C5). */
function link(ctx: Context, candidateId: number, job: Job): JobCandidate {
  if (creditsOf(ctx) < 1) throw refuse('INSUFFICIENT_CREDITS', 'Not enough credits for scoring');
  const added = addToJob(ctx, candidateId, job, 'SOURCED');
  tellAdded(ctx, [added]);
  scheduleScoring(ctx, added.id);
  return added;
}

const jobCandidateLists = {
  listByJob(ctx, { params, query }) {
    const jobId = findJob(ctx, params.jobId).id;
    return answer(ctx, { ...query, jobId }, (one) => renderJobCandidate(ctx, one, profileOf(ctx, one)));
  },

  listByStageType: (ctx, { query }) => answer(ctx, query, (one) => sideBySide(ctx, one)),

  listByStage(ctx, { params, query }) {
    const stageId = findStage(ctx, params.stageId).id;
    return answer(ctx, { ...query, stageId }, (one) => sideBySide(ctx, one));
  },
} satisfies OperationTree['jobCandidates'];

function answer(ctx: Context, query: JobCandidateQuery, render: (one: JobCandidate) => string): Answer {
  const { rows, total } = jobCandidatePage(ctx, query);
  return successTexts(rows.map(render), { page: query.pageNumber, perPage: query.perPage, total });
}

/** Three records side by side. The specification does not show the third (K16), so it is null. */
function sideBySide(ctx: Context, one: JobCandidate): string {
  const details = renderJobCandidate(ctx, one);
  return `{"candidate_details":${profileOf(ctx, one)},"jobCandidateDetails":${details},"onboardingFormDetails":null}`;
}

function profileOf(ctx: Context, one: JobCandidate): string {
  return candidateText(ctx, one.candidateId) ?? 'null';
}

const rescoring = {
  /** Names creditsAvailable only if credits limit the run. */
  rescore(ctx, { body }) {
    const { run, creditsAvailable } = startRescore(ctx, body);
    const data = {
      rescoreId: run.id,
      jobId: run.jobId,
      totalEligible: run.totalEligible,
      totalQueued: run.jobCandidateIds.length,
      message: 'Rescoring has been queued',
      ...(creditsAvailable === undefined ? {} : { creditsAvailable }),
    };
    return { body: { status: 'accepted', data } };
  },

  getRescore: (ctx, { params }) => success(renderRescore(findRescore(ctx, params.rescoreId))),

  /** Like the bulk fetch, but without people who were removed since (K12, assumed). */
  listRescored(ctx, { params }) {
    const found = findRescore(ctx, params.rescoreId).jobCandidateIds.map((id) => jobCandidateById(ctx, id));
    return successTexts(
      found
        .filter((one) => one !== undefined)
        .map((one) => renderJobCandidate(ctx, one, candidateText(ctx, one.candidateId) ?? 'null')),
    );
  },
} satisfies OperationTree['jobCandidates'];

export const jobCandidates = {
  ...jobCandidateLists,
  ...jobCandidateResumes,
  ...rescoring,

  /** Unknown ids are left out, in the order asked for (C18, K12, assumed). */
  bulkFetch(ctx, { body }) {
    const found = numericIds(body.jobCandidateIds).map((id) => jobCandidateById(ctx, id));
    return successTexts(found.filter((one) => one !== undefined).map((one) => inFull(ctx, one)));
  },

  update(ctx, { params, body }) {
    const updated = updateJobCandidate(ctx, params.jobCandidateId, body);
    return { json: `{"status":"success","data":${inFull(ctx, updated)}}` };
  },

  remove(ctx, { params }) {
    removeJobCandidates(ctx, [params.jobCandidateId]);
    return confirmation('Job candidate removed');
  },

  move(ctx, { params, body }) {
    findJobCandidate(ctx, params.jobCandidateId);
    const stage = findStage(ctx, body.stageId);
    const [moved] = moveToStage(ctx, [params.jobCandidateId], stage);
    return success({
      jobCandidateId: params.jobCandidateId,
      jobId: moved?.jobId,
      candidateId: moved?.candidateId,
      stageId: stage.id,
      stageName: stage.name,
      stageType: stage.type,
      status: moved?.status,
    });
  },

  getApplication: (ctx, { params }) => success(renderApplication(ctx, params.jobCandidateId)),

  getConsentDocument: (ctx, { params }) => success(renderConsentDocument(ctx, params.jobCandidateId)),
} satisfies OperationTree['jobCandidates'];

function inFull(ctx: Context, jobCandidate: JobCandidate): string {
  return renderJobCandidate(ctx, jobCandidate, candidateText(ctx, jobCandidate.candidateId) ?? 'null');
}

/** Ids as numbers or digits; any other text matches no record. */
function numericIds(ids: readonly (number | string)[]): number[] {
  const numbers = ids.map((id) => (typeof id === 'number' ? id : /^\d{1,15}$/.test(id) ? Number(id) : Number.NaN));
  return [...new Set(numbers.filter((id) => Number.isSafeInteger(id)))];
}
