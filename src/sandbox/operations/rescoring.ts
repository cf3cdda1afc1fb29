/** Section 4.4: rescoring. */
import { candidateText } from '../records/candidates/own-resumes.ts';
import { jobCandidateById, renderJobCandidate } from '../records/job-candidates/job-candidates.ts';
import { findRescore, renderRescore, startRescore } from '../records/job-candidates/rescoring.ts';
import { type OperationTree, success, successTexts } from './operation.ts';

export const rescoring = {
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
