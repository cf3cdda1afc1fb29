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
import { recentWrites } from '../../src/store/exchange-runs.ts';
import { countPairs, type LinkedPair } from '../../src/store/linked-pairs.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import { readStreamState } from '../../src/store/stream-states.ts';
import { stopAt } from '../streams/reading.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { scopeOf } from './open-context.ts';
import { readPairs } from './read-pairs.ts';
import { busyIn, type PlannedPair, plannedIn } from './write-pairs.ts';

/**
 * A run that would write more than a few pairs first looks at all that are left, and then comes back to write: what is
 * too much is known before any of it is written.
 */
export interface Survey {
  /** The cursor to come back to. */
  from: string | null;
  counts: Tally;
  isOver: boolean;
}

export function surveyOf({ tally }: Pick<StreamRow, 'tally'>): Survey | undefined {
  return tally === null ? undefined : (JSON.parse(tally) as Survey);
}

/** What these pairs add to a survey, of all pairs or of some. Nothing is written. */
export async function surveyPairs(
  context: ExchangeContext,
  pairs: readonly LinkedPair[],
  of: 'all' | 'some',
): Promise<Tally> {
  const planned = plannedIn(await readPairs(context, pairs));
  return sumOfTallies(of === 'all' ? tallyFilled(planned) : {}, tallyOf(effectsOf(busyIn(planned))));
}

/**
 * Fields that were never compared before are asked about before the first of them is written, so a run by another
 * mapping than the one before begins with a survey.
 */
export async function beginsWithSurvey(context: ExchangeContext): Promise<boolean> {
  const { deps, key, mapping } = context;
  const state = await readStreamState(deps.store, key);
  return state?.mapping_hash !== mapping.hash && !areFew({ 'hris met': await countOf(context) });
}

/** Whether so few pairs would be written, with those of the last hour, that nobody need know how many follow. */
export async function areFewWith(context: ExchangeContext, busy: readonly PlannedPair[]): Promise<boolean> {
  return busy.length === 0 || areFew(tallyOf(...(await earlierWrites(context)), effectsOf(busy)));
}

/**
 * Holds the stream where too much would be written, in this run or within an hour.
 * @throws ConnectorError MASS_EMPTIED, MASS_CHANGE, FIRST_MEETING
 */
export async function assertWithinLimits(context: ExchangeContext, busy: readonly PlannedPair[]): Promise<void> {
  await assertWithin(context, tallyOf(...(await earlierWrites(context)), effectsOf(busy)));
}

/** Of what a survey has counted, beside what was written before it. */
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
