import { ConnectorError } from '../../src/errors.ts';
import { asksToCancel } from '../../src/hire/answers.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type HoldRequest, held, holdOf } from '../../src/hire/holds.ts';
import { beginNextEnrolment } from '../../src/store/enrolments.ts';
import { addHints } from '../../src/store/hints.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { countLeft, readHireRow, whileOpen } from '../../src/store/hires.ts';
import { answersOf, closeHoldsOf } from '../../src/store/holds.ts';
import { releaseClaim } from '../../src/store/identity.ts';
import { requestUnderWay } from '../../src/store/intents.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { assertKnownCompany } from '../assert-known-company.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded } from '../guarded.ts';
import { readPresence } from '../presence/read-presence.ts';
import { isTerminatedByUs, terminateEnrolment, underWay } from './terminate-enrolment.ts';
import { reread, withHireOrHeld } from './with-hire.ts';
import { startClock } from './write-once.ts';

const HOUR_MS = 3_600_000;

/** Where the person is at this moment; one reading, which proves nothing about absence. */
export function readHire(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['readHire']> {
  return guarded(deps, ref.tenantId, async (connection) => {
    const { verdict } = await readPresence(
      deps.store,
      connection,
      ref.jobCandidateId,
      hiringStagesOf(connection.tenant),
    );
    return { verdict };
  });
}

/** The second reading, and with the same key the reading of something that is known to be there. */
export function confirmGone(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['confirmGone']> {
  return guarded(deps, ref.tenantId, async (connection) => {
    const { verdict } = await readPresence(
      deps.store,
      connection,
      ref.jobCandidateId,
      hiringStagesOf(connection.tenant),
    );
    if (verdict === 'in') return { verdict: 'here' } as const;
    await assertKnownCompany(deps.store, connection);
    return { verdict: 'gone' } as const;
  });
}

/**
 * A wrong filter or a mass move must not end hires by the dozen: above the tenant's number an hour, a person decides.
 */
export function allowCancellation(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['allowCancellation']> {
  return guarded(deps, ref.tenantId, async ({ tenant }) => {
    const most = tenant.policies.changeLimits.cancellationsPerHour;
    if ((await countLeft(deps.store, ref.tenantId, HOUR_MS)) < most) return { verdict: 'allowed' } as const;
    return held('TOO_MANY_CANCELLATIONS', { jobCandidateId: ref.jobCandidateId, most });
  });
}

/** Ends the enrolment, releases the claim, ends the period. Each part is harmless when repeated. */
export function cancelHire(deps: ActivityDeps, input: HireRef): ReturnType<HireActivities['cancelHire']> {
  return withHireOrHeld(
    deps,
    input,
    async (found) => {
      const { store, connection, ref } = found;
      const { log, limits } = deps;
      const lookedAt = await readClock(store);
      const sinceRead = startClock();
      // Read after the clock: what began later is seen by requestUnderWay.
      const hire = await reread(found);
      const { row } = hire;
      if (row.employee_id !== null) throw hasEmployeeAlready(ref, row.employee_id);
      const byPerson = asksToCancel(await answersOf(store, ref));
      if (!byPerson && row.state === 'open') {
        const { verdict } = await readPresence(
          store,
          connection,
          ref.jobCandidateId,
          hiringStagesOf(connection.tenant),
        );
        if (verdict === 'in' && !(await isTerminatedByUs(hire))) return { verdict: 'back' } as const;
      }
      const ended = await terminateEnrolment(hire, 'hire cancelled', sinceRead);
      if (ended.verdict === 'hold') return ended;
      await whileOpen(store, ref, async (open) => {
        const waitMs = await requestUnderWay(open, ref, lookedAt);
        if (waitMs !== undefined) throw underWay(ref, waitMs);
        // A worker that stood still must not end on an old reading a hire that goes on by now.
        if ((await readClock(open)) - lookedAt > 2 * limits.giveUpMs) throw underWay(ref, 0);
        await releaseClaim(open, ref);
        await closeHoldsOf(open, ref);
        // By a person's word they may still stand in the stage: that must not start the hire again.
        await endHire(open, ref, byPerson ? 'cancelled' : 'left');
      });
      // A reconcile that listed them back while this was under way took the hire for open: their job is listed again.
      if (row.job_id !== null) await addHints(store, ref.tenantId, 'people', [row.job_id]);
      log.info({ tenantId: ref.tenantId, jobCandidateId: ref.jobCandidateId, period: ref.period }, 'hire cancelled');
      return { verdict: 'cancelled', state: (await reread(hire)).row.state } as const;
    },
    'ending',
  );
}

/** Ends the live enrolment and counts up; a repeat after the count finds the new number and leaves it. */
export function startNextEnrolment(
  deps: ActivityDeps,
  input: HireRef,
): ReturnType<HireActivities['startNextEnrolment']> {
  return withHireOrHeld(deps, input, async (hire) => {
    const { ref, row } = hire;
    if (row.onboarding_candidate_id === null) return { verdict: 'begun' } as const;
    const ended = await terminateEnrolment(hire, 'enrolled anew', startClock());
    if (ended.verdict === 'hold') return ended;
    await beginNextEnrolment(deps.store, ref, row.enrolment);
    return { verdict: 'begun' } as const;
  });
}

export async function describeLeftAfterEmployee({ store }: ActivityDeps, ref: HireRef): Promise<HoldRequest> {
  const { employee_id: employeeId } = await readHireRow(store, ref);
  return holdOf('LEFT_AFTER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeId: employeeId ?? '' });
}

function hasEmployeeAlready(ref: HireRef, employeeId: string): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_EXISTS',
    action: 'reject',
    message:
      `Job candidate ${ref.jobCandidateId} cannot be cancelled: employee ${employeeId} exists. ` +
      'End the employment in the HR system.',
  });
}
