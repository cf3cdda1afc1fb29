import { inActivity } from '../../src/failpoint.ts';
import type { Employed, HireActivities, Onboarding, WentOn } from '../../src/hire/hire-activities.ts';
import type { ActivityDeps } from '../deps.ts';
import { employ } from './employ.ts';
import { finishHire } from './finish-hire.ts';
import { readOnboarding } from './read-onboarding.ts';
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
