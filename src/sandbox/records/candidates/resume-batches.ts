import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { emit } from '../../events.ts';
import { stableUuid } from '../../random.ts';
import type { JobCandidate } from '../job-candidates/job-candidates.ts';
import { addToJob, jobCandidateOf, tellAdded } from '../job-candidates/job-candidates.ts';
import { scheduleScoring } from '../job-candidates/scoring.ts';
import { findJob } from '../jobs/jobs.ts';
import { schedule } from '../platform/tasks.ts';
import { creditsOf, takeCredit } from '../workspace/credits.ts';
import { candidateByEmail, createCandidate } from './candidates.ts';
import { readResume } from './resume-reader.ts';

/**
 * How long the platform takes for each part of a batch, and how many files a part has: 5,000 are through in six
 * seconds.
 */
const PART_MS = 300;
const PART_FILES = 250;

export interface ResumeBatch {
  id: string;
  jobId: number | null;
  /** processing, completed or failed (C16, assumed). */
  status: string;
  /** JSON text. */
  urls: string;
}

const BATCH = 'select id, job_id as jobId, status, urls from resume_batches';

/** Takes a batch in; everything else happens in the background, credits too (C17, assumed). */
export function startBatch(ctx: Context, urls: readonly string[], jobId: number | null): ResumeBatch {
  const { state, company, now } = ctx;
  const id = stableUuid(state.seed, 'resume-batch', state.nextId('resume-batch'));
  state.run(
    `insert into resume_batches (id, company_id, job_id, status, urls, created_at)
      values (?, ?, ?, 'processing', ?, ?)`,
    id,
    company.id,
    jobId,
    JSON.stringify(urls),
    now,
  );
  effect(ctx, 'resume-batch', id, { fileCount: urls.length });
  schedule(ctx, 'parse-resumes', PART_MS, { batchId: id, from: 0 });
  return findBatch(ctx, id);
}

/** 404 when unknown or another company's (G6, assumed). */
export function findBatch(ctx: Context, id: string): ResumeBatch {
  const batch = ctx.state.one<ResumeBatch>(`${BATCH} where id = ? and company_id = ?`, id, ctx.company.id);
  if (batch === undefined) throw notFound('Batch');
  return batch;
}

/**
 * Ids of the people parsed so far, each once, in the order of their files; one more than asked for says that there are
 * more.
 */
export function parsedIn(ctx: Context, batchId: string, limit: number, offset: number): number[] {
  return ctx.state
    .all<{ id: number }>(
      `select candidate_id as id from resume_files where batch_id = ? and candidate_id in (select id from candidates)
       group by candidate_id order by min(position) limit ? offset ?`,
      batchId,
      limit,
      offset,
    )
    .map((row) => row.id);
}

/**
 * The next part of a batch: .started before the first file, .completed after the last, .failed when it cannot begin.
 */
export function parseResumes(ctx: Context, { batchId, from }: { batchId: string; from: number }): void {
  const batch = findBatch(ctx, batchId);
  const urls = JSON.parse(batch.urls) as string[];
  if (from === 0) {
    const reason = whyNot(ctx, batch);
    if (reason !== undefined) {
      fail(ctx, batch, urls.length, reason);
      return;
    }
    emit(ctx, 'resume.bulk_upload_parse.started', { batchId, fileCount: urls.length, jobId: batch.jobId });
  }
  const part = urls.slice(from, from + PART_FILES);
  const added = part.map((url, index) => parseFile(ctx, batch, from + index, url)).filter((one) => one !== undefined);
  tellAdded(ctx, added);
  if (from + PART_FILES < urls.length) schedule(ctx, 'parse-resumes', PART_MS, { batchId, from: from + PART_FILES });
  else finish(ctx, batch, urls.length);
}

/**
 * What makes a batch fail before processing: between the call and the first file the job or the subscription has ended.
 */
function whyNot(ctx: Context, { jobId }: ResumeBatch): string | undefined {
  if (!ctx.company.accountActive) return 'The subscription of this account is inactive';
  return jobId !== null && findJob(ctx, jobId).status === 'DELETED' ? 'The job was deleted' : undefined;
}

/** One credit a file that is parsed; someone known by e-mail is taken as they are, and linked once. */
function parseFile(ctx: Context, batch: ResumeBatch, position: number, url: string): JobCandidate | undefined {
  const read = readResume(url);
  const error = 'error' in read ? read.error : creditsOf(ctx) < 1 ? 'INSUFFICIENT_CREDITS' : null;
  if (error !== null || 'error' in read) {
    note(ctx, batch.id, position, null, error);
    return undefined;
  }
  const { id } = candidateByEmail(ctx, read.profile.email) ?? createCandidate(ctx, read.profile);
  takeCredit(ctx, id, 'parsing');
  note(ctx, batch.id, position, id, null);
  if (batch.jobId === null || jobCandidateOf(ctx, batch.jobId, id) !== undefined) return undefined;
  const added = addToJob(ctx, id, findJob(ctx, batch.jobId), 'SOURCED');
  scheduleScoring(ctx, added.id);
  return added;
}

function note(ctx: Context, batchId: string, position: number, candidateId: number | null, error: string | null): void {
  ctx.state.run(
    'insert into resume_files (batch_id, position, candidate_id, error) values (?, ?, ?, ?)',
    batchId,
    position,
    candidateId,
    error,
  );
}

function finish(ctx: Context, batch: ResumeBatch, fileCount: number): void {
  const counts = ctx.state.one<{ success: number; unpaid: number }>(
    `select count(candidate_id) as success, coalesce(sum(error = 'INSUFFICIENT_CREDITS'), 0) as unpaid
      from resume_files where batch_id = ?`,
    batch.id,
  ) ?? { success: 0, unpaid: 0 };
  const status = counts.success === 0 && counts.unpaid > 0 ? 'failed' : 'completed';
  setStatus(ctx, batch.id, status);
  emit(ctx, 'resume.bulk_upload_parse.completed', {
    batchId: batch.id,
    status,
    fileCount,
    successCount: counts.success,
    failedCount: fileCount - counts.success,
    jobId: batch.jobId,
    error: counts.unpaid > 0 ? 'Not enough credits to parse every resume' : null,
    errorCode: counts.unpaid > 0 ? 'INSUFFICIENT_CREDITS' : null,
  });
}

function fail(ctx: Context, batch: ResumeBatch, fileCount: number, error: string): void {
  setStatus(ctx, batch.id, 'failed');
  emit(ctx, 'resume.bulk_upload_parse.failed', { batchId: batch.id, fileCount, jobId: batch.jobId, error });
}

function setStatus(ctx: Context, id: string, status: string): void {
  ctx.state.run('update resume_batches set status = ? where id = ?', status, id);
}
