import { isConnectorError } from '../../src/errors.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import { lastAnsweredAt } from '../../src/store/holds.ts';
import { endLeasesOf } from '../../src/store/identity-leases.ts';
import { type OpenIntent, refuseMade } from '../../src/store/intents.ts';
import { leasedBy, leasePending } from './identity-lease.ts';
import { type HireContext, reread } from './with-hire.ts';

type Created = Extract<CreateResult, { kind: 'created' }>;
type Waiting = Extract<Awaited<ReturnType<HireActivities['employ']>>, { verdict: 'pending' | 'hold' }>;

const READ_MS = 30_000;
const DAY_MS = 86_400_000;
const HOLD = 'EMPLOYEE_PENDING';

/** The ticket of a create that the HR system took and has not answered, unless a person named the employee since. */
export function pendingTicket({ creation, decisions, row }: HireContext): string | undefined {
  if (creation?.outcome !== 'done' || row.employee_id !== null || decisions.link !== undefined) return undefined;
  const made = JSON.parse(creation.result ?? 'null') as CreateResult | null;
  return made?.kind === 'pending' ? made.ticket : undefined;
}

/** Asks what became of it. Rejected, the create counts as refused, so that a corrected one may follow. */
export async function resolvePending(hire: HireContext, ticket: string): Promise<Created | Waiting> {
  const { creation } = await reread(hire);
  const lease = leasedBy(hire);
  await leasePending(hire);
  try {
    const result = await hire.connection.hris.pending?.resolve(ticket, AbortSignal.timeout(READ_MS));
    if (result?.kind === 'created') return result;
    const overdue = creation === undefined ? undefined : await heldWhenOverdue(hire, creation, ticket);
    return overdue ?? { verdict: 'pending', nextCheckMs: result?.nextCheckMs ?? 60_000 };
  } catch (error) {
    if (creation !== undefined && isConnectorError(error, 'HIRE_REJECTED')) {
      await refuseMade(hire.store, creation, { code: error.code });
      await endLeasesOf(hire.store, lease, 0);
    }
    throw error;
  }
}

/** The time begins anew with each answer. */
async function heldWhenOverdue(
  { store, ref, connection }: HireContext,
  { decided_at, sent_at, now }: OpenIntent,
  ticket: string,
): Promise<Waiting | undefined> {
  const since = Math.max(decided_at ?? sent_at, (await lastAnsweredAt(store, ref, HOLD)) ?? 0);
  if (now - since < connection.tenant.policies.pendingDeadline) return undefined;
  const days = Math.floor((now - (decided_at ?? sent_at)) / DAY_MS);
  return held(HOLD, { jobCandidateId: ref.jobCandidateId, ticket, days });
}
