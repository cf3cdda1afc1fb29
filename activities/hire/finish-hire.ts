import { inActivity } from '../../src/failpoint.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { whileOpen } from '../../src/store/hires.ts';
import { closeHoldsOf } from '../../src/store/holds.ts';
import type { ActivityDeps } from '../deps.ts';
import { verify } from './verify.ts';
import { writeBack } from './write-back.ts';

type Finished = ReturnType<HireActivities['finishHire']>;

/** Writes back, reads back what was written, and ends the hire once the ID stands with the partner. */
export async function finishHire(deps: ActivityDeps, ref: HireRef): Finished {
  const written = await inActivity('writeBack', () => writeBack(deps, ref));
  if (written.verdict === 'hold') return written;
  if (written.verdict === 'done') return { verdict: 'verified' };
  return inActivity('verify', () => verifyAndEnd(deps, ref));
}

async function verifyAndEnd(deps: ActivityDeps, given: HireRef): Finished {
  const { tenantId, jobCandidateId, period } = given;
  const ref = { tenantId, jobCandidateId, period };
  const verified = await verify(deps, ref);
  if (verified.verdict !== 'verified') return verified;
  await whileOpen(deps.store, ref, async (open) => {
    await closeHoldsOf(open, ref);
    await endHire(open, ref, 'done');
  });
  deps.log.info(ref, 'hire done');
  return verified;
}
