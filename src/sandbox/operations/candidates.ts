/** Section 4.3: candidates. Resumes in bulk stand in a file of their own. */
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { candidatePage } from '../records/candidates/candidate-pages.ts';
import { candidateByEmail, createCandidate, findCandidate, updateCandidate } from '../records/candidates/candidates.ts';
import { answeredCandidate, candidateText } from '../records/candidates/own-resumes.ts';
import { parseResume } from '../records/candidates/resumes.ts';
import { upsertValuesOf } from '../records/custom-fields/custom-field-values.ts';
import type { JobCandidate } from '../records/job-candidates/job-candidates.ts';
import {
  addToJob,
  findJobCandidate,
  jobCandidateIdsOf,
  jobCandidateOf,
  stageNow,
  tellAdded,
} from '../records/job-candidates/job-candidates.ts';
import { scheduleScoring } from '../records/job-candidates/scoring.ts';
import type { Job } from '../records/jobs/jobs.ts';
import { findJob, openJob } from '../records/jobs/jobs.ts';
import { creditsOf } from '../records/workspace/credits.ts';
import { numericIds, type OperationTree, success, successTexts } from './operation.ts';
import { candidateResumes } from './resumes.ts';

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

/** Scoring is enabled for whoever is linked; without a credit for it the call is refused (section 7, C5). */
function link(ctx: Context, candidateId: number, job: Job): JobCandidate {
  if (creditsOf(ctx) < 1) throw refuse('INSUFFICIENT_CREDITS', 'Not enough credits for scoring');
  const added = addToJob(ctx, candidateId, job, 'SOURCED');
  tellAdded(ctx, [added]);
  scheduleScoring(ctx, added.id);
  return added;
}
