import { log } from '@temporalio/workflow';
import type { HireActivities } from '../src/hire/hire-activities.ts';
import type { HireRef } from '../src/hire/hire-ref.ts';
import type { HireProgress } from '../src/hire/hire-run.ts';
import type { HireStep } from '../src/hire/hire-step.ts';
import type { HoldRequest } from '../src/hire/holds.ts';
import type { Hints } from './hints.ts';

/** One hire as its workflow follows it. */
export interface Hire {
  ref: HireRef;
  progress: HireProgress;
  hints: Hints;
  activities: HireActivities;
  /** Nobody has looked for the person since the opening did. */
  isJustOpened: boolean;
}

export async function isPresent({ ref, activities, hints }: Hire): Promise<boolean> {
  hints.clear('person');
  const { verdict } = await activities.readHire(ref);
  return verdict === 'in';
}

export async function isGoneAfterGrace(hire: Hire): Promise<boolean> {
  const { ref, progress, hints, activities } = hire;
  const graceEndsAt = Date.now() + progress.policy.cancelGraceMs;
  while (Date.now() < graceEndsAt) {
    await hints.wait(graceEndsAt - Date.now());
    if (await isPresent(hire)) return false;
  }
  return (await activities.confirmGone(ref)).verdict === 'gone';
}

/** Parks the hire; `park` waits in the next turn, so that a long wait can continue as new. */
export async function hold({ ref, progress, activities }: Hire, request: HoldRequest): Promise<HireStep> {
  const { holdId } = await activities.openHold({ ...ref, hold: request });
  progress.hold = { holdId, code: request.code, from: progress.step };
  log.info('hire held', { holdCode: request.code, holdId });
  return progress.step;
}
