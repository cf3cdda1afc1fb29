import pLimit from 'p-limit';
import { arrivedBases, type PairPlan, planPair } from '../../src/exchange/plan-pair.ts';
import { seeFields } from '../../src/exchange/see-fields.ts';
import type { Side } from '../../src/hire/side.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { decodeCustomFields } from '../../src/mapping/decode-custom-fields.ts';
import { type LinkedPair, type PairState, readPairStates, UNKNOWN_PAIR } from '../../src/store/exchange-pairs.ts';
import type { FieldConflictRow } from '../../src/store/exchange-tables.ts';
import { openConflicts } from '../../src/store/field-conflicts.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import { type Fetched, fetchJobCandidates } from '../presence/fetch-job-candidates.ts';
import type { ExchangeContext } from './exchange-context.ts';

/** Employees read at the same time. */
const AT_ONCE = 8;
const READ_MS = 30_000;

/** One pair as both sides were just read, and what is to be written. */
export interface ReadPair {
  pair: LinkedPair;
  state: PairState;
  open: readonly FieldConflictRow[];
  found:
    | { plan: PairPlan; bases: Record<string, string> }
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
  const [fetched, employees] = await Promise.all([
    fetchJobCandidates(
      connection,
      pairs.map(({ jobCandidateId }) => jobCandidateId),
      'bulk',
    ),
    Promise.all(
      pairs.map(({ pairId }) => limit(() => connection.hris.employees.read(pairId, AbortSignal.timeout(READ_MS)))),
    ),
  ]);
  const ids = pairs.map(({ pairId }) => pairId);
  const states = await readPairStates(deps.store, key, ids);
  const open = Map.groupBy(await openConflicts(deps.store, key, ids), (row) => row.pair_id);
  return pairs.map((pair, index) => {
    const known = { pair, state: states.get(pair.pairId) ?? UNKNOWN_PAIR, open: open.get(pair.pairId) ?? [] };
    if (readAt <= known.state.settles_at) return { ...known, found: { settles: true } };
    return { ...known, found: judge(context, known, fetched[index] ?? {}, employees[index]) };
  });
}

function judge(
  { mapping, defined, full }: ExchangeContext,
  { pair, state, open }: Omit<ReadPair, 'found'>,
  { jobCandidate, unreadable }: Fetched,
  employee: EmployeeRecord | undefined,
): ReadPair['found'] {
  if (unreadable !== undefined) return { unreadable };
  if (jobCandidate === undefined) return { missing: 'partner' };
  if (employee === undefined) return { missing: 'hris' };
  const { candidate_details: candidate } = jobCandidate;
  // Without the profile every field of it would read as emptied.
  if (candidate === null || candidate === undefined) return { unreadable: 'it shows no candidate_details' };
  const sources = decodeCustomFields({ candidate, jobCandidate }, defined);
  const seen = seeFields(mapping, pair.pairId, sources, employee.fields);
  const bases = arrivedBases(seen, state);
  return { bases, plan: planPair(seen, { bases, open: open.filter((row) => !full || row.kind === 'held'), defined }) };
}
