import type { StreamMode } from '../store/stream-tables.ts';
import type { PullName, PushName, StreamName } from './streams.ts';

export interface StreamInput {
  tenantId: string;
  stream: PullName;
  /** One pass over the stream; a repeat with the same id goes on from the store's cursor. */
  runId: string;
  /** Begins at the first page and writes every row again. */
  full: boolean;
  /** This run has its row in the store: finding another's there means that it was taken over. */
  begun: boolean;
}

/**
 * running: more pages are left. done, partial (something is quarantined), refused (a person must remove the cause):
 * the run is over. busy: another run is under way. superseded: another run took this one's place.
 */
type StepState = 'running' | 'done' | 'partial' | 'refused' | 'busy' | 'superseded';

export interface StreamCounts {
  read: number;
  unchanged: number;
  created: number;
  updated: number;
  skipped: number;
  quarantined: number;
  /** Not written because a change limit stopped the run. */
  held: number;
}

export interface StreamStep {
  state: StepState;
  counts?: StreamCounts;
  /** Why it was refused. */
  code?: string;
}

/** One run of a stream whose records are pulled. */
export interface PullInput {
  tenantId: string;
  stream: PullName;
  runId: string;
  mode: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** With `mode: one`. */
  recordId?: string;
  begun: boolean;
}

export interface StreamActivities {
  /** Reads and lands some pages from the store's cursor on, hints or not. What earlier versions call. */
  syncPages(input: StreamInput): Promise<StreamStep>;
  /** Reads and lands what the run's mode asks for, from the store's cursor on. */
  pullPages(input: PullInput): Promise<StreamStep>;
}

export interface PushInput {
  tenantId: string;
  stream: PushName;
  /** One pass over the stream; a repeat with the same id goes on with it. */
  runId: string;
  /** Begins at the beginning. */
  full: boolean;
  /** Looks at what was hinted at alone. */
  hinted?: boolean;
  /** This run has its row in the store: finding another's there means that it was taken over. */
  begun: boolean;
}

export interface PushActivities {
  /** Tells the partner what the HRIS knows, one part of the pass. */
  pushRecords(input: PushInput): Promise<StreamStep>;
}

export interface ExchangeInput {
  tenantId: string;
  stream: StreamName;
  /** One pass; a repeat with the same id goes on from the store's cursor. */
  runId: string;
  /** Somebody asked for it: pairs that were gone are looked for, and what was refused is tried again. */
  full: boolean;
  /** Every pair where absent; `incremental`: those that somebody hinted at. */
  mode?: StreamMode;
  /** With `mode: one`: a candidate or an employee. */
  recordId?: string;
  /** This run has its row in the store: finding another's there means that it was taken over. */
  begun: boolean;
}

/** What became of the pairs of a run. */
interface ExchangeCounts {
  read: number;
  unchanged: number;
  updated: number;
  skipped: number;
  quarantined: number;
  held: number;
}

/** As the steps of a stream that pulls. */
export interface ExchangeStep {
  state: 'running' | 'done' | 'partial' | 'refused' | 'busy' | 'superseded';
  counts?: ExchangeCounts;
  /** Why it was refused. */
  code?: string;
}

export interface ExchangeActivities {
  /** Reads some pairs from the store's cursor on, and writes to either side what the other's edits ask for. */
  exchangePairs(input: ExchangeInput): Promise<ExchangeStep>;
}
