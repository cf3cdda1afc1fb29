import { inActivity } from '../../src/failpoint.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { closeHoldsOf } from '../../src/store/holds.ts';
import { inTransaction } from '../../src/store/living-hire.ts';
import type { ActivityDeps } from '../deps.ts';
import { verify } from './verify.ts';
import { type HireContext, withHireOrHeld } from './with-hire.ts';
import { writeBack } from './write-back.ts';

type Finished = ReturnType<HireActivities['finishHire']>;

/** Writes back, reads back what was written, and ends the hire once the ID stands with the partner. */
export function finishHire(deps: ActivityDeps, given: HireRef): Finished {
  return withHireOrHeld(deps, given, writeAndVerify, 'after-employee');
}

async function writeAndVerify(hire: HireContext): Finished {
  // An earlier attempt came to the hire's end and was lost.
  if (hire.row.state === 'done') return { verdict: 'verified' };
  const written = await inActivity('writeBack', () => writeBack(hire));
  return written.verdict === 'hold' ? written : inActivity('verify', () => verifyAndEnd(hire));
}

async function verifyAndEnd(hire: HireContext): Finished {
  const { deps, ref } = hire;
  const verified = await verify(hire);
  if (verified.verdict !== 'verified') return verified;
  await inTransaction(deps.store, async (store) => {
    if (await endHire(store, ref, 'done')) await closeHoldsOf(store, ref);
  });
  deps.log.info(ref, 'hire done');
  return verified;
}
