import type { Context } from '../../context.ts';
import { emit } from '../../events.ts';
import { schedule } from '../platform/tasks.ts';
import { creditsOf, takeCredit } from '../workspace/credits.ts';
import { candidateById, fillCandidate } from './candidates.ts';
import { isReadable, readResume } from './resume-reader.ts';

/** How long reading one resume takes. */
const PARSING_MS = 400;

/** What a resume tells where the profile is silent; what was sent stays (RESUMES, assumed). */
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
  // What is attached to the form has no public URL.
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
