import { isDeepStrictEqual } from 'node:util';
import { TAKEN } from '../../src/exchange/plan-pair.ts';
import { savePair } from '../../src/store/exchange-pairs.ts';
import type { PairCounts } from '../../src/store/exchange-runs.ts';
import { settleConflicts } from '../../src/store/field-conflicts.ts';
import { addHints } from '../../src/store/hints.ts';
import { findRefusedPairs } from '../../src/store/left-out-pairs.ts';
import type { LinkedPair } from '../../src/store/linked-pairs.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { assertFewMissing, newlyMissing, noteMissing } from './note-missing.ts';
import { type ReadPair, readPairs } from './read-pairs.ts';
import { areFewWith, assertWithinLimits } from './within-limits.ts';
import { writeFresh } from './write-fresh.ts';
import { busyIn, doneIn, findingsOf, isBusy, type PlannedPair, plannedIn, type WrittenPair } from './write-pairs.ts';

/** What became of some pairs. */
export interface PageResult {
  counts: PairCounts;
  /** Pairs to be read again soon. */
  again: LinkedPair[];
}

/**
 * Reads some pairs and brings the edits of either side to the other. Undefined, and nothing is written, where these are
 * more than a few and nobody has surveyed what is left.
 */
export async function exchangePage(
  context: ExchangeContext,
  pairs: readonly LinkedPair[],
  { isSurveyed }: { isSurveyed: boolean },
): Promise<PageResult | undefined> {
  const isListOld = context.jobs.isRead();
  const first = await readPairs(context, pairs);
  const check = (all: readonly ReadPair[]): Promise<void> => assertFewMissing(context, newlyMissing(context, all));
  await check(first);
  const busy = busyIn(plannedIn(first));
  if (!isSurveyed && !(await areFewWith(context, busy))) return undefined;
  if (busy.length > 0) await assertWithinLimits(context, busy);
  const missing = newlyMissing(context, first);
  const { read, written } = await writeFresh(context, first, { isListOld, check });
  const planned = plannedIn(read);
  for (const one of planned.filter((it) => !isBusy(it))) await saveSeen(context, one);
  for (const one of missing) await noteMissing(context, one);
  await hintTakers(context, written);
  const failed = written.find(({ unknown }) => unknown !== undefined);
  const result = resultOf(read, planned, written);
  if (failed !== undefined) context.deps.log.warn({ ...context.key, err: failed.unknown }, 'a write is in doubt');
  return result;
}

/** Whoever was refused a value that somebody else had is tried again soon after one of its field was given up. */
async function hintTakers({ deps, key }: ExchangeContext, written: readonly WrittenPair[]): Promise<void> {
  const fields = [...new Set(written.flatMap(doneIn).map(({ field }) => field))];
  if (fields.length === 0) return;
  const pairIds = await findRefusedPairs(deps.store, key, { fields, codes: TAKEN });
  await addHints(deps.store, key.tenantId, key.stream, pairIds);
}

function resultOf(
  read: readonly ReadPair[],
  planned: readonly PlannedPair[],
  written: readonly WrittenPair[],
): PageResult {
  const counts = { unchanged: 0, updated: 0, skipped: 0, quarantined: 0, held: 0 };
  const again: LinkedPair[] = [];
  const byPair = new Map(written.map((one) => [one.planned.pair.pairId, one]));
  const plans = new Map(planned.map((one) => [one.pair.pairId, one]));
  for (const { pair, state, found } of read) {
    // Gone before, and still gone: nothing of it is left out.
    if (state.isGone && 'missing' in found) continue;
    const kind = kindOf(plans.get(pair.pairId), byPair.get(pair.pairId), { state, found });
    counts[kind] += 1;
    if ('settles' in found || (kind === 'skipped' && !('missing' in found))) again.push(pair);
  }
  return { counts, again };
}

/** A pair counts once, by the worst that is to be said of it. */
function kindOf(
  planned: PlannedPair | undefined,
  written: WrittenPair | undefined,
  { state, found }: Pick<ReadPair, 'state' | 'found'>,
): keyof PairCounts {
  if ('unreadable' in found) return 'quarantined';
  // Written a moment ago, and reads may lag: nothing of it is left out, and it is read again soon.
  if ('settles' in found && Object.keys(state.sent).length === 0) return 'unchanged';
  if (planned === undefined) return 'skipped';
  const busy = isBusy(planned);
  if (busy && (written === undefined || written.unknown !== undefined || written.stale.size > 0)) return 'skipped';
  const findings = written === undefined ? planned.plan.findings : findingsOf(written);
  if (findings.some(({ kind }) => kind === 'quarantined')) return 'quarantined';
  if (findings.some(({ kind }) => kind === 'held')) return 'held';
  return busy ? 'updated' : 'unchanged';
}

/** Saves what both sides agree on where nothing is to be written; nothing where that is known. */
async function saveSeen(
  { deps, key }: ExchangeContext,
  { pair, state, open, plan, bases: before, heard: { echoes }, identities, renewed }: PlannedPair,
): Promise<void> {
  const { pairId } = pair;
  const isFirst = state.version === 0 && Object.keys(before).length > 0;
  const news = Object.entries(plan.agreed).some(([field, form]) => state.bases[field] !== form);
  if (
    isFirst ||
    news ||
    identities !== undefined ||
    !isDeepStrictEqual(echoes, state.echoes) ||
    Object.keys(state.sent).length > 0 ||
    state.missing_side !== null ||
    state.isGone
  ) {
    const bases = { ...before, ...plan.agreed };
    const change = {
      pairId,
      version: state.version,
      bases,
      identities,
      sent: {},
      echoes,
      missing: null,
      isGone: false,
    };
    if (!(await savePair(deps.store, key, change))) return;
  }
  await settleConflicts(deps.store, { ...key, pairId }, { open, renewed }, plan.findings);
}
