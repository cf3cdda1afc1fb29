import { type Context, creditsOf } from '../context.ts';
import { refuse } from '../errors.ts';
import { renderApplication, renderConsentDocument } from '../records/applications.ts';
import { candidatePage } from '../records/candidate-search.ts';
import { candidateByEmail, createCandidate, findCandidate, updateCandidate } from '../records/candidates.ts';
import { upsertValuesOf } from '../records/custom-fields.ts';
import {
  addToJob,
  findJobCandidate,
  type JobCandidate,
  type JobCandidateQuery,
  jobCandidateById,
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
import { findJob, type Job, openJob } from '../records/jobs.ts';
import { findStage } from '../records/pipelines.ts';
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
import { type Answer, confirmation, numericIds, type OperationTree, success, successTexts } from './operation.ts';

const candidateResumes = {
  uploadResumes: (ctx, { body }) => accepted(startBatch(ctx, body.resumeURLs, null), body.resumeURLs.length),

  /** What has been parsed so far; hasNextPage too is of this moment (C16, assumed). */
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
    const candidate = updateCandidate(ctx, params.candidateId, profile);
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

/** Three records side by side; the third is not shown by the spec (K16), so null. */
function sideBySide(ctx: Context, one: JobCandidate): string {
  const details = renderJobCandidate(ctx, one);
  return `{"candidate_details":${profileOf(ctx, one)},"jobCandidateDetails":${details},"onboardingFormDetails":null}`;
}

function profileOf(ctx: Context, one: JobCandidate): string {
  return candidateText(ctx, one.candidateId) ?? 'null';
}

const rescoring = {
  /** creditsAvailable only when they are what limits the run. */
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

  /** As the bulk fetch shows them; who was removed since is left out (K12, assumed). */
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
