import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { companyById, updateCompany } from './companies.ts';

/** What the company has at this moment; the context's company is as old as the call. */
export function creditsOf(ctx: Context): number {
  return companyById(ctx.state, ctx.company.id)?.credits ?? 0;
}

/** Takes one credit, or refuses with 402. */
export function takeCredit(ctx: Context, subject: string | number, purpose: string): void {
  const credits = creditsOf(ctx);
  if (credits < 1) throw refuse('INSUFFICIENT_CREDITS', `Not enough credits for ${purpose}`);
  updateCompany(ctx.state, ctx.company.id, { credits: credits - 1 });
  effect(ctx, 'credit', subject, { for: purpose });
}
