import { ConnectorError } from '../../src/errors.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { holdOf } from '../../src/hire/holds.ts';
import { type CreditNumbers, closeCreditGate, openCreditGate } from '../../src/store/credit-gate.ts';
import { hiresAwaitingCredits } from '../../src/store/hires.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import type { ActivityDeps } from '../deps.ts';
import type { SendGuard } from './write-once.ts';

/** The partner refused an enrolment for want of credits: the tenant's others wait from now on. */
export async function closeGate(deps: ActivityDeps, tenantId: string, numbers: CreditNumbers): Promise<void> {
  const { store, log, closedGates } = deps;
  closedGates.add(tenantId);
  const first = await closeCreditGate(store, tenantId, numbers);
  if (first) log.error({ tenantId, ...numbers }, 'onboarding credits used up, enrolments wait');
  await openHold(store, { tenantId, ...holdOf('CREDITS_USED_UP', numbers) });
}

/** An enrolment went through: whoever waits for credits goes on. */
export async function openGate(deps: ActivityDeps, tenantId: string): Promise<void> {
  deps.closedGates.delete(tenantId);
  if (await openCreditGate(deps.store, tenantId)) await signalWaiting(deps, tenantId);
}

async function signalWaiting({ store, signalHire, log }: ActivityDeps, tenantId: string): Promise<void> {
  const waiting = await hiresAwaitingCredits(store, tenantId);
  log.info({ tenantId, waiting: waiting.length }, 'onboarding credits are back, enrolments go on');
  await closeTenantHolds(store, tenantId, 'CREDITS_USED_UP');
  for (const hire of waiting)
    await signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'credits', { start: false });
}

/**
 * Many enrolments may have passed the gate before the first 402 closed it: having each of them refused helps nobody.
 */
export function turnBackAtGate(
  { closedGates }: ActivityDeps,
  { tenantId, jobCandidateId }: HireRef,
  canary: boolean,
  guard: SendGuard,
): SendGuard {
  return {
    ...guard,
    beforeSend() {
      guard.beforeSend();
      if (canary || !closedGates.has(tenantId)) return;
      throw new ConnectorError({
        code: 'CREDIT_GATE_CLOSED',
        action: 'retry',
        message:
          `The enrolment of job candidate ${jobCandidateId} was not sent: ` +
          `tenant ${tenantId} has no onboarding credits.`,
      });
    },
  };
}
