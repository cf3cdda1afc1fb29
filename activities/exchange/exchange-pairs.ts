import { isDeepStrictEqual } from 'node:util';
import { sumOfTallies, type Tally, type WrittenPairs, withoutAllowed } from '../../src/exchange/pair-limits.ts';
import { giversFirst, TAKEN } from '../../src/exchange/plan-pair.ts';
import { amendsOnly } from '../../src/exchange/see-fields.ts';
import type { Side } from '../../src/hire/hire.ts';
import { holdOf } from '../../src/hire/holds.ts';
import { commitPairs, countMarked, forgetAllowed, type PairCounts, savePair } from '../../src/store/exchange-pairs.ts';
import { countUndecided, hasUndecided, settleConflicts } from '../../src/store/field-conflicts.ts';
import { addHints, clearHints, type Hint } from '../../src/store/hints.ts';
import { askAnew, closeTenantHolds, openHold, readHold } from '../../src/store/holds.ts';
import { countPairs, findPairs, findRefusedPairs, type LinkedPair, listPairs } from '../../src/store/linked-pairs.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import { completeExchange, readStreamState } from '../../src/store/streams.ts';
import { type Excess, judgeMissing, noJobsListed } from '../../src/streams/change-limits.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import type { ExchangeInput, ExchangeStep } from '../../src/streams/stream-activities.ts';
import type { ActivityDeps } from '../connections.ts';
import { type Beat, inRun, readShownHints, stopAt } from '../streams/reading.ts';
import { forgetUnlinked, noteUnread, type ReadPair, readPairs } from './read-pairs.ts';
import { type ExchangeContext, openContext, scopeOf } from './read-sides.ts';
import {
  areFewWith,
  assertSurveyed,
  assertWithinLimits,
  beginsWithSurvey,
  busyIn,
  closeRenewed,
  doneIn,
  findingsOf,
  isBusy,
  leftPairs,
  type PlannedPair,
  plannedIn,
  type Survey,
  surveyPairs,
  type WrittenPair,
  writePairs,
} from './write-pairs.ts';

/** Pairs per page. */
export const PAGE_SIZE = 100;
/** One activity works this long: short enough that a deploy need not wait, long enough to keep the history small. */
const BATCH_MS = 30_000;
/** Most hints per run; the next run takes the rest. */
const MOST_HINTS = 1_000;
const NONE: PairCounts = { unchanged: 0, updated: 0, skipped: 0, quarantined: 0, held: 0 };
const NOTHING: PageResult = { counts: NONE, again: [] };

/** Outcome of the pairs that were read. `isOver` is false if more hints may be left. */
interface Taken {
  counts: PairCounts;
  isOver: boolean;
}

/**
 * One step of a run over a tenant's linked pairs. It first takes the pairs with hints and then, unless the run is for
 * hints only, all pairs from the stored cursor on. The cursor moves once a page is written.
 */
export function exchangePairs(
  deps: ActivityDeps,
  input: ExchangeInput,
  beat: Beat = () => undefined,
): Promise<ExchangeStep> {
  return inRun<ExchangeStep>(deps, input, {
    async begins() {
      const { tenantId, stream, full, mode = 'full' } = input;
      const key = { tenantId, stream };
      const hints = mode === 'incremental' ? await readShownHints({ deps, key }, MOST_HINTS) : [];
      // A hint without a record id asks for all pairs, so the run becomes a full run.
      const isWhole = hints.some(({ recordId }) => recordId === WHOLE_LIST);
      return { full, firstPage: 0, mode: isWhole ? 'full' : mode };
    },
    stepOf,
    async work(connection, begun) {
      const context = await openContext(deps, connection, input);
      const isWhole = (begun.mode ?? 'full') === 'full';
      const run = isWhole
        ? await takeAll(context, begun, beat)
        : await commitPairs(deps.store, context.key, context.runId, {
            ...(begun.mode === 'one' ? await takeOne(context, input.recordId ?? '') : await takeHints(context, beat)),
            cursor: null,
          });
      if (run === undefined) return { state: 'superseded' };
      if (run.state === 'running') return stepOf(run);
      await endRun(context, run);
      return { ...stepOf(run), ...(await leftPairs(context, run)) };
    },
  });
}

async function takeAll(context: ExchangeContext, begun: StreamRow, beat: Beat): Promise<StreamRow | undefined> {
  const end = performance.now() + BATCH_MS;
  if (begun.cursor === null) {
    await takeHints(context, beat);
    // The job list was read before these writes, so the pages that follow must not use it.
    context.jobs.forget();
  }
  let run: StreamRow | undefined = begun;
  if (begun.cursor === null && begun.tally === null && (await beginsWithSurvey(context)))
    run = await beginSurvey(context, begun);
  while (run?.state === 'running' && performance.now() < end) run = await takePage(context, run, beat);
  return run;
}

async function takeOne(context: ExchangeContext, recordId: string): Promise<Taken> {
  const pairs = await findPairs(context.deps.store, scopeOf(context), [recordId]);
  const { counts, again } = (await exchangePage(context, pairs, { isSurveyed: true })) ?? NOTHING;
  await hintAgain(context, again);
  // No linked pair has this id.
  const skipped = counts.skipped + (pairs.length === 0 ? 1 : 0);
  return { counts: { ...counts, skipped }, isOver: true };
}

async function endRun(context: ExchangeContext, run: StreamRow): Promise<void> {
  const { store, log } = context.deps;
  const { key } = context;
  await askAboutConflicts(context);
  if ((run.mode ?? 'full') === 'full') {
    await forgetUnlinked(context);
    // Clears a person's permission, so that the next run asks again about new changes.
    const codes = await completeExchange(store, key, context.mapping.hash);
    const withoutThese = (tally: string): string =>
      JSON.stringify(withoutAllowed(JSON.parse(tally) as WrittenPairs, codes));
    if (codes.length > 0) await forgetAllowed(store, key, withoutThese);
  }
  log.info({ ...key, ...stepOf(run) }, 'stream exchanged');
}

/** Takes the next pairs in the order of their ids. A run of a company without links ends at once. */
async function takePage(context: ExchangeContext, run: StreamRow, beat: Beat): Promise<StreamRow | undefined> {
  const { deps, key, runId } = context;
  const pairs = await listPairs(deps.store, scopeOf(context), run.cursor, PAGE_SIZE);
  const survey = surveyOf(run);
  if (survey?.isOver === false) return lookAtPage(context, { pairs, survey, beat });
  const result = await exchangePage(context, pairs, { isSurveyed: survey !== undefined });
  if (result === undefined) return beginSurvey(context, run);
  await hintAgain(context, result.again);
  const isOver = pairs.length < PAGE_SIZE;
  const cursor = pairs.at(-1)?.pairId ?? run.cursor;
  const next = await commitPairs(deps.store, key, runId, { cursor, counts: result.counts, isOver });
  beat({ cursor: next?.cursor, seen: next?.seen });
  return next;
}

function beginSurvey({ deps, key, runId }: ExchangeContext, { cursor }: StreamRow): Promise<StreamRow | undefined> {
  const survey: Survey = { from: cursor, counts: {}, isOver: false };
  return commitPairs(deps.store, key, runId, { cursor, counts: NONE, isOver: false, survey: JSON.stringify(survey) });
}

/** After the survey's last page the run returns to where the survey began, unless it would write too much. */
async function lookAtPage(
  context: ExchangeContext,
  { pairs, survey, beat }: { pairs: readonly LinkedPair[]; survey: Survey; beat: Beat },
): Promise<StreamRow | undefined> {
  const { deps, key, runId } = context;
  const counts = sumOfTallies(survey.counts, await surveyPairs(context, pairs, 'all'));
  const last = pairs.at(-1);
  const isOver = pairs.length < PAGE_SIZE || last === undefined;
  if (isOver) {
    await assertSurveyed(context, counts);
    context.jobs.forget();
  }
  const cursor = isOver ? survey.from : last.pairId;
  const next = JSON.stringify({ ...survey, counts, isOver } satisfies Survey);
  const run = await commitPairs(deps.store, key, runId, { cursor, counts: NONE, isOver: false, survey: next });
  beat({ survey: run?.cursor });
  return run;
}

/**
 * A hint stays until its pair is read; a pair that settles keeps its hint. A full run counts these pairs in its own
 * pass.
 */
async function takeHints(context: ExchangeContext, beat: Beat): Promise<Taken> {
  const { deps, key } = context;
  const hints = await readShownHints(context, MOST_HINTS);
  const pairsOf = (some: readonly Hint[]) => {
    const ids = some.map(({ recordId }) => recordId);
    return findPairs(deps.store, scopeOf(context), ids);
  };
  const total = { ...NONE };
  let cleared = 0;
  let isSurveyed = false;
  for (let from = 0; from < hints.length; from += PAGE_SIZE) {
    const some = hints.slice(from, from + PAGE_SIZE);
    const pairs = await pairsOf(some);
    let result = await exchangePage(context, pairs, { isSurveyed });
    if (result === undefined) {
      await surveyHints(context, hints.slice(from), pairsOf);
      isSurveyed = true;
      result = (await exchangePage(context, pairs, { isSurveyed })) ?? NOTHING;
    }
    const { counts, again } = result;
    for (const kind of Object.keys(NONE) as (keyof PairCounts)[]) total[kind] += counts[kind];
    const kept = new Set(again.flatMap(({ pairId, partnerId }) => [pairId, partnerId]));
    const done = some.filter((hint: Hint) => !kept.has(hint.recordId));
    await clearHints(deps.store, key.tenantId, key.stream, done);
    cleared += done.length;
    beat({ hints: from + some.length });
  }
  return { counts: total, isOver: hints.length < MOST_HINTS || cleared === 0 };
}

/** Surveys the pairs of all remaining hints before any of them is written. */
async function surveyHints(
  context: ExchangeContext,
  hints: readonly Hint[],
  pairsOf: (some: readonly Hint[]) => Promise<LinkedPair[]>,
): Promise<void> {
  let counts: Tally = {};
  for (let from = 0; from < hints.length; from += PAGE_SIZE) {
    const pairs = await pairsOf(hints.slice(from, from + PAGE_SIZE));
    counts = sumOfTallies(counts, await surveyPairs(context, pairs, 'some'));
  }
  await assertSurveyed(context, counts);
  context.jobs.forget();
}

async function hintAgain({ deps, key }: ExchangeContext, pairs: readonly LinkedPair[]): Promise<void> {
  const ids = pairs.map(({ pairId }) => pairId);
  await addHints(deps.store, key.tenantId, key.stream, ids);
}

function stepOf(run: StreamRow): ExchangeStep {
  const { state, seen: read, unchanged, updated, skipped, quarantined, held, refused_code } = run;
  const counts = { read, unchanged, updated, skipped, quarantined, held };
  return { state, counts, ...(refused_code === null ? {} : { code: refused_code }) };
}

/** Outcome of one page of pairs. */
interface PageResult {
  counts: PairCounts;
  /** Pairs to be read again soon. */
  again: LinkedPair[];
}

/**
 * Reads some pairs and carries the edits of either side to the other. Returns undefined and writes nothing if that
 * means more than a few writes and the rest has not been surveyed yet.
 */
async function exchangePage(
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
  await noteUnread(context, read);
  await hintTakers(context, written);
  const failed = written.find(({ unknown }) => unknown !== undefined);
  const result = resultOf(read, planned, written);
  if (failed !== undefined) context.deps.log.warn({ ...context.key, err: failed.unknown }, 'a write is in doubt');
  return result;
}

/** Once a record gives up a unique value, pairs that were refused that value are read again soon. */
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
    // The pair was gone before and still is: it counts as nothing.
    if (state.isGone && 'missing' in found) continue;
    const kind = kindOf(plans.get(pair.pairId), byPair.get(pair.pairId), { state, found });
    counts[kind] += 1;
    const isBrief = 'unreadable' in found && found.isBrief === true;
    if (isBrief || 'settles' in found || (kind === 'skipped' && !('missing' in found))) again.push(pair);
  }
  return { counts, again };
}

/** A pair counts once, by its worst finding. */
function kindOf(
  planned: PlannedPair | undefined,
  written: WrittenPair | undefined,
  { state, found }: Pick<ReadPair, 'state' | 'found'>,
): keyof PairCounts {
  if ('unreadable' in found) return 'quarantined';
  // The pair was written a moment ago and reads may lag: it counts as unchanged and is read again soon.
  if ('settles' in found && Object.keys(state.sent).length === 0) return 'unchanged';
  if (planned === undefined) return 'skipped';
  const busy = isBusy(planned);
  if (busy && (written === undefined || written.unknown !== undefined || written.stale.size > 0)) return 'skipped';
  const findings = written === undefined ? planned.plan.findings : findingsOf(written);
  if (findings.some(({ kind }) => kind === 'quarantined')) return 'quarantined';
  if (findings.some(({ kind }) => kind === 'held')) return 'held';
  return busy ? 'updated' : 'unchanged';
}

/** Saves what both sides agree on if nothing needs to be written; skips it if the store already knows. */
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
    await closeRenewed(deps.store, key, { pair, open, renewed });
    const bases = { ...before, ...plan.agreed };
    const { version } = state;
    const change = { pairId, version, bases, identities, sent: {}, echoes, missing: null, isGone: false };
    if (!(await savePair(deps.store, key, change))) return;
  }
  await settleConflicts(deps.store, { ...key, pairId }, { open, renewed }, plan.findings);
}

/** A pair with a missing side that this run has not marked yet. */
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
 * Stops the run if too many pairs are missing. A side that shows nobody during two runs would otherwise end the
 * exchange, because pairs that count as gone are not read again.
 * @throws ConnectorError ZERO_ROWS, MASS_DELETE
 */
async function assertFewMissing(context: ExchangeContext, missing: readonly MissingPair[]): Promise<void> {
  if (missing.length === 0) return;
  const { deps, key, runId } = context;
  const known = await countPairs(deps.store, scopeOf(context), runId);
  for (const side of ['partner', 'hris'] as const) {
    const news = missing.filter((one) => one.side === side).length;
    if (news === 0) continue;
    const isOfJobs = side === 'partner' && context.entity === 'job';
    if (isOfJobs && (await context.jobs.read()).isEmpty) await stop(context, noJobsListed(known), news);
    const marked = await countMarked(deps.store, key, { side, runId });
    const excess = judgeMissing(news + marked, known, side);
    if (excess !== undefined) await stop(context, excess, news);
  }
}

async function stop({ deps, key }: ExchangeContext, { code, message }: Excess, held: number): Promise<void> {
  const state = await readStreamState(deps.store, key);
  await stopAt({ deps, key, state }, { code, message }, held);
}

/**
 * Marks a pair as missing, and as gone once a later run misses the same record: one reading proves nothing. If the HR
 * system shows changes late, its lag must have passed too. The other side is not touched.
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

/** Of pairs that are written one after the other, this many are written soon enough after reading. */
const SOON = 10;

/**
 * Carries out the plans. No API here has conditional writes, so an edit between our reading and our write is
 * overwritten unseen. If both sides own a field, a pair read some time ago is therefore read and decided again just
 * before its write, and so is every pair of a page that took long to read. `check` sees the latest reading of all
 * pairs before any of them is written. Returns that reading.
 */
async function writeFresh(
  context: ExchangeContext,
  first: readonly ReadPair[],
  { isListOld, check }: { isListOld: boolean; check: (read: readonly ReadPair[]) => Promise<void> },
): Promise<{ read: ReadPair[]; written: WrittenPair[] }> {
  const busy = giversFirst(busyIn(plannedIn(first)));
  // A reading that took long would be too old to be written from.
  const isOld = busy.some(({ sinceRead }) => sinceRead() > context.deps.limits.giveUpMs);
  const later = isOld ? busy : writtenLater(context, busy, isListOld);
  const now = busy.filter((one) => !later.includes(one));
  const written = now.length === 0 ? [] : await writePairs(context, now);
  const again = new Map<string, ReadPair>();
  const latest = (): ReadPair[] => first.map((one) => again.get(one.pair.pairId) ?? one);
  const size = context.entity === 'job' && !isOld ? later.length : SOON;
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

/**
 * Pairs to read again before writing: one job list serves many pages, and people are written one by one except for
 * values sent in bulk.
 */
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

/**
 * Opens the tenant's hold if conflicts wait for a decision, and closes it once none do. A hold whose own conflicts are
 * all settled asks anew about those found since: no answer to it would decide them.
 */
async function askAboutConflicts(context: ExchangeContext): Promise<void> {
  const { store } = context.deps;
  const { tenantId, stream } = context.key;
  // Each stream has its own code, because a tenant has at most one open hold per code.
  const conflicts = context.entity === 'job' ? 'POSITION_CONFLICTS' : 'FIELD_CONFLICTS';
  const code = amendsOnly(context.mapping) ? 'AMENDMENTS' : conflicts;
  const count = await countUndecided(store, context.key);
  if (count === 0) return closeTenantHolds(store, tenantId, code);
  const hold = { tenantId, ...holdOf(code, { stream, count }) };
  const { holdId, fresh } = await openHold(store, hold);
  const askedAt = Number((await readHold(store, holdId))?.opened_at);
  if (!fresh && !(await hasUndecided(store, { tenantId, stream, askedAt }))) await askAnew(store, holdId, hold);
}

function surveyOf({ tally }: Pick<StreamRow, 'tally'>): Survey | undefined {
  return tally === null ? undefined : (JSON.parse(tally) as Survey);
}
