import {
  type ActivityOptions,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire.ts';
import type { StreamMode } from '../src/store/stream-tables.ts';
import type {
  ExchangeActivities,
  ExchangeStep,
  PushActivities,
  StreamActivities,
  StreamStep,
} from '../src/streams/stream-activities.ts';
import type { PullName, PushName, StreamName } from '../src/streams/streams.ts';
import { bulkQueueOf, streamHintSignal } from './messages.ts';

export interface ExchangeStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  /** Takes every pair, unless it is `one`. */
  mode?: StreamMode;
  full?: boolean;
  /** The record to take with `mode: one`. */
  recordId?: string;
  /** Started by a hint: takes only pairs with hints, and more hints may be on their way. */
  hinted?: boolean;
  /** State carried over from the run that this run continues. */
  carried?: Carried;
  /** The same as `carried`, as earlier versions sent it. */
  begun?: boolean;
}

/**
 * One pass over a tenant's linked pairs, a few per activity, then over the pairs of hints that came meanwhile. Cursor,
 * counts and values are in the store.
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

/** The first round does the requested pass; later rounds only serve hints. */
function askedOf({ mode, full = false, recordId, hinted = false }: ExchangeStart, round: number) {
  if (round > 0 || hinted) return { full: false, mode: 'incremental' as const };
  return mode === 'one' && recordId !== undefined ? { full, mode, recordId } : { full };
}

interface PullStart {
  tenantId: string;
  stream: PullName;
  timing: HireTiming;
  /** Defaults to `incremental`. */
  mode?: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** The record to read with `mode: one`. */
  recordId?: string;
  /** Started by a hint; more hints may be on their way. */
  hinted?: boolean;
  /** State carried over from the run that this run continues. */
  carried?: Carried;
}

/**
 * One pass over one stream, a few pages per activity, and another pass if hints came meanwhile. Cursor,
 * counts and records are in the store; workflow histories hold counts only.
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
  // The first round does the requested pass; later rounds only serve hints.
  const isOwn = round === 0;
  const own = isOwn && recordId !== undefined ? { recordId } : {};
  const read = isOwn ? { mode, rewrite, ...own } : { mode: 'incremental' as const };
  return pullPages({ tenantId, stream, runId: runIdOf(round), begun, ...read });
}

export interface PushRun {
  tenantId: string;
  stream: PushName;
  timing: HireTiming;
  /** Starts from the first record. */
  full?: boolean;
  /** True if this run continues an earlier one. */
  begun?: boolean;
  /** Started by a hint: takes only records with hints, and more hints may be on their way. */
  hinted?: boolean;
  /** State carried over if a hint started the earlier run. */
  carried?: Carried;
}

/** One pass over data that the HRIS sends to the partner. Cursor, counts and records are in the store. */
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
  /** Starts at the first page and writes every row again. */
  full?: boolean;
  /** True if this run continues an earlier one. */
  begun?: boolean;
}

/**
 * One pass over one stream, a few pages per activity. Cursor, counts and records are in the store; workflow histories
 * hold counts only.
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

/**
 * Options for the activities of all streams: they wait behind reconciles for a slot, and tenants share slots fairly.
 */
function streamOptions({ tenantId, timing }: { tenantId: string; timing: HireTiming }): ActivityOptions {
  return {
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    priority: { priorityKey: 4, fairnessKey: tenantId },
  };
}

/** State that a run hands over to the run that continues it. */
interface Carried {
  round: number;
  begun: boolean;
  /** A hint came during the pass, and no pass has begun since. */
  heard?: boolean;
  /** How many rounds in a row were for what the round before had to leave. */
  again?: number;
}

/** How to do one part of a pass, and how to continue a long history in a new run. */
interface Passes<Step> {
  /** Round 0 does the requested pass; later rounds serve hints. */
  take(round: number, begun: boolean): Promise<Step>;
  continueWith(carried: Carried): Promise<never>;
}

/** Hints that come closer together than this are read together... */
const QUIET_MS = 1_000;
/** ...for at most this many waits. */
const MOST_WAITS = 10;
/** Wait while another run is under way, which may have read before the hint came. */
const BUSY_MS = 5_000;
const MOST_BUSY_MS = 60_000;
/** So many rounds in a row are for what the round before had to leave; the schedule does what is left then. */
const MOST_AGAIN = 3;

/**
 * Runs one pass in parts, one activity each, and another pass if hints came meanwhile, or once what it had to leave can
 * be read. Such a pass is not what was asked for, so the step before it is returned.
 */
async function followHints<Step extends { state: string; againInMs?: number }>(
  { hinted = false, carried = { round: 0, begun: false } }: { hinted?: boolean; carried?: Carried },
  { take, continueWith }: Passes<Step>,
): Promise<Step> {
  const hints = listen(carried.heard);
  let { round, begun, again = 0 } = carried;
  let asked: Step | undefined;
  if (hinted && !begun) await hints.quiet();
  for (let busyMs = BUSY_MS; ; ) {
    const step = await take(round, begun);
    begun = step.state === 'running';
    if (step.state === 'busy' && hinted) {
      await sleep(busyMs);
      busyMs = Math.min(busyMs * 2, MOST_BUSY_MS);
    } else if (!begun) {
      const cameNow = hints.came();
      const { againInMs } = step;
      if (!cameNow && (againInMs === undefined || again === MOST_AGAIN)) return asked ?? step;
      again = cameNow ? 0 : again + 1;
      asked = cameNow ? undefined : (asked ?? step);
      round += 1;
      if (cameNow || againInMs === undefined) await hints.quiet();
      else if ((await hints.cameWithin(againInMs)) && patched('heard-while-waiting')) again = 0;
    }
    if (workflowInfo().continueAsNewSuggested) await continueWith({ round, begun, again, heard: hints.came() });
  }
}

/** Id of a round's run in the store. */
function runIdOf(round: number): string {
  return `${workflowInfo().firstExecutionRunId}${round === 0 ? '' : `/${round}`}`;
}

function listen(before = false) {
  let heard = before;
  setHandler(streamHintSignal, () => {
    heard = true;
  });
  const quiet = async (): Promise<void> => {
    for (let waits = 0; waits < MOST_WAITS; waits += 1) {
      heard = false;
      if (!(await condition(() => heard, QUIET_MS))) return;
    }
    heard = false;
  };
  return {
    /** Whether a hint came since the last call. */
    came(): boolean {
      const came = heard;
      heard = false;
      return came;
    },
    /** Waits until no more hints come, so that a burst of hints needs few calls. */
    quiet,
    /** Waits this long, or until hints come. Returns whether some came. */
    async cameWithin(ms: number): Promise<boolean> {
      const came = await condition(() => heard, ms);
      if (came) await quiet();
      return came;
    },
  };
}
