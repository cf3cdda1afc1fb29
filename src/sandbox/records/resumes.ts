import { createHash } from 'node:crypto';
import { type Context, creditsOf, effect, notFound, takeCredit } from '../context.ts';
import { type FileText, fileUrl } from '../file-urls.ts';
import { createRandom, stableUuid } from '../random.ts';
import { person } from '../seed/people.ts';
import {
  type Candidate,
  candidateByEmail,
  candidateById,
  createCandidate,
  fillCandidate,
  findCandidate,
  storedText,
} from './candidates.ts';
import { emit } from './deliveries.ts';
import { addToJob, type JobCandidate, jobCandidateOf, tellAdded } from './job-candidates.ts';
import { findJob } from './pipelines.ts';
import { scheduleScoring } from './rescoring.ts';
import { schedule } from './tasks.ts';

/** How long reading one resume takes. */
const PARSING_MS = 400;

/** Facts from a resume that fill gaps in the profile; sent values stay (RESUMES, assumed). */
const TOLD = [
  'educations',
  'workExperiences',
  'skills',
  'majors',
  'languages',
  'summary',
  'currentJobTitle',
  'currentCompany',
];

interface ResumeTask {
  candidateId: number;
  url: string;
  /** Taken when it runs: an application is never refused for want of credits. */
  unpaid?: true;
}

/**
 * Has an added candidate's resume parsed, which costs a credit (C5, assumed); resume.single_parse.completed or .failed
 * follows.
 */
export function parseResume(ctx: Context, candidateId: number, url: string): void {
  if (isReadable(url)) takeCredit(ctx, candidateId, 'parsing');
  scheduleParsing(ctx, { candidateId, url });
}

/** The same for the resume that came with a hosted application; without a credit left it fails. */
export function parseApplicantResume(ctx: Context, candidateId: number, url: unknown): void {
  // Attachments of the form have no public URL.
  const attached = `https://resumes.invalid/${String(candidateId)}`;
  scheduleParsing(ctx, { candidateId, url: typeof url === 'string' ? url : attached, unpaid: true });
}

function scheduleParsing(ctx: Context, task: ResumeTask): void {
  schedule(ctx, 'parse-resume', PARSING_MS, { ...task });
}

/** Education, work experience and skills come from here (sections 2.4, 4.3); a file that is no document fails. */
export function finishParsing(ctx: Context, { candidateId, url, unpaid }: ResumeTask): void {
  if (candidateById(ctx, candidateId) === undefined) return;
  const read = readResume(url);
  const error = 'error' in read ? read.error : unpaid && creditsOf(ctx) < 1 ? 'INSUFFICIENT_CREDITS' : undefined;
  if (error !== undefined || 'error' in read) {
    emit(ctx, 'resume.single_parse.failed', { candidateId, error });
    return;
  }
  if (unpaid) takeCredit(ctx, candidateId, 'parsing');
  fillCandidate(ctx, candidateId, Object.fromEntries(TOLD.map((field) => [field, read.profile[field]])));
  emit(ctx, 'resume.single_parse.completed', { candidateId });
}

/** Marks, in a stored profile, a resume that the sandbox draws itself. */
export const OWN_RESUME = 'sandbox:resume';
const STORED = `"resume":"${OWN_RESUME}"`;

/** The JSON text a candidate is answered with. */
export function candidateText(ctx: Context, id: number): string | undefined {
  const stored = storedText(ctx, id);
  return stored === undefined ? undefined : answeredText(ctx, id, stored);
}

/** A stored profile as the answer shows it: its resume under a fresh URL (section 8). */
export function answeredText(ctx: Context, id: number, stored: string): string {
  const at = stored.indexOf(STORED);
  if (at === -1) return stored;
  const url = JSON.stringify(fileUrl(ctx, 'candidate-resume', id));
  return `${stored.slice(0, at)}"resume":${url}${stored.slice(at + STORED.length)}`;
}

export function answeredCandidate(ctx: Context, candidate: Candidate): Candidate {
  if (candidate['resume'] !== OWN_RESUME) return candidate;
  return { ...candidate, resume: fileUrl(ctx, 'candidate-resume', candidate.id) };
}

export function candidateResume(ctx: Context, subject: string): FileText {
  const candidate = findCandidate(ctx, Number(subject));
  if (candidate['resume'] !== OWN_RESUME) throw notFound('Resume');
  return { title: resumeTitle(candidate), lines: resumeLines(candidate) };
}

function resumeTitle({ firstName, lastName, email }: Candidate): string {
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  return `Resume of ${name === '' ? email : name}`;
}

/** A profile as its owner would write it down. */
export function resumeLines(candidate: Candidate): string[] {
  const entries = (field: string): Record<string, string>[] => (candidate[field] ?? []) as Record<string, string>[];
  const words = (field: string): string => (Array.isArray(candidate[field]) ? candidate[field].join(', ') : '');
  const told = [
    candidate.email,
    [candidate['city'], candidate['country']].filter((part) => typeof part === 'string').join(', '),
    typeof candidate['summary'] === 'string' ? candidate['summary'] : '',
    ...section(
      'Experience',
      entries('workExperiences').map(({ title, company, duration }) => [title, company, duration]),
    ),
    ...section(
      'Education',
      entries('educations').map(({ degree, field, institution }) => [degree, field, institution]),
    ),
    ...section('Skills', [[words('skills')]]),
    ...section('Languages', [[words('languages')]]),
  ];
  return told.filter((line) => line !== '');
}

function section(title: string, rows: readonly (string | undefined)[][]): string[] {
  const lines = rows.map((row) => row.filter((part) => typeof part === 'string' && part !== '').join(', '));
  return lines.every((line) => line === '') ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

/** The sandbox opens no document: the ending decides (RESUMES, assumed). */
const READABLE = /\.(pdf|docx?|rtf|odt|txt)$/i;
const NOT_A_NAME = new Set(['cv', 'resume', 'curriculum', 'vitae', 'final', 'new', 'updated', 'copy']);

type ReadResume = { profile: Record<string, unknown> & { email: string } } | { error: 'UNSUPPORTED_FILE_TYPE' };

/** The result of parsing a resume: an invented person, the same for the same URL, with the file's name. */
function readResume(url: string): ReadResume {
  const file = fileName(url);
  if (!isReadable(url)) return { error: 'UNSUPPORTED_FILE_TYPE' };
  const number = createHash('sha256').update(url).digest().readUInt32BE(0);
  const invented = person(createRandom(number), number);
  const [firstName, ...rest] = nameIn(file);
  if (firstName === undefined || rest.length === 0) return { profile: { ...invented, resume: url } };
  const lastName = rest.join(' ');
  const address = [firstName, ...rest]
    .map(plain)
    .filter((part) => part !== '')
    .join('.');
  const email = address === '' ? invented.email : `${address}@example.com`;
  return { profile: { ...invented, firstName, lastName, email, resume: url } };
}

/** A file with an ending that is no document's cannot be parsed; one without an ending can. */
function isReadable(url: string): boolean {
  const file = fileName(url);
  return READABLE.test(file) || !/\.\w{1,5}$/.test(file);
}

function fileName(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** `CV_ada-lovelace 2024.pdf` is Ada Lovelace. */
function nameIn(file: string): string[] {
  const words = file.replace(READABLE, '').match(/\p{L}+/gu) ?? [];
  return words
    .filter((word) => word.length > 1 && !NOT_A_NAME.has(word.toLowerCase()))
    .slice(0, 3)
    .map((word) => `${(word[0] ?? '').toUpperCase()}${word.slice(1).toLowerCase()}`);
}

function plain(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}

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

/** Accepts a batch; everything else happens in the background, credits too (C17, assumed). */
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
 * The reason why a batch fails before processing: the job or the subscription ended between the call and the first
 * file.
 */
function whyNot(ctx: Context, { jobId }: ResumeBatch): string | undefined {
  if (!ctx.company.accountActive) return 'The subscription of this account is inactive';
  return jobId !== null && findJob(ctx, jobId).status === 'DELETED' ? 'The job was deleted' : undefined;
}

/** One credit per parsed file; a person known by e-mail stays unchanged, and is linked once. */
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
