import { type ActivityOptions, condition, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import { bulkQueueOf } from './bulk-queue.ts';
import { streamHintSignal } from './messages.ts';

/** Of the activities of every stream: they wait behind reconciles for a slot, and tenants share slots fairly. */
export function streamOptions({ tenantId, timing }: { tenantId: string; timing: HireTiming }): ActivityOptions {
  return {
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    priority: { priorityKey: 4, fairnessKey: tenantId },
  };
}

/** What the run before this one hands on, when it continues it. */
export interface Carried {
  round: number;
  begun: boolean;
  /** A hint came during the pass, and no pass began since. */
  heard?: boolean;
}

/** One part of a pass, and how a long history is continued by a new one. */
interface Passes<Step> {
  /** Round 0 is what was asked for; what comes after it is a hint's. */
  take(round: number, begun: boolean): Promise<Step>;
  continueWith(carried: Carried): Promise<never>;
}

/** Hints that come closer than this are read together... */
const QUIET_MS = 1_000;
/** ...unless they go on coming for so long. */
const MOST_WAITS = 10;
/** Another run is under way: it may have looked before the hint. */
const BUSY_MS = 5_000;
const MOST_BUSY_MS = 60_000;

/** One pass, some of it an activity, and one more whenever a hint came meanwhile. */
export async function followHints<Step extends { state: string }>(
  { hinted = false, carried = { round: 0, begun: false } }: { hinted?: boolean; carried?: Carried },
  { take, continueWith }: Passes<Step>,
): Promise<Step> {
  const hints = listen(carried.heard);
  let { round, begun } = carried;
  if (hinted && !begun) await hints.quiet();
  for (let busyMs = BUSY_MS; ; ) {
    const step = await take(round, begun);
    begun = step.state === 'running';
    if (step.state === 'busy' && hinted) {
      await sleep(busyMs);
      busyMs = Math.min(busyMs * 2, MOST_BUSY_MS);
    } else if (!begun) {
      if (!hints.came()) return step;
      round += 1;
      await hints.quiet();
    }
    if (workflowInfo().continueAsNewSuggested) await continueWith({ round, begun, heard: hints.came() });
  }
}

/** The id of a round's run in the store. */
export function runIdOf(round: number): string {
  return `${workflowInfo().firstExecutionRunId}${round === 0 ? '' : `/${round}`}`;
}

function listen(before = false) {
  let heard = before;
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
