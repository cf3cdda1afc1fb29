import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { ExchangeActivities, ExchangeStep } from '../src/streams/exchange-activities.ts';
import type { StreamName } from '../src/streams/streams.ts';
import { bulkQueueOf } from './bulk-queue.ts';

export interface ExchangeStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  full?: boolean;
  /** The run before this one, when it continues it. */
  begun?: boolean;
}

/** One pass over a tenant's linked pairs, some of them an activity. Cursor, counts and values are the store's. */
export async function exchangeStream(input: ExchangeStart): Promise<ExchangeStep> {
  const { tenantId, stream, timing, full = false } = input;
  const { exchangePairs } = proxyActivities<ExchangeActivities>({
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    // As the other streams: behind reconciles, and shared fairly.
    priority: { priorityKey: 4, fairnessKey: tenantId },
  });
  const runId = workflowInfo().firstExecutionRunId;
  for (let begun = input.begun ?? false; ; begun = true) {
    const step = await exchangePairs({ tenantId, stream, runId, full, begun });
    if (step.state !== 'running') return step;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof exchangeStream>({ ...input, begun: true });
  }
}
