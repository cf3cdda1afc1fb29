/** Section 4.4: the three listings of job candidates. */
import type { Context } from '../context.ts';
import { candidateText } from '../records/candidates/own-resumes.ts';
import { type JobCandidateQuery, jobCandidatePage } from '../records/job-candidates/job-candidate-pages.ts';
import { type JobCandidate, renderJobCandidate } from '../records/job-candidates/job-candidates.ts';
import { findJob } from '../records/jobs/jobs.ts';
import { findStage } from '../records/pipelines/pipelines.ts';
import { type Answer, type OperationTree, successTexts } from './operation.ts';

export const jobCandidateLists = {
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
