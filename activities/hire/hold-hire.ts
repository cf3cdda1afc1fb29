import { entryOf } from '../../src/hire/answers.ts';
import type { HireRef } from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HoldCode, HoldRequest } from '../../src/hire/holds.ts';
import { endHire, lockHire } from '../../src/store/hire-states.ts';
import { hireBehind, readHireRow } from '../../src/store/hires.ts';
import {
  closeHold,
  closeUnanswered,
  openHold as insertHold,
  lastAnswered,
  readHold,
  takeRefusal,
} from '../../src/store/holds.ts';
import { latestIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { releasePeople } from '../../src/store/people.ts';
import type { ActivityDeps } from '../connections.ts';
import { tellWhyHeld } from './finish-hire.ts';
import { CREATE_VERB, withHire } from './with-hire.ts';
import { assertFresh, startClock } from './write-once.ts';

/** Parks the hire with its reason. The worker's own loop sends the notification at least once. */
export async function openHold(
  deps: ActivityDeps,
  { hold, ...ref }: HireRef & { hold: HoldRequest },
): ReturnType<HireActivities['openHold']> {
  const { store, log, limits } = deps;
  const { tenantId, jobCandidateId, period } = ref;
  const sinceAsked = startClock();
  const { holdId, fresh } = await store.kysely.transaction().execute(async (kysely) => {
    const open = { ...store, kysely };
    // Opens no hold for a hire that is over, because nobody would take the answer; only a stalled worker tries that.
    const { state } = await lockHire(open, ref);
    if (state !== 'open' && state !== 'done') return { holdId: '', fresh: false };
    // Nor one that its run has asked and heard of since.
    assertFresh(limits, sinceAsked);
    // A hire asks one question at a time, so an answer that nobody has taken yet goes first.
    const last = await lastAnswered(open, ref);
    // One that was already taken, if another attempt came first: `heldByAnswer` asks nothing anew.
    if (last !== undefined && (last.closed_at === null || hold.answers.length === 0))
      return { holdId: last.hold_id, fresh: false };
    await closeUnanswered(open, ref, { except: hold.code });
    const message = (await takeRefusal(open, ref, hold)) ?? hold.message;
    return insertHold(open, { tenantId, jobCandidateId, period, ...hold, message });
  });
  if (fresh) log.warn({ tenantId, jobCandidateId, period, holdId, code: hold.code }, 'hire held');
  await tellAtPartner(deps, ref);
  return { holdId };
}

/** Shows at the partner why the hire is held, or removes that, if the tenant has a field for it. */
export async function tellAtPartner(deps: ActivityDeps, ref: HireRef): Promise<void> {
  if (!(await hasPlaceForReason(deps, ref.tenantId))) return;
  await withHire(deps, ref, (hire) => tellWhyHeld(hire, 'as it stands'));
}

/** Without a connection the reason cannot be shown, but the hold is opened all the same. */
async function hasPlaceForReason({ connections }: ActivityDeps, tenantId: string): Promise<boolean> {
  try {
    return (await connections.of(tenantId)).tenant.writeBack.holdReason !== undefined;
  } catch {
    return false;
  }
}

/**
 * A hire that ends without an employee gives up its claim on the person. If an employee may exist all the same, because
 * the create's outcome is unknown or the partner names one, the person's next hire asks.
 */
async function releaseUnused(store: Store, ref: HireRef, asked: string): Promise<void> {
  if ((await readHireRow(store, ref)).employee_id !== null) return;
  const create = await latestIntent(store, ref, CREATE_VERB);
  const mayExist = create?.outcome === 'open' || create?.outcome === 'done' || asked === TOLD;
  await releasePeople(store, ref, mayExist);
}

const TOLD = 'EMPLOYEE_TOLD' satisfies HoldCode;

/** Takes a person's answer once and closes its hold. The next step reads from the store what the answer decides. */
export async function takeAnswer(
  deps: ActivityDeps,
  { holdId, ...ref }: HireRef & { holdId: string },
): ReturnType<HireActivities['takeAnswer']> {
  const { store, log } = deps;
  const hold = await readHold(store, holdId);
  if (hold === undefined) throw hireBehind(ref);
  // The question settled itself, but the worker that closed it crashed before it said so: the step asks again if
  // needed.
  if (hold.closed_at !== null && hold.answered_at === null) {
    await tellAtPartner(deps, ref);
    return { verdict: 'answered', next: 'same' };
  }
  if (hold.answered_at === null || hold.answer === null) return { verdict: 'waiting' };
  const { answered_at: answeredAt } = hold;
  const { next = 'same', ends } = entryOf(hold.answer) ?? {};
  await store.kysely.transaction().execute(async (kysely) => {
    const closed = await closeHold({ ...store, kysely }, holdId, answeredAt);
    // If the hold was closed before, the hire has ended already and may have been opened again since.
    if (!closed || ends === undefined) return;
    await endHire({ ...store, kysely }, ref, ends, ['open', 'done']);
    await releaseUnused({ ...store, kysely }, ref, hold.code);
  });
  const { tenantId, jobCandidateId } = ref;
  log.info({ tenantId, jobCandidateId, holdId, answer: hold.answer }, 'hold answered');
  await tellAtPartner(deps, ref);
  return { verdict: 'answered', next, ...(ends === undefined ? {} : { ends }) };
}
