import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { whileOpen } from '../../src/store/hires.ts';
import { closeHoldsOf } from '../../src/store/holds.ts';
import type { ActivityDeps } from '../deps.ts';
import { verify } from './verify.ts';

/** Reads back what was written, and ends the hire once the ID stands with the partner. */
export async function finishHire(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['verify']> {
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
