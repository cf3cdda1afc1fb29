import { isDeepStrictEqual } from 'node:util';
import { giversFirst } from '../../src/exchange/givers-first.ts';
import { TAKEN } from '../../src/exchange/plan-pair.ts';
import type { Side } from '../../src/hire/side.ts';
import { countMarked, savePair } from '../../src/store/exchange-pairs.ts';
import type { PairCounts } from '../../src/store/exchange-runs.ts';
import { settleConflicts } from '../../src/store/field-conflicts.ts';
import { addHints } from '../../src/store/hints.ts';
import { findRefusedPairs } from '../../src/store/left-out-pairs.ts';
import { countPairs, type LinkedPair } from '../../src/store/linked-pairs.ts';
import { readStreamState } from '../../src/store/stream-states.ts';
import { type Excess, judgeMissing, noJobsListed } from '../../src/streams/change-limits.ts';
import { stopAt } from '../streams/reading.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { scopeOf } from './open-context.ts';
import { type ReadPair, readPairs } from './read-pairs.ts';
import { areFewWith, assertWithinLimits } from './within-limits.ts';
import {
  busyIn,
  doneIn,
  findingsOf,
  isBusy,
  type PlannedPair,
  plannedIn,
  type WrittenPair,
  writePairs,
} from './write-pairs.ts';

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

/** A pair one side of which was not found, and that this run has not marked yet. */
type MissingPair = Pick<ReadPair, 'pair' | 'state' | 'readAt'> & { side: Side };

function newlyMissing({ runId }: Pick<ExchangeContext, 'runId'>, read: readonly ReadPair[]): MissingPair[] {
  return read.flatMap(({ pair, state, readAt, found }) => {
    if (!('missing' in found) || state.isGone) return [];
    const side = found.missing;
    const isMarked = state.missing_side === side && state.missing_run === runId;
    return isMarked ? [] : [{ pair, state, readAt, side }];
  });
}

/**
 * A side that shows nobody for a while, during two runs, would end the exchange: pairs that are gone are not read any
 * more. @throws ConnectorError ZERO_ROWS, MASS_DELETE
 */
async function assertFewMissing(context: ExchangeContext, missing: readonly MissingPair[]): Promise<void> {
  if (missing.length === 0) return;
  const { deps, key, runId } = context;
  const known = await countPairs(deps.store, scopeOf(context), runId);
  for (const side of ['partner', 'hris'] as const) {
    const news = missing.filter((one) => one.side === side).length;
    if (news === 0) continue;
    if (side === 'partner' && (await listsNoJobs(context))) await stop(context, noJobsListed(known), news);
    const marked = await countMarked(deps.store, key, { side, runId });
    const excess = judgeMissing(news + marked, known, side);
    if (excess !== undefined) await stop(context, excess, news);
  }
}

async function listsNoJobs({ entity, jobs }: ExchangeContext): Promise<boolean> {
  return entity === 'job' && (await jobs.read()).isEmpty;
}

async function stop({ deps, key }: ExchangeContext, { code, message }: Excess, held: number): Promise<void> {
  const state = await readStreamState(deps.store, key);
  await stopAt({ deps, key, state }, { code, message }, held);
}

/**
 * One look proves nothing: a pair is gone once a later run misses the same record. An HR system that shows changes late
 * must have had the time to show somebody who is new there. The other side is left as it is.
 */
async function noteMissing(
  { deps, key, runId, connection }: ExchangeContext,
  { pair: { pairId }, state, readAt, side }: MissingPair,
): Promise<void> {
  const isGone = state.missing_side === side;
  const { readLagMs, shownWithinMs = readLagMs } = connection.hris.capabilities;
  if (isGone && side === 'hris' && readAt < state.updated_at + shownWithinMs) return;
  await savePair(deps.store, key, { pairId, version: state.version, missing: { side, runId }, isGone });
}

/** Pairs whose values are sent one pair after the other: so many are sent soon after they were read. */
const SOON = 10;

/**
 * Writes what the plans say. No API here writes under a condition, so an edit that somebody makes between our reading
 * and our write is overwritten and never seen. Where both sides own a field, what was read some time ago is therefore
 * read and decided again directly before it is written; `check` sees all pairs as they were read last, before anything
 * of it is. Returns the pairs as they were read last.
 */
async function writeFresh(
  context: ExchangeContext,
  first: readonly ReadPair[],
  { isListOld, check }: { isListOld: boolean; check: (read: readonly ReadPair[]) => Promise<void> },
): Promise<{ read: ReadPair[]; written: WrittenPair[] }> {
  const busy = giversFirst(busyIn(plannedIn(first)));
  const later = writtenLater(context, busy, isListOld);
  const now = busy.filter((one) => !later.includes(one));
  const written = now.length === 0 ? [] : await writePairs(context, now);
  const again = new Map<string, ReadPair>();
  const latest = (): ReadPair[] => first.map((one) => again.get(one.pair.pairId) ?? one);
  const size = context.entity === 'job' ? later.length : SOON;
  for (let from = 0; from < later.length; from += size) {
    context.jobs.forget();
    const pairs = later.slice(from, from + size).map(({ pair }) => pair);
    const read = await readPairs(context, pairs);
    for (const one of read) again.set(one.pair.pairId, one);
    await check(latest());
    const some = busyIn(plannedIn(read));
    if (some.length === 0) continue;
    await assertWithinLimits(context, some);
    written.push(...(await writePairs(context, some)));
  }
  return { read: latest(), written };
}

/** Jobs are listed once for many pages; people are written one after the other, but for values sent in bulk. */
function writtenLater(context: ExchangeContext, busy: readonly PlannedPair[], isListOld: boolean): PlannedPair[] {
  const shared = new Set(
    context.mapping.back.filter(({ rule }) => rule.owner === 'either').map(({ target }) => target),
  );
  const isShared = ({ field }: { field: string }): boolean => shared.has(field);
  if (context.entity === 'job') return isListOld ? busy.filter(({ plan }) => plan.toPartner.some(isShared)) : [];
  const isSlow = ({ plan }: PlannedPair): boolean =>
    plan.toHris.some(isShared) || plan.toPartner.some((one) => 'property' in one.at && isShared(one));
  return busy.filter(isSlow).slice(SOON);
}
