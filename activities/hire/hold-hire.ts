import { entryOf } from '../../src/hire/answers.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { HoldRequest } from '../../src/hire/holds.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { closeHold, openHold as insertHold, readHold } from '../../src/store/holds.ts';
import type { ActivityDeps } from '../deps.ts';

/** Parks the hire with its reason. The notification is sent by the worker's own loop, at least once. */
export async function openHold(
  { store, log }: ActivityDeps,
  { hold, ...ref }: HireRef & { hold: HoldRequest },
): ReturnType<HireActivities['openHold']> {
  const { tenantId, jobCandidateId, period } = ref;
  const { holdId, fresh } = await insertHold(store, { tenantId, jobCandidateId, period, ...hold });
  if (fresh) log.warn({ tenantId, jobCandidateId, period, holdId, code: hold.code }, 'hire held');
  return { holdId };
}

/** A person's answer, taken once: the hold closes with it. What it decides is read from the store by the step that follows. */
export async function takeAnswer(
  { store, log }: ActivityDeps,
  { holdId, ...ref }: HireRef & { holdId: string },
): ReturnType<HireActivities['takeAnswer']> {
  const hold = await readHold(store, holdId);
  if (hold === undefined || hold.answered_at === null || hold.answer === null) return { verdict: 'waiting' };
  const { next = 'same', ends } = entryOf(hold.answer) ?? {};
  await store.kysely.transaction().execute(async (kysely) => {
    const closed = await closeHold({ ...store, kysely }, holdId);
    // With the hold closed before, what the answer ends has ended, and may have been opened again since.
    if (closed && ends !== undefined) await endHire({ ...store, kysely }, ref, ends, ['open', 'done']);
  });
  log.info(
    { tenantId: ref.tenantId, jobCandidateId: ref.jobCandidateId, holdId, answer: hold.answer },
    'hold answered',
  );
  return { verdict: 'answered', next };
}
