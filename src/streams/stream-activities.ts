import type { StreamMode } from '../store/stream-tables.ts';
import type { PullName } from './streams.ts';

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
