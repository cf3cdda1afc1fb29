import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type HoldRequest, held, holdOf } from '../../src/hire/holds.ts';
import { readHireRow, reserveCancellation } from '../../src/store/hires.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { assertKnownCompany } from '../assert-known-company.ts';
import type { ActivityDeps } from '../deps.ts';
import { readPresence } from '../presence/read-presence.ts';
import { type HireContext, withHire } from './with-hire.ts';

const HOUR_MS = 3_600_000;

/** Where the person is at this moment; one reading, which proves nothing about absence. */
export function readHire(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['readHire']> {
  return withHire(deps, ref, async (hire) => ({ verdict: await whereNow(hire) }));
}

/** The second reading, and with the same key the reading of something that is known to be there. */
export function confirmGone(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['confirmGone']> {
  return withHire(deps, ref, async (hire) => {
    if ((await whereNow(hire)) === 'in') return { verdict: 'here' } as const;
    await assertKnownCompany(hire.store, hire.connection);
    return { verdict: 'gone' } as const;
  });
}

async function whereNow({ store, connection, ref }: HireContext): Promise<'in' | 'out' | 'missing'> {
  const { jobCandidateId } = ref;
  return (await readPresence(store, connection, jobCandidateId, hiringStagesOf(connection.tenant))).verdict;
}

/**
 * A wrong filter or a mass move must not end hires by the dozen: above the tenant's number an hour, a person decides.
 */
export function allowCancellation(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['allowCancellation']> {
  return withHire(deps, given, async ({ store, connection, ref }) => {
    const most = connection.tenant.policies.changeLimits.cancellationsPerHour;
    if (await reserveCancellation(store, ref, { most, windowMs: HOUR_MS })) return { verdict: 'allowed' } as const;
    return held('TOO_MANY_CANCELLATIONS', { jobCandidateId: ref.jobCandidateId, most });
  });
}

export async function hasEmployee({ store }: ActivityDeps, ref: HireRef): Promise<boolean> {
  return (await readHireRow(store, ref)).employee_id !== null;
}

export async function describeLeftAfterEmployee({ store }: ActivityDeps, ref: HireRef): Promise<HoldRequest> {
  const { employee_id: employeeId } = await readHireRow(store, ref);
  return holdOf('LEFT_AFTER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeId: employeeId ?? '' });
}
