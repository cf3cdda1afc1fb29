import { readLedger } from '../../../src/sandbox/records/ledger.ts';
import type { World } from '../world.ts';

/** A time in which somebody stood in a hiring stage, not rejected. `to` is open while they still do. */
export interface Membership {
  from: number;
  to: number;
}

/**
 * When this job candidate was hired, by the sandbox's ledger; people hired before the ledger began have one that is
 * always open.
 */
export function membershipOf(world: World, jobCandidateId: string): Membership[] {
  const rows = readLedger(world.state, { kind: 'effect', subject: jobCandidateId });
  const list: Membership[] = world.hiredBefore.has(jobCandidateId) ? [{ from: 0, to: Number.POSITIVE_INFINITY }] : [];
  const close = (at: number): void => {
    const last = list.at(-1);
    if (last !== undefined && last.to === Number.POSITIVE_INFINITY) last.to = at;
  };
  let rejected = false;
  for (const { name, at, detail } of rows) {
    if (name === 'rejection') rejected = true;
    if (name === 'rejection' || name === 'job-candidate-removed') close(at);
    if (name !== 'stage-move') continue;
    const isIn = detail['type'] === 'HIRED' || (world.scenario.stagesApart && detail['type'] === 'OFFER');
    const wasIn = list.at(-1)?.to === Number.POSITIVE_INFINITY;
    if (!isIn) close(at);
    else if (!wasIn && !rejected) list.push({ from: at, to: Number.POSITIVE_INFINITY });
  }
  return list;
}

/** Whether they were hired at any moment between the two. */
export function wasHired(memberships: readonly Membership[], from: number, to: number): boolean {
  return memberships.some((one) => one.from <= to && one.to >= from);
}
