import type { StreamMode } from '../store/stream-tables.ts';
import type { PullName, PushName, StreamName } from './streams.ts';

export interface StreamInput {
  tenantId: string;
  stream: PullName;
  /** Names one pass over the stream; a repeat with the same id continues from the stored cursor. */
  runId: string;
  /** Starts at the first page and writes every row again. */
  full: boolean;
  /** The run has its row in the store: if the row there is another run's, that run took over. */
  begun: boolean;
}

export interface StreamCounts {
  read: number;
  unchanged: number;
  created: number;
  updated: number;
  skipped: number;
  quarantined: number;
  /** Records that were not written because a change limit stopped the run. */
  held: number;
}

export interface StreamStep {
  /**
   * running: more pages are left. done, partial (some records are quarantined), refused (a person must remove the
   * cause): the run is over. busy: another run is under way. superseded: another run took over.
   */
  state: 'running' | 'done' | 'partial' | 'refused' | 'busy' | 'superseded';
  counts?: StreamCounts;
  /** Why it was refused. */
  code?: string;
  /** Records were left that can be read after this time: what is known of them may not be shown yet. */
  againInMs?: number;
}

/** One run of a stream that pulls records. */
export interface PullInput {
  tenantId: string;
  stream: PullName;
  runId: string;
  mode: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** The record to read with `mode: one`. */
  recordId?: string;
  begun: boolean;
}

export interface StreamActivities {
  /** Reads and lands some pages from the stored cursor on, without regard to hints. Earlier versions call this. */
  syncPages(input: StreamInput): Promise<StreamStep>;
  /** Reads and lands the records of the run's mode, from the stored cursor on. */
  pullPages(input: PullInput): Promise<StreamStep>;
}

export interface PushInput {
  tenantId: string;
  stream: PushName;
  /** Names one pass over the stream; a repeat with the same id continues it. */
  runId: string;
  /** Starts from the first record. */
  full: boolean;
  /** Looks only at records with hints. */
  hinted?: boolean;
  /** The run has its row in the store: if the row there is another run's, that run took over. */
  begun: boolean;
}

export interface PushActivities {
  /** Does one part of a pass that sends the HRIS's data to the partner. */
  pushRecords(input: PushInput): Promise<StreamStep>;
}

export interface ExchangeInput {
  tenantId: string;
  stream: StreamName;
  /** Names one pass; a repeat with the same id continues from the stored cursor. */
  runId: string;
  /** A person asked for the run: pairs that were gone are read again, and refused values are tried again. */
  full: boolean;
  /** Every pair if absent; `incremental`: only pairs with hints. */
  mode?: StreamMode;
  /** The candidate or employee to read with `mode: one`. */
  recordId?: string;
  /** The run has its row in the store: if the row there is another run's, that run took over. */
  begun: boolean;
}

export interface ExchangeStep extends Omit<StreamStep, 'counts'> {
  /** Outcomes of the pairs. */
  counts?: Omit<StreamCounts, 'created'>;
}

export interface ExchangeActivities {
  /** Reads some pairs from the stored cursor on, and writes each side's edits to the other side. */
  exchangePairs(input: ExchangeInput): Promise<ExchangeStep>;
}
