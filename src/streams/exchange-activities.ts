import type { StreamMode } from '../store/stream-tables.ts';
import type { StreamName } from './streams.ts';

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
export interface ExchangeCounts {
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
