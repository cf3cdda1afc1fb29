import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { StreamActivities, StreamStep } from '../src/streams/stream-activities.ts';
import type { PullName } from '../src/streams/streams.ts';
import { streamOptions } from './stream-options.ts';

export interface SyncInput {
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
