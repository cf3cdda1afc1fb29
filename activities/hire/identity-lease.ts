import { createHmac, randomUUID } from 'node:crypto';
import { isConnectorError } from '../../src/errors.ts';
import type { EmployeeFields } from '../../src/hire/employee.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import {
  endIdentityLease,
  type IdentityLease,
  type LeasedBy,
  takeIdentityLease,
} from '../../src/store/identity-leases.ts';
import { latestPlan } from '../../src/store/plans.ts';
import { identityKeys } from './read-findings.ts';
import type { HireContext } from './with-hire.ts';
import type { Once } from './write-once.ts';

/**
 * Looks and creates while no other hire creates somebody of the same e-mail, or of the same name and birth date. The
 * partner may have one human as two candidates; hired at once, each would be looked up before the other is there. Where
 * somebody over there finishes the other create, that may take days: a hold names it.
 */
export async function underIdentityLease(
  hire: HireContext,
  fields: EmployeeFields,
  create: () => Promise<Once<CreateResult>>,
): Promise<Once<CreateResult> | Held> {
  const { store } = hire;
  const lease = leaseFor(hire, fields);
  const waits = await take(hire, lease);
  if (waits !== undefined) return waits;
  try {
    const once = await create();
    const afterMs = endsAfter(once, hire.connection.hris.capabilities.readLagMs);
    if (afterMs !== undefined) await endIdentityLease(store, lease, afterMs);
    return once;
  } catch (error) {
    if (isConnectorError(error) && error.action !== 'unknown') await endIdentityLease(store, lease, 0);
    throw error;
  }
}

/** Keeps others out while a create is pending, also one that was sent by a version without leases. */
export async function leasePending(hire: HireContext): Promise<void> {
  const { store, ref } = hire;
  const { change = 'purged' } = (await latestPlan(store, ref)) ?? {};
  if (change === 'purged' || change.kind !== 'create') return;
  try {
    await takeIdentityLease(store, leaseFor(hire, change.fields), leaseMs(hire));
  } catch (error) {
    // Another hire of this person creates already: this one's create cannot be taken back for that.
    if (!isConnectorError(error, 'IDENTITY_LEASED')) throw error;
  }
}

/** A request leaves within two deadlines of the reading, and is over within another one; then reads may lag. */
function leaseMs({ deps, connection }: HireContext): number {
  return 3 * deps.limits.giveUpMs + connection.hris.capabilities.readLagMs;
}

/** The hold of a hire that waits for another one's pending create. */
async function take(hire: HireContext, lease: IdentityLease): Promise<Held | undefined> {
  const { store, ref } = hire;
  try {
    await takeIdentityLease(store, lease, leaseMs(hire));
    return undefined;
  } catch (error) {
    if (!isConnectorError(error, 'IDENTITY_LEASED') || error.details?.['pending'] !== true) throw error;
    const other = error.details['other'] as HireRef;
    return held('PERSON_BEING_HIRED', { jobCandidateId: ref.jobCandidateId, other });
  }
}

/** Undefined where the lease stays: of one that left and is not found nothing is known, and a pending one goes on. */
function endsAfter(once: Once<CreateResult>, readLagMs: number): number | undefined {
  if (once.kind === 'unprovable') return undefined;
  if (once.kind === 'refused') return 0;
  if (once.value.kind === 'pending') return undefined;
  return once.kind === 'made' ? readLagMs : 0;
}

/** Whose leases they are, whatever identifies the person. */
export function leasedBy({ connection, ref }: HireContext): LeasedBy {
  return { connection: connection.tenant.hris.connection, hire: ref };
}

function leaseFor(hire: HireContext, fields: EmployeeFields): IdentityLease {
  const keys = identityKeys(fields).map((key) => {
    const words = key.by === 'email' ? [key.value] : [key.givenName, key.familyName, key.birthDate];
    return createHmac('sha256', hire.store.installationId)
      .update(JSON.stringify([key.by, ...words.map(folded)]))
      .digest('base64url');
  });
  return { ...leasedBy(hire), keys, holder: randomUUID() };
}

/** As the kinds compare them. */
function folded(text: string): string {
  return text.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}
