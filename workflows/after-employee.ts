import { patched } from '@temporalio/workflow';
import type { HireStep } from '../src/hire/hire-step.ts';
import type { Held } from '../src/hire/holds.ts';
import { type Hire, hold, isGoneAfterGrace, isPresent } from './followed-hire.ts';

/**
 * The employee exists and the ID is written back. Nothing is undone by itself: who leaves before the first day is a
 * question to a person.
 */
export async function watchDone(hire: Hire): Promise<HireStep> {
  const { ref, activities } = hire;
  if (await isPresent(hire)) return 'ended';
  if (!(await isGoneAfterGrace(hire))) return 'ended';
  if (!patched('judge-departure')) return hold(hire, await activities.describeLeftAfterEmployee(ref));
  return endedAs(hire, await activities.judgeDeparture(ref));
}

export async function endEmployment(hire: Hire): Promise<HireStep> {
  return endedAs(hire, await hire.activities.endEmployment(hire.ref));
}

export async function handOver(hire: Hire): Promise<HireStep> {
  return endedAs(hire, await hire.activities.handOver(hire.ref));
}

async function endedAs(hire: Hire, end: { verdict: 'over' } | { verdict: 'back' } | Held): Promise<HireStep> {
  if (end.verdict === 'hold') return hold(hire, end.hold);
  if (end.verdict === 'over') hire.progress.outcome = 'left';
  return 'ended';
}

/** Only a person says how it goes on. */
export function isAfterEmployee(step: HireStep): boolean {
  return step === 'watch-done' || step === 'end-employment';
}
