import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { StreamMode } from '../src/store/stream-tables.ts';
import type { StreamActivities, StreamStep } from '../src/streams/stream-activities.ts';
import type { PullName } from '../src/streams/streams.ts';
import { type Carried, followHints, runIdOf, streamOptions } from './stream-options.ts';

export interface PullStart {
  tenantId: string;
  stream: PullName;
  timing: HireTiming;
  /** `incremental` where absent. */
  mode?: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** With `mode: one`. */
  recordId?: string;
  /** Started by a hint: more of them may be on their way. */
  hinted?: boolean;
  /** Of the run before this one, when it continues it. */
  carried?: Carried;
}

/**
 * One pass over one stream, some pages an activity, and one more whenever a hint came meanwhile. Cursor, counts and
 * records are the store's; histories hold counts alone.
 */
export function pullStream(input: PullStart): Promise<StreamStep> {
  return followHints(input, {
    take: (round, begun) => pull(input, round, begun),
    continueWith: (carried) => continueAsNew<typeof pullStream>({ ...input, carried }),
  });
}

function pull(input: PullStart, round: number, begun: boolean): Promise<StreamStep> {
  const { pullPages } = proxyActivities<StreamActivities>(streamOptions(input));
  const { tenantId, stream, mode = 'incremental', rewrite = false, recordId } = input;
  // What came after the run that was asked for is a hint's, whatever was asked for.
  const isOwn = round === 0;
  const own = isOwn && recordId !== undefined ? { recordId } : {};
  const read = isOwn ? { mode, rewrite, ...own } : { mode: 'incremental' as const };
  return pullPages({ tenantId, stream, runId: runIdOf(round), begun, ...read });
}
