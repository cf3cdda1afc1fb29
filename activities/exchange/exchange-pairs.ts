import { amendsOnly } from '../../src/exchange/amendments.ts';
import { sumOfTallies, type Tally, type WrittenPairs, withoutAllowed } from '../../src/exchange/pair-limits.ts';
import { type HoldCode, holdOf } from '../../src/hire/holds.ts';
import { commitPairs, forgetAllowed, type PairCounts } from '../../src/store/exchange-runs.ts';
import { countUndecided } from '../../src/store/field-conflicts.ts';
import { addHints, clearHints, type Hint, readHints } from '../../src/store/hints.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import { findPairs, type LinkedPair, listPairs } from '../../src/store/linked-pairs.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import { completeExchange } from '../../src/store/stream-states.ts';
import type { StreamMode } from '../../src/store/stream-tables.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import type { ExchangeInput, ExchangeStep } from '../../src/streams/stream-activities.ts';
import type { ActivityDeps } from '../deps.ts';
import { type Beat, inRun } from '../streams/in-run.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { exchangePage, type PageResult } from './exchange-page.ts';
import { openContext, scopeOf } from './open-context.ts';
import { assertSurveyed, beginsWithSurvey, type Survey, surveyOf, surveyPairs } from './within-limits.ts';

/** Pairs read together. */
export const PAGE_SIZE = 100;
/** One activity reads for so long: few events of history, and a deploy need not wait. */
const BATCH_MS = 30_000;
/** A run takes up so many hints; the others are for the next. */
const MOST_HINTS = 1_000;
const NONE: PairCounts = { unchanged: 0, updated: 0, skipped: 0, quarantined: 0, held: 0 };
const NOTHING: PageResult = { counts: NONE, again: [] };

/** A run under way, and what was asked for. */
interface Asked {
  run: StreamRow;
  input: ExchangeInput;
  beat: Beat;
}

/** What became of the pairs that were read; more hints may be left. */
interface Taken {
  counts: PairCounts;
  isOver: boolean;
}

/**
 * One step of a run over a tenant's linked pairs: first those that somebody hinted at, then, unless the run is for them
 * alone, all of them from the store's cursor on, which moves once a page is written.
 */
export function exchangePairs(
  deps: ActivityDeps,
  input: ExchangeInput,
  beat: Beat = () => undefined,
): Promise<ExchangeStep> {
  return inRun<ExchangeStep>(deps, input, {
    begins: async () => ({ full: input.full, firstPage: 0, mode: await modeOf(deps, input) }),
    stepOf,
    work: async (connection, run) => exchangeOn(await openContext(deps, connection, input), { run, input, beat }),
  });
}

/** A hint that names no record is about all of them. */
async function modeOf(
  { store }: ActivityDeps,
  { tenantId, stream, mode = 'full' }: ExchangeInput,
): Promise<StreamMode> {
  if (mode !== 'incremental') return mode;
  const hints = await readHints(store, tenantId, stream, MOST_HINTS);
  return hints.some(({ recordId }) => recordId === WHOLE_LIST) ? 'full' : mode;
}

async function exchangeOn(context: ExchangeContext, asked: Asked): Promise<ExchangeStep> {
  const { mode } = asked.run;
  const run = (mode ?? 'full') === 'full' ? await takeAll(context, asked) : await takeSome(context, asked);
  if (run === undefined) return { state: 'superseded' };
  if (run.state !== 'running') await endRun(context, run);
  return stepOf(run);
}

async function takeAll(context: ExchangeContext, { run: begun, beat }: Asked): Promise<StreamRow | undefined> {
  const end = performance.now() + BATCH_MS;
  if (begun.cursor === null) {
    await takeHints(context, beat);
    // What was written by then is not to be judged by what was read before.
    context.jobs.forget();
  }
  let run: StreamRow | undefined = begun;
  if (begun.cursor === null && begun.tally === null && (await beginsWithSurvey(context)))
    run = await beginSurvey(context, begun);
  while (run?.state === 'running' && performance.now() < end) run = await takePage(context, run, beat);
  return run;
}

/** The pairs of all hints, or of one record; what settles still keeps its hint, for a later run. */
async function takeSome(context: ExchangeContext, { run, input, beat }: Asked): Promise<StreamRow | undefined> {
  const { deps, key, runId } = context;
  const { counts, isOver } =
    run.mode === 'one' ? await takeOne(context, input.recordId ?? '') : await takeHints(context, beat);
  return commitPairs(deps.store, key, runId, { cursor: null, counts, isOver });
}

async function takeOne(context: ExchangeContext, recordId: string): Promise<Taken> {
  const pairs = await findPairs(context.deps.store, scopeOf(context), [recordId]);
  const { counts, again } = (await exchangePage(context, pairs, { isSurveyed: true })) ?? NOTHING;
  await hintAgain(context, again);
  // Nobody who is linked has this id.
  const skipped = counts.skipped + (pairs.length === 0 ? 1 : 0);
  return { counts: { ...counts, skipped }, isOver: true };
}

/** Whoever must decide is asked once, and not any more when nothing is left to decide. */
async function endRun(context: ExchangeContext, run: StreamRow): Promise<void> {
  const { store, log } = context.deps;
  const { key } = context;
  const { tenantId, stream } = key;
  const code = holdCodeOf(context);
  const count = await countUndecided(store, key);
  if (count > 0) await openHold(store, { tenantId, ...holdOf(code, { stream, count }) });
  else await closeTenantHolds(store, tenantId, code);
  const isWhole = (run.mode ?? 'full') === 'full';
  if (isWhole) await endAllowance(context, await completeExchange(store, key, context.mapping.hash));
  log.info({ ...key, ...stepOf(run) }, 'stream exchanged');
}

/** What a person allowed is no news for the next run. */
async function endAllowance({ deps, key }: ExchangeContext, codes: readonly string[]): Promise<void> {
  if (codes.length === 0) return;
  await forgetAllowed(deps.store, key, (tally) =>
    JSON.stringify(withoutAllowed(JSON.parse(tally) as WrittenPairs, codes)),
  );
}

/** One for each stream that asks, because of each reason one hold of a tenant is open. */
function holdCodeOf({ mapping, entity }: ExchangeContext) {
  if (amendsOnly(mapping)) return 'AMENDMENTS' satisfies HoldCode;
  return (entity === 'job' ? 'POSITION_CONFLICTS' : 'FIELD_CONFLICTS') satisfies HoldCode;
}

/** The next pairs in the order of their ids. A run over a company without links is over at once. */
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

/** After the last page the run goes back to where its survey began, unless it would write too much. */
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

/** Hints stay until their pairs are read; a pair that settles keeps its hint. A whole pass counts them itself. */
async function takeHints(context: ExchangeContext, beat: Beat): Promise<Taken> {
  const { deps, key } = context;
  const hints = await readHints(deps.store, key.tenantId, key.stream, MOST_HINTS);
  const pairsOf = (some: readonly Hint[]) => {
    const ids = some.map(({ recordId }) => recordId);
    return findPairs(deps.store, scopeOf(context), ids);
  };
  let total = NONE;
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
    total = sumOf(total, counts);
    const kept = new Set(again.flatMap(({ pairId, partnerId }) => [pairId, partnerId]));
    const done = some.filter((hint: Hint) => !kept.has(hint.recordId));
    await clearHints(deps.store, key.tenantId, key.stream, done);
    cleared += done.length;
    beat({ hints: from + some.length });
  }
  return { counts: total, isOver: hints.length < MOST_HINTS || cleared === 0 };
}

/** Looks at the pairs of all hints that are left before any of them is written. */
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

function sumOf(one: PairCounts, other: PairCounts): PairCounts {
  return {
    unchanged: one.unchanged + other.unchanged,
    updated: one.updated + other.updated,
    skipped: one.skipped + other.skipped,
    quarantined: one.quarantined + other.quarantined,
    held: one.held + other.held,
  };
}

async function hintAgain({ deps, key }: ExchangeContext, pairs: readonly LinkedPair[]): Promise<void> {
  await addHints(
    deps.store,
    key.tenantId,
    key.stream,
    pairs.map(({ pairId }) => pairId),
  );
}

function stepOf(run: StreamRow): ExchangeStep {
  const { state, seen: read, unchanged, updated, skipped, quarantined, held, refused_code } = run;
  const counts = { read, unchanged, updated, skipped, quarantined, held };
  return { state, counts, ...(refused_code === null ? {} : { code: refused_code }) };
}
