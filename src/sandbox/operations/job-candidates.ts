/** Section 4.4: job candidates. Rescoring and resumes stand in files of their own. */
import type { Context } from '../context.ts';
import { candidateText } from '../records/candidates/own-resumes.ts';
import { renderApplication, renderConsentDocument } from '../records/job-candidates/application-record.ts';
import type { JobCandidate } from '../records/job-candidates/job-candidates.ts';
import {
  findJobCandidate,
  jobCandidateById,
  moveToStage,
  removeJobCandidates,
  renderJobCandidate,
  updateJobCandidate,
} from '../records/job-candidates/job-candidates.ts';
import { findStage } from '../records/pipelines/pipelines.ts';
import { jobCandidateLists } from './job-candidate-lists.ts';
import { confirmation, numericIds, type OperationTree, success, successTexts } from './operation.ts';
import { rescoring } from './rescoring.ts';
import { jobCandidateResumes } from './resumes.ts';

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
