import {
  areFew,
  effectsOf,
  judgeTally,
  sumOfTallies,
  type Tally,
  tallyFilled,
  tallyOf,
  type WrittenPairs,
} from '../../src/exchange/pair-limits.ts';
import { recentWrites } from '../../src/store/exchange-pairs.ts';
import { countPairs, type LinkedPair } from '../../src/store/linked-pairs.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import { readStreamState } from '../../src/store/streams.ts';
import { stopAt } from '../streams/reading.ts';
import { type ExchangeContext, scopeOf } from './open-context.ts';
import { readPairs } from './read-pairs.ts';
import { busyIn, type PlannedPair, plannedIn } from './write-pairs.ts';

/**
 * A run that would write more than a few pairs first looks at all remaining pairs and then returns to write, so that it
 * knows whether that is too much before it writes anything.
 */
export interface Survey {
  /** The cursor to return to. */
  from: string | null;
  counts: Tally;
  isOver: boolean;
}

export function surveyOf({ tally }: Pick<StreamRow, 'tally'>): Survey | undefined {
  return tally === null ? undefined : (JSON.parse(tally) as Survey);
}

/** What these pairs add to a survey of all pairs or of some. Writes nothing. */
export async function surveyPairs(
  context: ExchangeContext,
  pairs: readonly LinkedPair[],
  of: 'all' | 'some',
): Promise<Tally> {
  const planned = plannedIn(await readPairs(context, pairs));
  return sumOfTallies(of === 'all' ? tallyFilled(planned) : {}, tallyOf(effectsOf(busyIn(planned))));
}

/**
 * Whether the run must begin with a survey: with another mapping than the last run's, fields may be compared for the
 * first time, and a person must be asked before any of them is written. Not needed for a few pairs.
 */
export async function beginsWithSurvey(context: ExchangeContext): Promise<boolean> {
  const { deps, key, mapping } = context;
  const state = await readStreamState(deps.store, key);
  return state?.mapping_hash !== mapping.hash && !areFew({ 'hris met': await countOf(context) });
}

/** Whether these pairs and those written in the last hour are so few that the remaining pairs need no survey. */
export async function areFewWith(context: ExchangeContext, busy: readonly PlannedPair[]): Promise<boolean> {
  return busy.length === 0 || areFew(tallyOf(...(await earlierWrites(context)), effectsOf(busy)));
}

/**
 * Holds the stream if too much would be written in this run or within an hour.
 * @throws ConnectorError MASS_EMPTIED, MASS_CHANGE, FIRST_MEETING
 */
export async function assertWithinLimits(context: ExchangeContext, busy: readonly PlannedPair[]): Promise<void> {
  await assertWithin(context, tallyOf(...(await earlierWrites(context)), effectsOf(busy)));
}

/** The same for what a survey has counted and what was written before it. */
export async function assertSurveyed(context: ExchangeContext, counts: Tally): Promise<void> {
  await assertWithin(context, sumOfTallies(tallyOf(...(await earlierWrites(context))), counts));
}

async function assertWithin(context: ExchangeContext, tally: Tally): Promise<void> {
  if (areFew(tally)) return;
  const { deps, key } = context;
  const excesses = judgeTally(tally, await countOf(context));
  if (excesses.length === 0) return;
  const state = await readStreamState(deps.store, key);
  for (const { code, message, pairs } of excesses) {
    const told = `${message} See them: hirebridge sync ${key.tenantId} ${key.stream} --dry-run.`;
    await stopAt({ deps, key, state }, { code, message: told }, pairs);
  }
}

async function earlierWrites({ deps, key }: ExchangeContext): Promise<WrittenPairs[]> {
  const kept = await recentWrites(deps.store, key);
  return kept.map((written) => JSON.parse(written) as WrittenPairs);
}

function countOf(context: ExchangeContext): Promise<number> {
  return countPairs(context.deps.store, scopeOf(context), context.runId);
}
