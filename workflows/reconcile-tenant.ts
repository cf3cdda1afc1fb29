import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire.ts';
import type { ReconcileActivities, Reconciled } from '../src/hire/hire-activities.ts';
import { bulkQueueOf } from './messages.ts';

export interface ReconcileInput {
  tenantId: string;
  /** Absent in schedules made before it was added. */
  timing?: HireTiming;
}

/** One pass over a tenant that finds what webhooks missed. Every finding is a hint; the hire's own workflow decides. */
export async function reconcileTenant({ tenantId, timing }: ReconcileInput): Promise<Reconciled> {
  const { reconcile } = proxyActivities<ReconcileActivities>({
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: timing?.heartbeatMs ?? '1 minute',
    retry: { initialInterval: timing?.retryMs ?? '5 seconds', maximumInterval: '1 minute' },
    taskQueue: bulkQueueOf(workflowInfo().taskQueue),
    priority: { priorityKey: 3, fairnessKey: tenantId },
  });
  return reconcile({ tenantId });
}
