import { isConnectorError } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import type { HireRef } from '../../src/hire/hire.ts';
import type { Employed, HireActivities, Onboarding, WentOn } from '../../src/hire/hire-activities.ts';
import { held } from '../../src/hire/holds.ts';
import { judgeOnboarding } from '../../src/plan/plan-enrolment.ts';
import { hireBehind, updateHire } from '../../src/store/hires.ts';
import { closeUnanswered } from '../../src/store/holds.ts';
import { readClock } from '../../src/store/open-store.ts';
import type { ActivityDeps } from '../connections.ts';
import { assertKnownCompany } from '../guarded.ts';
import { noteUnknownValue } from '../presence/read-presence.ts';
import { applyPlan, finishSent } from './apply-plan.ts';
import { findEnrolments } from './enrol.ts';
import { finishHire } from './finish-hire.ts';
import { tellAtPartner } from './hold-hire.ts';
import { planEmployee } from './plan-employee.ts';
import { heldOutsideScope, readEnrolment, takeSeen } from './read-sources.ts';
import { formerHris, type HireContext, heldByAnswer, reread, withHireOrHeld } from './with-hire.ts';
import { type Elapsed, startClock } from './write-once.ts';

// Steps with no wait between them share an activity, because each activity costs a task, three events and a turn of the
// workflow. Only a workflow that asks for it gets it, so that earlier versions may work beside this one.

type Asked<Name extends keyof HireActivities> = Parameters<HireActivities[Name]>[0];

/** Reads the onboarding and, once it is ready, goes on to the employee. */
export async function onboardAndGoOn(deps: ActivityDeps, asked: Asked<'readOnboarding'>): Promise<Onboarding> {
  const elapsed = startClock();
  const onboarding = await readOnboarding(deps, asked);
  if (asked.goOn !== true || onboarding.verdict !== 'ready') return onboarding;
  const employed = await goOn(deps, elapsed, 'employ', () => employ(deps, asked));
  if (employed?.verdict !== 'employee') return onboarding;
  // Without an end, this attempt had no time left to reach it.
  const end = await finish(deps, asked, elapsed);
  return end === undefined ? onboarding : { ...onboarding, present: employed.present === true, ...end };
}

/** Makes the employee and goes on to the write-back. */
export async function employAndGoOn(deps: ActivityDeps, asked: Asked<'employ'>): Promise<Employed> {
  const elapsed = startClock();
  const employed = await employ(deps, asked);
  if (asked.goOn !== true || employed.verdict !== 'employee') return employed;
  return { ...employed, ...(await finish(deps, asked, elapsed)) };
}

async function finish(deps: ActivityDeps, asked: Asked<'employ'>, elapsed: Elapsed): Promise<WentOn | undefined> {
  const finished = await goOn(deps, elapsed, 'finishHire', () => finishHire(deps, asked));
  if (finished?.verdict === 'verified') return { done: true };
  return finished?.verdict === 'hold' && asked.orHold === true ? { held: finished.hold } : undefined;
}

/**
 * Returns undefined if the step failed: as an activity of its own it is then retried until it works, without repeating
 * earlier steps. A step also does not begin late, because one deadline covers all steps of an attempt.
 */
async function goOn<T>(
  { limits }: ActivityDeps,
  elapsed: Elapsed,
  name: string,
  step: () => Promise<T>,
): Promise<T | undefined> {
  if (elapsed() > limits.giveUpMs / 2) return undefined;
  return inActivity(name, step).catch(() => undefined);
}

/**
 * Plans and applies the plan from one reading of the person. Both are one activity because nothing is waited for in
 * between. A repeat plans anew, unless the HR system accepted a create that somebody must finish there.
 */
export function employ(deps: ActivityDeps, asked: Parameters<HireActivities['employ']>[0]): Promise<Employed> {
  return withHireOrHeld(deps, asked, async (found): Promise<Employed> => {
    // An earlier attempt reached the end but its result was lost, so it does not matter where the person is now.
    if (found.row.state === 'done') return { verdict: 'employee' };
    const answered = heldByAnswer(found);
    if (answered !== undefined) return answered;
    // A person is asked which employee it is in the tenant's current HR system before the partner is told.
    if (formerHris(found) !== undefined) return { verdict: 'employee' };
    const finished = await finishSent(found);
    if (finished !== undefined) return finished;
    const hire = found.creation?.outcome === 'open' ? await reread(found) : found;
    const seen = asked.seenAtOpening === true ? takeSeen(hire.connection, hire.ref) : undefined;
    const planned = await inActivity('planEmployee', () => planEmployee(hire, seen));
    if (planned.verdict !== 'plan') return planned;
    // A create reads the hire again under its lease.
    const now = planned.change.kind === 'create' ? hire : await reread(hire);
    return inActivity('applyPlan', () => applyPlan(now, planned));
  });
}

type Verdict = Awaited<ReturnType<HireActivities['readOnboarding']>>;

/**
 * Reads where the onboarding stands now. Ignores the states of single steps, because the partner sums them up in
 * overallStatus.
 */
export async function readOnboarding(
  deps: ActivityDeps,
  given: Parameters<HireActivities['readOnboarding']>[0],
): Promise<Verdict> {
  const openedBy = given.asked === true ? await readClock(deps.store) : 0;
  const onboarding = await readNow(deps, given);
  if (given.asked !== true || onboarding.verdict !== 'ready') return onboarding;
  // An answer given in the meantime goes first.
  if (!(await closeUnanswered(deps.store, given, { openedBy }))) return { verdict: 'waiting' };
  await tellAtPartner(deps, given);
  return onboarding;
}

function readNow(deps: ActivityDeps, { asked = false, ...given }: HireRef & { asked?: boolean }): Promise<Verdict> {
  return withHireOrHeld(deps, given, async (hire): Promise<Verdict> => {
    const { store, connection, ref, row, decisions } = hire;
    // An earlier attempt went on to the end, but its result was lost.
    if (row.state === 'done') return { verdict: 'ready' } as const;
    const answered = asked ? undefined : heldByAnswer(hire);
    if (answered !== undefined) return answered;
    const outside = await heldOutsideScope(hire, row.job_id);
    if (outside !== undefined) return outside;
    if (decisions.createAnyway || decisions.skipOnboarding) return { verdict: 'ready' } as const;
    const id = row.onboarding_candidate_id;
    if (id === null) throw hireBehind(ref);
    try {
      const { overallStatus } = await readEnrolment(hire, id);
      const status = String(overallStatus);
      if (status !== row.onboarding_status) await updateHire(store, ref, { onboarding_status: status }, row);
      return judgeStatus(hire, status);
    } catch (error) {
      if (!isConnectorError(error, 'NOT_FOUND')) throw error;
      // One 404 proves nothing, so ask the list, and check with the same key that known data is still there.
      const [hit] = await findEnrolments(connection, row.onboarding_reference ?? '');
      if (hit !== undefined) {
        if (hit.status !== row.onboarding_status) await updateHire(store, ref, { onboarding_status: hit.status }, row);
        return judgeStatus(hire, hit.status);
      }
      await assertKnownCompany(store, connection);
      await updateHire(store, ref, { onboarding_status: null }, row);
      return held('ENROLMENT_GONE', { jobCandidateId: ref.jobCandidateId, onboardingCandidateId: id });
    }
  });
}

/** Waits while the status is one that the specification does not name, and reports such a status once for all hires. */
async function judgeStatus({ store, connection, ref }: HireContext, status: string): Promise<Verdict> {
  const judged = judgeOnboarding(ref.jobCandidateId, status, connection.tenant.policies.onboarding);
  if (judged.verdict !== 'unknown') return judged;
  await noteUnknownValue(store, connection, {
    field: 'overallStatus',
    value: status,
    goesOn: 'Hires with it wait; if it means ready, add it to policies.onboarding.readyAt.',
  });
  return { verdict: 'waiting' };
}
