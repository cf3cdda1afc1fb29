import type { HireRef } from '../hire/hire.ts';
import { hireColumns } from './hire-columns.ts';
import { updateHire } from './hires.ts';
import type { Store } from './open-store.ts';

/**
 * Records the enrolment of this hire's person. Ignores a late worker: the status of an enrolment already recorded has
 * been read since, and an earlier attempt's enrolment is no longer the hire's.
 */
export async function recordEnrolment(
  store: Store,
  key: HireRef,
  nth: number,
  { id, status }: { id: string; status: string },
): Promise<void> {
  await store.kysely
    .updateTable('hires')
    .set((eb) => ({
      step: 'onboard',
      onboarding_candidate_id: id,
      onboarding_status: eb
        .case()
        .when('onboarding_candidate_id', '=', id)
        .then(eb.ref('onboarding_status'))
        .else(status)
        .end(),
      updated_at: store.now,
    }))
    .where((eb) => eb.and(hireColumns(key)))
    .where('state', '=', 'open')
    .where('enrolment', '=', nth)
    .execute();
}

/** Clears the nth enrolment so that the next can begin. A next one that has begun already stays. */
export async function beginNextEnrolment(store: Store, key: HireRef, nth: number): Promise<void> {
  await updateHire(
    store,
    key,
    { enrolment: nth + 1, onboarding_candidate_id: null, onboarding_reference: null, onboarding_status: null },
    { enrolment: nth },
  );
}
