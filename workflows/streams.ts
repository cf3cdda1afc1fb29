import {
  type ActivityOptions,
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { StreamMode } from '../src/store/stream-tables.ts';
import type {
  ExchangeActivities,
  ExchangeStep,
  PushActivities,
  StreamActivities,
  StreamStep,
} from '../src/streams/stream-activities.ts';
import type { PullName, PushName, StreamName } from '../src/streams/streams.ts';
import { bulkQueueOf } from './bulk-queue.ts';
import { streamHintSignal } from './messages.ts';

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

interface PullStart {
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

export interface PushRun {
  tenantId: string;
  stream: PushName;
  timing: HireTiming;
  /** Begins at the beginning. */
  full?: boolean;
  /** The run before this one, when it continues it. */
  begun?: boolean;
  /** Started by a hint: only what was hinted at, and more may be on its way. */
  hinted?: boolean;
  /** Of the run before this one, where that was started by a hint. */
  carried?: Carried;
}

/** One pass over what the HRIS tells the partner. Cursor, counts and records are the store's. */
export async function pushStream(input: PushRun): Promise<StreamStep> {
  const { tenantId, stream, full = false, hinted = false, carried } = input;
  const { pushRecords } = proxyActivities<PushActivities>(streamOptions(input));
  if (hinted)
    return followHints(
      { hinted, ...(carried === undefined ? {} : { carried }) },
      {
        take: (round, begun) => pushRecords({ tenantId, stream, runId: runIdOf(round), full: false, begun, hinted }),
        continueWith: (next) => continueAsNew<typeof pushStream>({ ...input, carried: next }),
      },
    );
  const runId = workflowInfo().firstExecutionRunId;
  for (let begun = input.begun ?? false; ; begun = true) {
    const step = await pushRecords({ tenantId, stream, runId, full, begun });
    if (step.state !== 'running') return step;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof pushStream>({ ...input, begun: true });
  }
}

interface SyncInput {
  tenantId: string;
  stream: PullName;
  timing: HireTiming;
  /** Begins at the first page and writes every row again. */
  full?: boolean;
  /** The run before this one, when it continues it. */
  begun?: boolean;
}

/**
 * One pass over one stream, some pages an activity. Cursor, counts and records are the store's; histories hold counts
 * alone.
 */
export async function syncStream(input: SyncInput): Promise<StreamStep> {
  const { tenantId, stream, full = false } = input;
  const { syncPages } = proxyActivities<StreamActivities>(streamOptions(input));
  const runId = workflowInfo().firstExecutionRunId;
  for (let begun = input.begun ?? false; ; begun = true) {
    const step = await syncPages({ tenantId, stream, runId, full, begun });
    if (step.state !== 'running') return step;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof syncStream>({ ...input, begun: true });
  }
}

/** Of the activities of every stream: they wait behind reconciles for a slot, and tenants share slots fairly. */
function streamOptions({ tenantId, timing }: { tenantId: string; timing: HireTiming }): ActivityOptions {
  return {
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    priority: { priorityKey: 4, fairnessKey: tenantId },
  };
}

/** What the run before this one hands on, when it continues it. */
interface Carried {
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
async function followHints<Step extends { state: string }>(
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
function runIdOf(round: number): string {
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
