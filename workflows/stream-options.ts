import { type ActivityOptions, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import { bulkQueueOf } from './bulk-queue.ts';

/** Of the activities of every stream: they wait behind reconciles for a slot, and tenants share slots fairly. */
export function streamOptions({ tenantId, timing }: { tenantId: string; timing: HireTiming }): ActivityOptions {
  return {
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    priority: { priorityKey: 4, fairnessKey: tenantId },
  };
}
