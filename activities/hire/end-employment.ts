import { dayOf } from '../../src/day-of.ts';
import type { Employee } from '../../src/hire/employee.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { employeeOf, hireBehind } from '../../src/store/hires.ts';
import { latestIntent } from '../../src/store/intents.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { ActivityDeps } from '../deps.ts';
import type { OwnRecord } from '../own-hris.ts';
import { isShared, isTakenOver } from './ask-person.ts';
import { noteWrites } from './note-writes.ts';
import { readEmployee } from './read-employee.ts';
import { seePerson } from './see-person.ts';
import { END_VERB } from './verbs.ts';
import { formerHris, type HireContext, withHireOrHeld } from './with-hire.ts';
import { employeeIdOf, writeEmployeeId } from './write-back.ts';
import { type EarlierOptions, type Elapsed, type OnceOptions, settleEarlier, writeOnce } from './write-once.ts';

type Ended = Awaited<ReturnType<HireActivities['endEmployment']>>;

const BACK_BEFORE_ANSWER =
  'The HR system was asked to end it and did not answer; meanwhile the person is back in the hiring stage.';

/** Only ever on a person's answer. Nobody is ended who stands in the stage again or has taken another job. */
export function endEmployment(deps: ActivityDeps, given: HireRef): Promise<Ended> {
  return withHireOrHeld(
    deps,
    given,
    async (hire): Promise<Ended> => {
      const { store, ref, row } = hire;
      if (row.state !== 'done') return { verdict: 'over' };
      if (!(await isTakenOver(hire))) {
        const open = (await endOnce(hire)) ?? (await tell(hire));
        if (open !== undefined) return open;
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
  const settled = await settleEarlier(earlierEnd(hire));
  if (settled.kind === 'adopted') return 'ended';
  return latest.outcome === 'open' ? 'unknown' : 'nothing';
}

/** Undefined once the employment is ended. */
async function endOnce(hire: HireContext): Promise<Ended | undefined> {
  const { store, connection, ref } = hire;
  const elsewhere = formerHris(hire);
  if (elsewhere !== undefined && hire.decisions.endedByHand !== true)
    return notEnded(hire, `They are in the HR system "${elsewhere}", which this tenant no longer has.`);
  const earlier = await whatBecameOfIt(hire);
  if (earlier === 'ended') return undefined;
  const { presence, sinceRead } = await seePerson(store, connection, ref.jobCandidateId);
  if (presence.verdict !== 'in') return end(hire, sinceRead);
  return earlier === 'unknown' ? notEnded(hire, BACK_BEFORE_ANSWER) : { verdict: 'back' };
}

async function end(hire: HireContext, sinceRead: Elapsed): Promise<Held | undefined> {
  const shown = await readShown(hire);
  if (shown?.former === true) return undefined;
  if (await isShared(hire, ownOf(hire))) return notEnded(hire, 'Another hire has it too.');
  if (hire.connection.hris.employees.terminate === undefined)
    return notEnded(hire, 'hirebridge cannot end employments in this HR system.');
  const start = shown?.fields['startDate'];
  const lastDay = typeof start === 'string' ? start : dayOf(await readClock(hire.store));
  const once = await writeOnce(termination(hire, { lastDay, sinceRead }));
  return once.kind === 'refused' ? notEnded(hire, once.error.message) : undefined;
}

/** The partner shows from then on that the person left. */
async function tell(hire: HireContext): Promise<Held | undefined> {
  const written = await writeEmployeeId(hire, employeeIdOf(hire), hire.connection.tenant.writeBack.leftStatus);
  return written.verdict === 'hold' ? written : undefined;
}

function earlierEnd(hire: HireContext): EarlierOptions<null> {
  const { store, connection, ref } = hire;
  return {
    store,
    key: ref,
    verb: END_VERB,
    readLagMs: connection.hris.capabilities.readLagMs,
    // A last day to come is not shown by every kind; the same one again is harmless.
    look: async () => ((await readShown(hire))?.former === true ? { kind: 'found', value: null } : { kind: 'absent' }),
  };
}

/** The first day is also the last one: HR systems refuse an end before the start. */
function termination(
  hire: HireContext,
  { lastDay, sinceRead }: { lastDay: string; sinceRead: Elapsed },
): OnceOptions<null, { lastDay: string }> {
  const { connection, deps } = hire;
  const employee = ownOf(hire);
  return {
    ...earlierEnd(hire),
    state: 'done',
    pinned: () => ({ lastDay }),
    giveUpMs: deps.limits.giveUpMs,
    sinceRead,
    note: (pinned, intent) =>
      noteWrites(
        hire,
        [
          {
            target: 'employee',
            foreignId: employee.id,
            kind: 'end',
            changes: { lastDay: { new: pinned.lastDay } },
            sensitive: [],
          },
        ],
        intent,
      ),
    async send(pinned, guard) {
      await connection.hris.employees.terminate?.(employee, pinned.lastDay, guard);
      return null;
    },
  };
}

async function readShown(hire: HireContext): Promise<OwnRecord | undefined> {
  return readEmployee(hire.connection.hris, ownOf(hire));
}

function ownOf({ row, ref }: HireContext): Employee {
  const employee = employeeOf(row);
  if (employee === undefined) throw hireBehind(ref);
  return employee;
}

function notEnded({ ref, row }: HireContext, said: string): Held {
  const { jobCandidateId } = ref;
  return held('EMPLOYMENT_NOT_ENDED', { jobCandidateId, employeeId: row.employee_id ?? '', said });
}
