import type { StreamStep } from './stream-activities.ts';
import type { PushName } from './streams.ts';

export interface PushInput {
  tenantId: string;
  stream: PushName;
  /** One pass over the stream; a repeat with the same id goes on with it. */
  runId: string;
  /** Begins at the beginning. */
  full: boolean;
  /** This run has its row in the store: finding another's there means that it was taken over. */
  begun: boolean;
}

export interface PushActivities {
  /** Tells the partner what the HRIS knows, one part of the pass. */
  pushRecords(input: PushInput): Promise<StreamStep>;
}
