import { dayOf } from '../../src/day-of.ts';
import { isSameHire } from '../../src/hire/hire-ref.ts';
import { followedStates } from '../../src/hire/hire-state.ts';
import { hireOf } from '../../src/store/hire-columns.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { linkOfEmployee } from '../../src/store/identity.ts';
import { latestIntent, type OpenIntent } from '../../src/store/intents.ts';
import { readKept } from '../../src/store/purged.ts';
import type { LinkRow } from '../../src/store/schema.ts';
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
export async function isShownFormer({ connection }: HireContext, employeeId: string): Promise<boolean> {
  return (await readEmployee(connection.hris, employeeId))?.former === true;
}

/**
 * Whether this is a former employee: by the HR system; because this hire is about to make them an active one; or
 * because we ended the employment ourselves, with a last day that may be to come.
 */
export async function isFormer(hire: HireContext, employeeId: string, link?: LinkRow): Promise<boolean> {
  const rehire = await latestRehire(hire);
  const isBegun = rehire?.outcome === 'open' || rehire?.outcome === 'done';
  const pinned = isBegun ? readKept<PinnedRehire>(rehire.pinned) : 'purged';
  if (pinned !== 'purged' && pinned.employeeId === employeeId) return true;
  return (await isShownFormer(hire, employeeId)) || isEndedByUs(hire, employeeId, link);
}

async function isEndedByUs(hire: HireContext, employeeId: string, given: LinkRow | undefined): Promise<boolean> {
  const { store, connection, ref } = hire;
  const link = given ?? (await linkOfEmployee(store, connection.tenant.hris.connection, employeeId));
  if (link === undefined) return false;
  const before = hireOf(link);
  if (isSameHire(before, ref)) return false;
  const end = await latestIntent(store, before, END_VERB);
  if (end?.outcome !== 'done') return false;
  const pinned = readKept<{ lastDay: string }>(end.pinned);
  // Once the last day is over, or nobody knows it any more, the HR system's own word counts.
  if (pinned === 'purged' || pinned.lastDay < dayOf(end.now)) return false;
  const employee = { connection: link.connection, id: employeeId };
  return !(await hasSuccessor(store, ref, employee, { besides: [before], states: followedStates }));
}
