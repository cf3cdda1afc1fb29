import { isConnectorError } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import type { HireRef } from '../../src/hire/hire.ts';
import type { Employed, HireActivities, Onboarding, WentOn } from '../../src/hire/hire-activities.ts';
import { held } from '../../src/hire/holds.ts';
import { judgeOnboarding } from '../../src/plan/plan-enrolment.ts';
import { hireBehind, updateHire } from '../../src/store/hires.ts';
import { closeUnanswered } from '../../src/store/holds.ts';
import { assertKnownCompany } from '../assert-known-company.ts';
import type { ActivityDeps } from '../deps.ts';
import { noteUnknownValue } from '../note-unknown-value.ts';
import { applyPlan, finishPending } from './apply-plan.ts';
import { findEnrolments } from './enrol.ts';
import { finishHire } from './finish-hire.ts';
import { tellAtPartner } from './hold-hire.ts';
import { planEmployee } from './plan-employee.ts';
import { heldOutsideScope, readEnrolment, takeSeen } from './read-sources.ts';
import { formerHris, type HireContext, reread, withHireOrHeld } from './with-hire.ts';
import { type Elapsed, startClock } from './write-once.ts';

// Steps between which nothing is waited for share an activity: each of its own costs a task, three events and a turn of
// the workflow. Only a workflow that asks for it gets it, so that earlier versions may work beside this one.

type Asked<Name extends keyof HireActivities> = Parameters<HireActivities[Name]>[0];

/** Reads the onboarding, and goes on to the employee where it is ready. */
export async function onboardAndGoOn(deps: ActivityDeps, asked: Asked<'readOnboarding'>): Promise<Onboarding> {
  const elapsed = startClock();
  const onboarding = await readOnboarding(deps, asked);
  if (asked.goOn !== true || onboarding.verdict !== 'ready') return onboarding;
  return { ...onboarding, ...(await employToEnd(deps, asked, elapsed)) };
}

/** Makes the employee, and goes on to the write-back. */
export async function employAndGoOn(deps: ActivityDeps, asked: Asked<'employ'>): Promise<Employed> {
  const elapsed = startClock();
  const employed = await employ(deps, asked);
  if (asked.goOn !== true || employed.verdict !== 'employee') return employed;
  return { ...employed, ...(await finish(deps, asked, elapsed)) };
}

/** Undefined where the way to the hire's end is longer than this attempt can go. */
async function employToEnd(
  deps: ActivityDeps,
  asked: Asked<'employ'>,
  elapsed: Elapsed,
): Promise<({ present: boolean } & WentOn) | undefined> {
  const employed = await goOn(deps, elapsed, 'employ', () => employ(deps, asked));
  if (employed?.verdict !== 'employee') return undefined;
  const end = await finish(deps, asked, elapsed);
  return end && { present: employed.present === true, ...end };
}

async function finish(deps: ActivityDeps, asked: Asked<'employ'>, elapsed: Elapsed): Promise<WentOn | undefined> {
  const finished = await goOn(deps, elapsed, 'finishHire', () => finishHire(deps, asked));
  if (finished?.verdict === 'verified') return { done: true };
  return finished?.verdict === 'hold' && asked.orHold === true ? { held: finished.hold } : undefined;
}

/**
 * Undefined where the step failed: as an activity of its own it is tried until it works, and repeats nothing of what
 * came before. Nor is it begun late: an attempt has one deadline for all its steps.
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
 * Plans and applies the plan by one reading of the person. One activity, because nothing is waited for in between; a
 * repeat plans anew, unless the HR system has taken a create and somebody finishes it there.
 */
export function employ(deps: ActivityDeps, asked: Parameters<HireActivities['employ']>[0]): Promise<Employed> {
  return withHireOrHeld(deps, asked, async (hire): Promise<Employed> => {
    // An earlier attempt came to the end and was lost: where the person is by now changes nothing.
    if (hire.row.state === 'done') return { verdict: 'employee' };
    // Which employee it has in the tenant's present HR system is asked before the partner is told.
    if (formerHris(hire) !== undefined) return { verdict: 'employee' };
    const finished = await finishPending(hire);
    if (finished !== undefined) return finished;
    const seen = asked.seenAtOpening === true ? takeSeen(hire.connection, hire.ref) : undefined;
    const planned = await inActivity('planEmployee', () => planEmployee(hire, seen));
    if (planned.verdict !== 'plan') return planned;
    // A create reads it again under its lease.
    const now = planned.change.kind === 'create' ? hire : await reread(hire);
    return inActivity('applyPlan', () => applyPlan(now, planned));
  });
}

type Verdict = Awaited<ReturnType<HireActivities['readOnboarding']>>;

/**
 * Where the onboarding stands now. The states of the steps do not matter: the partner sums them up in overallStatus.
 */
export async function readOnboarding(
  deps: ActivityDeps,
  given: Parameters<HireActivities['readOnboarding']>[0],
): Promise<Verdict> {
  const onboarding = await readNow(deps, given);
  if (given.asked !== true || onboarding.verdict !== 'ready') return onboarding;
  // Whoever answered meanwhile is heard first.
  if (!(await closeUnanswered(deps.store, given))) return { verdict: 'waiting' };
  await tellAtPartner(deps, given);
  return onboarding;
}

function readNow(deps: ActivityDeps, given: HireRef): Promise<Verdict> {
  return withHireOrHeld(deps, given, async (hire): Promise<Verdict> => {
    const { store, connection, ref, row, decisions } = hire;
    // An earlier attempt went on to the end and was lost.
    if (row.state === 'done') return { verdict: 'ready' } as const;
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
      // One 404 proves nothing: the list is asked, and something that is known to be there with the same key.
      const [hit] = await findEnrolments(connection, row.onboarding_reference ?? '');
      if (hit !== undefined) return judgeStatus(hire, hit.status);
      await assertKnownCompany(store, connection);
      return held('ENROLMENT_GONE', { jobCandidateId: ref.jobCandidateId, onboardingCandidateId: id });
    }
  });
}

/** A status that the specification does not name is waited out, and told once for all hires. */
async function judgeStatus({ store, connection, ref }: HireContext, status: string): Promise<Verdict> {
  const judged = judgeOnboarding(ref.jobCandidateId, status, connection.tenant.policies.onboarding);
  if (judged.verdict !== 'unknown') return judged;
  await noteUnknownValue(store, connection, {
    field: 'overallStatus',
    value: status,
    goesOn: 'Hires wait with it; if it means ready, add it to policies.onboarding.readyAt.',
  });
  return { verdict: 'waiting' };
}
