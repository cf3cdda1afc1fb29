import type { Context } from '../../context.ts';
import { emit } from '../../events.ts';
import { schedule } from '../platform/tasks.ts';
import { takeCredit } from '../workspace/credits.ts';
import { candidateText } from './candidates.ts';
import { isReadable } from './resume-reader.ts';

/** How long reading one resume takes. */
const PARSING_MS = 400;

/**
 * Has an added candidate's resume parsed, which costs a credit (C5, assumed); resume.single_parse.completed or .failed
 * follows.
 */
export function parseResume(ctx: Context, candidateId: number, url: string): void {
  if (isReadable(url)) takeCredit(ctx, candidateId, 'parsing');
  schedule(ctx, 'parse-resume', PARSING_MS, { candidateId, url });
}

/** The profile stays as it was sent; a file that is no document cannot be read (RESUMES, assumed). */
export function finishParsing(ctx: Context, { candidateId, url }: { candidateId: number; url: string }): void {
  if (candidateText(ctx, candidateId) === undefined) return;
  if (isReadable(url)) emit(ctx, 'resume.single_parse.completed', { candidateId });
  else emit(ctx, 'resume.single_parse.failed', { candidateId, error: 'UNSUPPORTED_FILE_TYPE' });
}
