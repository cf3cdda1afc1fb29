import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { StreamMode } from '../src/store/stream-tables.ts';
import type { ExchangeActivities, ExchangeStep } from '../src/streams/stream-activities.ts';
import type { StreamName } from '../src/streams/streams.ts';
import { type Carried, followHints, runIdOf, streamOptions } from './stream-options.ts';

export interface ExchangeStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  /** Every pair, unless it is `one`. */
  mode?: StreamMode;
  full?: boolean;
  /** With `mode: one`. */
  recordId?: string;
  /** Started by a hint: only the pairs that were hinted at, and more of them may be on their way. */
  hinted?: boolean;
  /** Of the run before this one, when it continues it. */
  carried?: Carried;
  /** As `carried`, by earlier versions. */
  begun?: boolean;
}

/**
 * One pass over a tenant's linked pairs, some of them an activity, and over those of each hint that came meanwhile.
 * Cursor, counts and values are the store's.
 */
export function exchangeStream(input: ExchangeStart): Promise<ExchangeStep> {
  const { hinted = false, carried = { round: 0, begun: input.begun ?? false } } = input;
  return followHints(
    { hinted, carried },
    {
      take: (round, begun) => exchange(input, round, begun),
      continueWith: (next) => continueAsNew<typeof exchangeStream>({ ...input, carried: next }),
    },
  );
}

function exchange(input: ExchangeStart, round: number, begun: boolean): Promise<ExchangeStep> {
  const { tenantId, stream } = input;
  const { exchangePairs } = proxyActivities<ExchangeActivities>(streamOptions(input));
  return exchangePairs({ tenantId, stream, runId: runIdOf(round), begun, ...askedOf(input, round) });
}

/** What came after the pass that was asked for is a hint's. */
function askedOf({ mode, full = false, recordId, hinted = false }: ExchangeStart, round: number) {
  if (round > 0 || hinted) return { full: false, mode: 'incremental' as const };
  return mode === 'one' && recordId !== undefined ? { full, mode, recordId } : { full };
}
