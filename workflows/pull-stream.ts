import { condition, continueAsNew, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { StreamMode } from '../src/store/stream-tables.ts';
import type { StreamActivities, StreamStep } from '../src/streams/stream-activities.ts';
import type { PullName } from '../src/streams/streams.ts';
import { bulkQueueOf } from './bulk-queue.ts';
import { streamHintSignal } from './messages.ts';

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
  carried?: { round: number; begun: boolean };
}

/** Hints that come closer than this are read together... */
const QUIET_MS = 2_500;
/** ...unless they go on coming for so long. */
const MOST_WAITS = 4;
/** Another run is under way: it may have looked before the hint. */
const BUSY_MS = 5_000;
const MOST_BUSY_MS = 60_000;

/**
 * One pass over one stream, some pages an activity, and one more whenever a hint came meanwhile. Cursor, counts and
 * records are the store's; histories hold counts alone.
 */
export async function pullStream(input: PullStart): Promise<StreamStep> {
  const hints = listen();
  let { round, begun } = input.carried ?? { round: 0, begun: false };
  if (input.hinted === true && !begun) await hints.quiet();
  for (let busyMs = BUSY_MS; ; ) {
    const step = await pull(input, round, begun);
    begun = step.state === 'running';
    if (step.state === 'busy' && input.hinted === true) {
      await sleep(busyMs);
      busyMs = Math.min(busyMs * 2, MOST_BUSY_MS);
    } else if (!begun) {
      if (!hints.came()) return step;
      round += 1;
      await hints.quiet();
    }
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof pullStream>({ ...input, carried: { round, begun } });
  }
}

function pull({ tenantId, stream, timing, ...asked }: PullStart, round: number, begun: boolean): Promise<StreamStep> {
  const { pullPages } = proxyActivities<StreamActivities>({
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    // Streams wait behind reconciles for a worker's slots, and tenants share them fairly.
    priority: { priorityKey: 4, fairnessKey: tenantId },
  });
  const { mode = 'incremental', rewrite = false, recordId } = asked;
  // What came after the run that was asked for is a hint's, whatever was asked for.
  const isOwn = round === 0;
  const own = isOwn && recordId !== undefined ? { recordId } : {};
  const read = isOwn ? { mode, rewrite, ...own } : { mode: 'incremental' as const };
  const runId = `${workflowInfo().firstExecutionRunId}${isOwn ? '' : `/${round}`}`;
  return pullPages({ tenantId, stream, runId, begun, ...read });
}

function listen() {
  let heard = false;
  setHandler(streamHintSignal, () => {
    heard = true;
  });
  return {
    /** Whether a hint came since the last call. */
    came(): boolean {
      const came = heard;
      heard = false;
      return came;
    },
    /** Until no more come, so that a burst of hints is few calls. */
    async quiet(): Promise<void> {
      for (let waits = 0; waits < MOST_WAITS; waits += 1) {
        heard = false;
        if (!(await condition(() => heard, QUIET_MS))) return;
      }
      heard = false;
    },
  };
}
