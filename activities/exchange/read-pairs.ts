import pLimit from 'p-limit';
import { dayOf } from '../../src/day-of.ts';
import { amendedFrom, amendsOnly } from '../../src/exchange/amendments.ts';
import { arrivedBases, fieldsToWrite, type PairPlan, planPair } from '../../src/exchange/plan-pair.ts';
import { seeFields } from '../../src/exchange/see-fields.ts';
import type { Side } from '../../src/hire/side.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { decodeCustomFields } from '../../src/mapping/decode-custom-fields.ts';
import { type LinkedPair, type PairState, readPairStates, UNKNOWN_PAIR } from '../../src/store/exchange-pairs.ts';
import type { FieldConflictRow } from '../../src/store/exchange-tables.ts';
import { openConflicts } from '../../src/store/field-conflicts.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { type FetchedPerson, fetchPeople } from './fetch-people.ts';
import { isWithoutJob, type JobRecords, readHired, readJobRecords } from './read-hired.ts';

/** Employees read at the same time. */
const AT_ONCE = 8;
const READ_MS = 30_000;

/** One pair as both sides were just read, and what is to be written. */
export interface ReadPair {
  pair: LinkedPair;
  state: PairState;
  open: readonly FieldConflictRow[];
  found:
    | {
        plan: PairPlan;
        bases: Record<string, string>;
        /** The day from which the employee's new values count. */
        from: string;
      }
    | { missing: Side }
    | { unreadable: string }
    | { settles: true };
}

/**
 * Reads both sides of some pairs: the partner's by one call for a hundred, the HR system's one by one. What is known of
 * them is read afterwards, so that a write that ended after the reading began is never missed.
 */
export async function readPairs(context: ExchangeContext, pairs: readonly LinkedPair[]): Promise<ReadPair[]> {
  // A call for nobody is refused.
  if (pairs.length === 0) return [];
  const { deps, connection, key } = context;
  const readAt = await readClock(deps.store);
  const limit = pLimit(AT_ONCE);
  const [people, employees] = await Promise.all([
    fetchPeople(connection, pairs, context.defined),
    Promise.all(
      pairs.map(({ pairId }) => limit(() => connection.hris.employees.read(pairId, AbortSignal.timeout(READ_MS)))),
    ),
  ]);
  const ids = pairs.map(({ pairId }) => pairId);
  const states = await readPairStates(deps.store, key, ids);
  const open = Map.groupBy(await openConflicts(deps.store, key, ids), (row) => row.pair_id);
  const jobs = await readJobRecords(context, people);
  const read: ReadPair[] = [];
  for (const [index, pair] of pairs.entries()) {
    const known = { pair, state: states.get(pair.pairId) ?? UNKNOWN_PAIR, open: open.get(pair.pairId) ?? [] };
    const shown = { readAt, jobs, person: people[index] ?? {}, employee: employees[index] };
    const found =
      readAt <= known.state.settles_at
        ? { settles: true as const }
        : judge(context, known, shown, await readHired(context, known));
    read.push({ ...known, found });
  }
  return read;
}

type Known = Omit<ReadPair, 'found'>;

/** One pair as both sides showed it. */
interface Shown {
  /** When the reading began, by the database's clock. */
  readAt: number;
  jobs: JobRecords;
  person: FetchedPerson;
  employee: EmployeeRecord | undefined;
}

function judge(
  { mapping, defined, full }: ExchangeContext,
  { pair, state, open }: Known,
  { readAt, jobs, person, employee }: Shown,
  hired: Record<string, string>,
): ReadPair['found'] {
  if (person.unreadable !== undefined) return { unreadable: person.unreadable };
  if (person.sources === undefined) return { missing: 'partner' };
  if (employee === undefined) return { missing: 'hris' };
  const job = person.jobId === undefined ? undefined : jobs.get(person.jobId);
  const sources = decodeCustomFields({ ...person.sources, ...(job && { job }) }, defined);
  const isOver = amendsOnly(mapping) && (employee.former === true || isWithoutJob(mapping, job));
  const seen = isOver ? [] : seeFields(mapping, pair.pairId, sources, employee.fields);
  const bases = { ...hired, ...arrivedBases(seen, state) };
  const plan = planPair(seen, { bases, open: open.filter((row) => !full || row.kind === 'held'), defined });
  return { bases, plan, from: amendedFrom(dayOf(readAt), employee.fields, fieldsToWrite(plan.toHris)) };
}
