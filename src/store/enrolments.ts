import type { HireRef } from '../hire/hire.ts';
import { hireColumns } from './hire-columns.ts';
import { updateHire } from './hires.ts';
import type { Store } from './open-store.ts';

/**
 * Notes the enrolment that this hire's person has. A worker that stood still brings no news: of an enrolment known
 * already its status
 * has been read since, and one of an earlier attempt is not the hire's any more.
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

/** Makes way for the enrolment after the nth. One that was begun meanwhile stays. */
export async function beginNextEnrolment(store: Store, key: HireRef, nth: number): Promise<void> {
  await updateHire(
    store,
    key,
    { enrolment: nth + 1, onboarding_candidate_id: null, onboarding_reference: null, onboarding_status: null },
    { enrolment: nth },
  );
}
