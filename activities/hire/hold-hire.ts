import { endHire, updateHire } from '../../src/store/hires.ts';
import { closeHold, openHold as insertHold, readHold } from '../../src/store/holds.ts';
import type { HireRef } from '../../workflows/messages.ts';
import type { ActivityDeps } from '../deps.ts';
import type { HireActivities, HoldRequest } from './hire-activities.ts';

/** Parks the hire with its reason. The notification is sent by the worker's own loop, at least once. */
export async function openHold(
  { store, log }: ActivityDeps,
  { hold, ...ref }: HireRef & { hold: HoldRequest },
): ReturnType<HireActivities['openHold']> {
  const { tenantId, jobCandidateId, period } = ref;
  const { holdId, fresh } = await insertHold(store, { tenantId, jobCandidateId, period, ...hold });
  await updateHire(store, ref, { step: `held: ${hold.code}` });
  if (fresh) log.warn({ tenantId, jobCandidateId, period, holdId, code: hold.code }, 'hire held');
  return { holdId };
}

/** Answers that end a hire by themselves: `keep` while the person may still stand in the stage, `ended` after they left it. */
const overBy: Record<string, 'ended' | 'cancelled'> = { keep: 'ended', ended: 'cancelled' };

/** A person's answer, taken once: the hold closes with it. What it decides is read from the store by the step that follows. */
export async function takeAnswer(
  { store, log }: ActivityDeps,
  { holdId, ...ref }: HireRef & { holdId: string },
): ReturnType<HireActivities['takeAnswer']> {
  const hold = await readHold(store, holdId);
  if (hold === undefined || hold.answered_at === null || hold.answer === null) return {};
  await closeHold(store, holdId);
  const over = overBy[hold.answer];
  if (over !== undefined) await endHire(store, ref, over);
  log.info(
    { tenantId: ref.tenantId, jobCandidateId: ref.jobCandidateId, holdId, answer: hold.answer },
    'hold answered',
  );
  return { answer: hold.answer };
}
