import type { LedgerEntry } from './records/platform/ledger.ts';
import { record } from './records/platform/ledger.ts';
import type { Company } from './records/workspace/companies.ts';
import type { SandboxState } from './state.ts';

/** Through which door something is done. What was there from the beginning (`seed`) leaves no ledger rows and no events. */
export type Origin = 'api' | 'dashboard' | 'background' | 'seed';

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
 * Everything that counts as done, one ledger row for each record it was done to. Tests judge by these names.
 * `credit` and `onboarding-credit` count one row a credit.
 */
export type EffectName =
  | 'enrolment'
  | 'onboarding-credit'
  | 'credit'
  | 'termination'
  | 'onboarding-status'
  | 'external-status'
  | 'custom-field-value'
  | 'custom-field-value-removed'
  | 'custom-field'
  | 'stage-move'
  | 'rejection'
  | 'application'
  | 'job-candidate'
  | 'job-candidate-updated'
  | 'job-candidate-removed'
  | 'candidate'
  | 'candidate-updated'
  | 'candidate-removed'
  | 'job'
  | 'job-updated'
  | 'pipeline'
  | 'stage'
  | 'stage-removed'
  | (string & {});

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
