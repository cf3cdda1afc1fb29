import { dayOf } from '../../src/day-of.ts';
import { amendedFrom, amendsOnly } from '../../src/exchange/amendments.ts';
import { arrivedBases, fieldsToWrite, type PairPlan, planPair } from '../../src/exchange/plan-pair.ts';
import { seeFields } from '../../src/exchange/see-fields.ts';
import type { Side } from '../../src/hire/side.ts';
import { decodeCustomFields } from '../../src/mapping/decode-custom-fields.ts';
import { type PairState, readPairStates, UNKNOWN_PAIR } from '../../src/store/exchange-pairs.ts';
import type { FieldConflictRow } from '../../src/store/exchange-tables.ts';
import { openConflicts } from '../../src/store/field-conflicts.ts';
import type { LinkedPair } from '../../src/store/linked-pairs.ts';
import type { ExchangeContext } from './exchange-context.ts';
import type { FetchedRecord } from './fetch-people.ts';
import { isWithoutJob, type JobRecords, readHired, readJobRecords } from './read-hired.ts';
import { type HeldRecord, readSides } from './read-sides.ts';

/** One pair as both sides were just read, and what is to be written. */
export interface ReadPair {
  pair: LinkedPair;
  state: PairState;
  open: readonly FieldConflictRow[];
  found:
    | {
        plan: PairPlan;
        bases: Record<string, string>;
        /** The day from which an employee's new values count. */
        from: string;
      }
    | { missing: Side }
    | { unreadable: string }
    | { settles: true };
}

/**
 * Reads both sides of some pairs. What is known of them is read afterwards, so that a write that ended after the
 * reading began is never missed.
 */
export async function readPairs(context: ExchangeContext, pairs: readonly LinkedPair[]): Promise<ReadPair[]> {
  // A call for nobody is refused.
  if (pairs.length === 0) return [];
  const { deps, key } = context;
  const { readAt, partner, hris } = await readSides(deps.store, context, pairs);
  const ids = pairs.map(({ pairId }) => pairId);
  const states = await readPairStates(deps.store, key, ids);
  const open = Map.groupBy(await openConflicts(deps.store, key, ids), (row) => row.pair_id);
  const jobs = await readJobRecords(context, partner);
  const read: ReadPair[] = [];
  for (const [index, pair] of pairs.entries()) {
    const known = { pair, state: states.get(pair.pairId) ?? UNKNOWN_PAIR, open: open.get(pair.pairId) ?? [] };
    const shown = { readAt, jobs, fetched: partner[index] ?? {}, held: hris[index] };
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
  fetched: FetchedRecord;
  held: HeldRecord | undefined;
}

function judge(
  { mapping, defined, full }: ExchangeContext,
  { pair, state, open }: Known,
  { readAt, jobs, fetched, held }: Shown,
  hired: Record<string, string>,
): ReadPair['found'] {
  if (fetched.unreadable !== undefined) return { unreadable: fetched.unreadable };
  if (fetched.sources === undefined) return { missing: 'partner' };
  if (held === undefined) return { missing: 'hris' };
  const job = fetched.jobId === undefined ? undefined : jobs.get(fetched.jobId);
  const sources = decodeCustomFields({ ...fetched.sources, ...(job && { job }) }, defined);
  const isOver = amendsOnly(mapping) && (held.former === true || isWithoutJob(mapping, job));
  const seen = isOver ? [] : seeFields(mapping, pair.pairId, sources, held.fields);
  const bases = { ...hired, ...arrivedBases(seen, state) };
  const plan = planPair(seen, { bases, open: open.filter((row) => !full || row.kind === 'held'), defined });
  return { bases, plan, from: amendedFrom(dayOf(readAt), held.fields, fieldsToWrite(plan.toHris)) };
}
