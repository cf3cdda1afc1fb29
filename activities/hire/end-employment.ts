import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { latestIntent } from '../../src/store/intents.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { ActivityDeps } from '../deps.ts';
import { noteWrites } from './note-writes.ts';
import { seePerson } from './see-person.ts';
import { isSharedWithHires, isTakenOver } from './taken-over.ts';
import { END_VERB } from './verbs.ts';
import { type HireContext, withHireOrHeld } from './with-hire.ts';
import { employeeIdOf, writeEmployeeId } from './write-back.ts';
import { type Elapsed, type OnceOptions, settleEarlier, startClock, writeOnce } from './write-once.ts';

type Ended = Awaited<ReturnType<HireActivities['endEmployment']>>;

const READ_MS = 30_000;
const BACK_BEFORE_ANSWER =
  'The HR system was asked to end it and did not answer; meanwhile the person is back in the hiring stage.';

/** Only ever on a person's answer. Nobody is ended who stands in the stage again or has taken another job. */
export function endEmployment(deps: ActivityDeps, given: HireRef): Promise<Ended> {
  return withHireOrHeld(
    deps,
    given,
    async (hire): Promise<Ended> => {
      const { store, connection, ref, row } = hire;
      if (row.state !== 'done') return { verdict: 'over' };
      if (!(await isTakenOver(hire))) {
        const earlier = await whatBecameOfIt(hire);
        const { presence, sinceRead } = await seePerson(store, connection, ref.jobCandidateId);
        if (presence.verdict === 'in' && earlier === 'nothing') return { verdict: 'back' };
        if (presence.verdict === 'in' && earlier === 'unknown') return notEnded(hire, BACK_BEFORE_ANSWER);
        const ended = await endAndTell(hire, sinceRead);
        if (ended !== undefined) return ended;
      }
      await endHire(store, ref, 'left', ['done']);
      deps.log.info(ref, 'employment ended');
      return { verdict: 'over' };
    },
    'after-employee',
  );
}

/**
 * An end that took place stays one, wherever the person is by now. Where the last day is to come a system may not show
 * it, so that of a request without an answer nothing is known.
 */
async function whatBecameOfIt(hire: HireContext): Promise<'ended' | 'unknown' | 'nothing'> {
  if (hire.decisions.endedByHand === true) return 'ended';
  const latest = await latestIntent(hire.store, hire.ref, END_VERB);
  if (latest === undefined || latest.outcome === 'refused') return 'nothing';
  const settled = await settleEarlier(termination(hire, { lastDay: '', sinceRead: startClock() }));
  if (settled.kind === 'adopted') return 'ended';
  return latest.outcome === 'open' ? 'unknown' : 'nothing';
}

async function endAndTell(hire: HireContext, sinceRead: Elapsed): Promise<Held | undefined> {
  const refused = await end(hire, sinceRead);
  if (refused !== undefined) return refused;
  const written = await writeEmployeeId(hire, employeeIdOf(hire), hire.connection.tenant.writeBack.leftStatus);
  return written.verdict === 'hold' ? written : undefined;
}

/** Undefined once the employment is ended; a person's word on it counts. */
async function end(hire: HireContext, sinceRead: Elapsed): Promise<Held | undefined> {
  const { connection, decisions } = hire;
  if (decisions.endedByHand === true) return undefined;
  const shown = await readShown(hire);
  if (shown?.former === true) return undefined;
  if (await isSharedWithHires(hire, hire.row.employee_id ?? '')) return notEnded(hire, 'Another hire has it too.');
  if (connection.hris.employees.terminate === undefined)
    return notEnded(hire, 'hirebridge cannot end employments in this HR system.');
  const start = shown?.fields['startDate'];
  const today = new Date(await readClock(hire.store)).toISOString().slice(0, 10);
  const once = await writeOnce(termination(hire, { lastDay: typeof start === 'string' ? start : today, sinceRead }));
  return once.kind === 'refused' ? notEnded(hire, once.error.message) : undefined;
}

/** The first day is also the last one: HR systems refuse an end before the start. */
function termination(
  hire: HireContext,
  { lastDay, sinceRead }: { lastDay: string; sinceRead: Elapsed },
): OnceOptions<null, { lastDay: string }> {
  const { store, connection, deps, ref, row } = hire;
  const id = row.employee_id ?? '';
  return {
    store,
    key: ref,
    verb: END_VERB,
    state: 'done',
    pinned: () => ({ lastDay }),
    giveUpMs: deps.limits.giveUpMs,
    readLagMs: connection.hris.capabilities.readLagMs,
    // A last day to come is not shown by every kind; the same one again is harmless.
    look: async () => ((await readShown(hire))?.former === true ? { kind: 'found', value: null } : { kind: 'absent' }),
    sinceRead,
    note: (pinned, intent) =>
      noteWrites(
        hire,
        [
          {
            target: 'employee',
            foreignId: id,
            kind: 'end',
            changes: { lastDay: { new: pinned.lastDay } },
            sensitive: [],
          },
        ],
        intent,
      ),
    async send(pinned, guard) {
      await connection.hris.employees.terminate?.(id, pinned.lastDay, guard);
      return null;
    },
  };
}

function readShown({ connection, row }: HireContext): Promise<EmployeeRecord | undefined> {
  return connection.hris.employees.read(row.employee_id ?? '', AbortSignal.timeout(READ_MS));
}

function notEnded({ ref, row }: HireContext, said: string): Held {
  const { jobCandidateId } = ref;
  return held('EMPLOYMENT_NOT_ENDED', { jobCandidateId, employeeId: row.employee_id ?? '', said });
}
