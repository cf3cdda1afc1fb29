import { refuse } from './errors.ts';
import { type Company, companyById, updateCompany } from './records/companies.ts';
import { type LedgerEntry, record } from './records/ledger.ts';
import type { SandboxState } from './state.ts';

/** Through which door something is done. Seeded records (`seed`) leave no ledger rows and no events. */
type Origin = 'api' | 'dashboard' | 'background' | 'seed';

/** Who acts, when, through which door. First argument of every operation and record function. */
export interface Context {
  readonly state: SandboxState;
  readonly company: Company;
  /** Epoch ms; one instant for the whole call. */
  readonly now: number;
  readonly origin: Origin;
  readonly requestId?: string | undefined;
}

/**
 * What can be done to a record, one ledger row for each record it was done to; tests judge by these names.
 * `credit` and `onboarding-credit` are one row for each credit.
 */
type EffectName =
  | 'application'
  | 'assessment'
  | 'assessment-flow'
  | 'assessment-flow-updated'
  | 'assessment-updated'
  | 'booking'
  | 'booking-attendance'
  | 'booking-cancelled'
  | 'booking-link'
  | 'booking-link-status'
  | 'booking-rescheduled'
  | 'booking-schedule'
  | 'booking-schedule-removed'
  | 'campaign'
  | 'campaign-lead'
  | 'campaign-lead-status'
  | 'campaign-updated'
  | 'candidate'
  | 'candidate-removed'
  | 'candidate-updated'
  | 'credit'
  | 'custom-field'
  | 'custom-field-removed'
  | 'custom-field-updated'
  | 'custom-field-value'
  | 'custom-field-value-removed'
  | 'enrolment'
  | 'external-status'
  | 'flow-assignment'
  | 'flow-progress'
  | 'interview'
  | 'interview-scored'
  | 'invite'
  | 'invite-batch'
  | 'job'
  | 'job-candidate'
  | 'job-candidate-removed'
  | 'job-candidate-updated'
  | 'job-updated'
  | 'offer'
  | 'offer-cancelled'
  | 'offer-updated'
  | 'onboarding-credit'
  | 'onboarding-document'
  | 'onboarding-flow'
  | 'onboarding-status'
  | 'onboarding-step'
  | 'pipeline'
  | 'question'
  | 'question-removed'
  | 'question-updated'
  | 'rejection'
  | 'rescore'
  | 'resume-batch'
  | 'site'
  | 'stage'
  | 'stage-move'
  | 'stage-removed'
  | 'team'
  | 'termination'
  | 'user';

/** Writes into the ledger that something was done. */
export function effect(
  ctx: Context,
  name: EffectName,
  subject: string | number,
  detail?: Record<string, unknown>,
): void {
  if (ctx.origin === 'seed') return;
  const entry: LedgerEntry = {
    kind: 'effect',
    name,
    subject,
    companyId: ctx.company.id,
    requestId: ctx.requestId,
    origin: ctx.origin,
    detail,
  };
  record(ctx.state, entry);
}

/** ISO 8601 UTC of an epoch in ms. */
export function iso(epoch: number): string {
  return new Date(epoch).toISOString();
}

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
