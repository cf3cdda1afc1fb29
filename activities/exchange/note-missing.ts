import type { Side } from '../../src/hire/side.ts';
import { countMarked, savePair } from '../../src/store/exchange-pairs.ts';
import { countPairs } from '../../src/store/linked-pairs.ts';
import { readStreamState } from '../../src/store/stream-states.ts';
import { type Excess, judgeMissing, noJobsListed } from '../../src/streams/change-limits.ts';
import { stopAt } from '../streams/reading.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { scopeOf } from './open-context.ts';
import type { ReadPair } from './read-pairs.ts';

/** A pair one side of which was not found, and that this run has not marked yet. */
type MissingPair = Pick<ReadPair, 'pair' | 'state' | 'readAt'> & { side: Side };

export function newlyMissing({ runId }: Pick<ExchangeContext, 'runId'>, read: readonly ReadPair[]): MissingPair[] {
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
export async function assertFewMissing(context: ExchangeContext, missing: readonly MissingPair[]): Promise<void> {
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
export async function noteMissing(
  { deps, key, runId, connection }: ExchangeContext,
  { pair: { pairId }, state, readAt, side }: MissingPair,
): Promise<void> {
  const isGone = state.missing_side === side;
  const { readLagMs, shownWithinMs = readLagMs } = connection.hris.capabilities;
  if (isGone && side === 'hris' && readAt < state.updated_at + shownWithinMs) return;
  await savePair(deps.store, key, { pairId, version: state.version, missing: { side, runId }, isGone });
}
