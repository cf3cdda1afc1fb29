import type { Context } from '../context.ts';
import { effect } from '../context.ts';
import { refuse } from '../errors.ts';
import { emit } from '../events.ts';
import { schedule } from '../tasks.ts';
import { companyById, updateCompany } from './companies.ts';

/** How long reading one resume takes. */
const PARSING_MS = 400;

/** Has an added candidate's resume parsed: costs a credit (C5, assumed); resume.single_parse.completed follows. */
export function parseResume(ctx: Context, candidateId: number): void {
  const credits = companyById(ctx.state, ctx.company.id)?.credits ?? 0;
  if (credits < 1) throw refuse('INSUFFICIENT_CREDITS', 'Not enough credits to parse the resume');
  updateCompany(ctx.state, ctx.company.id, { credits: credits - 1 });
  effect(ctx, 'credit', candidateId, { for: 'parsing' });
  schedule(ctx, 'parse-resume', PARSING_MS, { candidateId });
}

/** The sandbox reads no documents: the profile stays as it was sent. */
export function finishParsing(ctx: Context, { candidateId }: { candidateId: number }): void {
  emit(ctx, 'resume.single_parse.completed', { candidateId });
}
