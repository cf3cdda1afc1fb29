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
  quarantined: number;
}

export interface StreamStep {
  state: StepState;
  counts?: StreamCounts;
  /** Why it was refused. */
  code?: string;
}

export interface StreamActivities {
  /** Reads and lands some pages from the store's cursor on. */
  syncPages(input: StreamInput): Promise<StreamStep>;
}
