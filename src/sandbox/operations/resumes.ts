/** Sections 4.3, 4.4: resumes in bulk. This family answers `{ success: true, data }` (section 1, rule 4). */
import { candidateText } from '../records/candidates/own-resumes.ts';
import type { ResumeBatch } from '../records/candidates/resume-batches.ts';
import { findBatch, parsedIn, startBatch } from '../records/candidates/resume-batches.ts';
import { openJob } from '../records/jobs/jobs.ts';
import type { Answer, OperationTree } from './operation.ts';

export const candidateResumes = {
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

export const jobCandidateResumes = {
  uploadResumes(ctx, { body }) {
    const job = openJob(ctx, body.jobId);
    return accepted(startBatch(ctx, body.resumeURLs, job.id), body.resumeURLs.length);
  },
} satisfies OperationTree['jobCandidates'];

function accepted({ id, jobId, status }: ResumeBatch, fileCount: number): Answer {
  return { body: { success: true, data: { batchId: id, status, fileCount, jobId } } };
}
