import { dayOf } from '../../src/day-of.ts';
import { type Employee, isSameEmployee } from '../../src/hire/employee.ts';
import { isSameHire } from '../../src/hire/hire-ref.ts';
import { followedStates } from '../../src/hire/hire-state.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { latestIntent, type OpenIntent } from '../../src/store/intents.ts';
import { findPerson } from '../../src/store/persons.ts';
import { readKept } from '../../src/store/purged.ts';
import { readEmployee } from './read-employee.ts';
import { END_VERB, REHIRE_VERB } from './verbs.ts';
import type { HireContext } from './with-hire.ts';

/** What a rehire pins. `shown`: the HR system showed a former employee, so that an active one proves the rehire. */
export interface PinnedRehire {
  employeeId: string;
  shown: boolean;
}

/** The newest attempt of this hire at making a former employee active. */
export function latestRehire({ store, ref }: HireContext): Promise<OpenIntent | undefined> {
  return latestIntent(store, ref, REHIRE_VERB);
}

/** The HR system says that the employment is over. */
export async function isShownFormer({ connection }: HireContext, employee: Employee): Promise<boolean> {
  return (await readEmployee(connection.hris, employee))?.former === true;
}

/**
 * Whether this is a former employee: by the HR system; because this hire is about to make them an active one; or
 * because we ended the employment ourselves, with a last day that may be to come.
 */
export async function isFormer(hire: HireContext, employee: Employee): Promise<boolean> {
  const rehire = await latestRehire(hire);
  const isBegun = rehire?.outcome === 'open' || rehire?.outcome === 'done';
  const pinned = isBegun ? readKept<PinnedRehire>(rehire.pinned) : 'purged';
  if (pinned !== 'purged' && pinned.employeeId === employee.id) return true;
  return (await isShownFormer(hire, employee)) || isEndedByUs(hire, employee);
}

async function isEndedByUs({ store, ref }: HireContext, employee: Employee): Promise<boolean> {
  const { employees } = await findPerson(store, { employee });
  const before = employees.find((one) => isSameEmployee(one.employee, employee))?.hire;
  if (before === undefined || isSameHire(before, ref)) return false;
  const end = await latestIntent(store, before, END_VERB);
  if (end?.outcome !== 'done') return false;
  const pinned = readKept<{ lastDay: string }>(end.pinned);
  // Once the last day is over, or nobody knows it any more, the HR system's own word counts.
  if (pinned === 'purged' || pinned.lastDay < dayOf(end.now)) return false;
  return !(await hasSuccessor(store, employee, { besides: [ref, before], states: followedStates }));
}
