import type { Reconciled } from '../hire/hire-activities.ts';
import type { HireClient } from './hire-client.ts';
import { reconcileScheduleId } from './ids.ts';

/** When the last reconcile that Temporal shows ended; two calls. Undefined if none says so. */
export async function askLastReconcile(
  { client, installationId }: HireClient,
  tenantId: string,
): Promise<number | undefined> {
  const prefix = reconcileScheduleId(installationId, tenantId);
  const query = `TenantId = '${tenantId}' AND Flow = 'reconcile' AND ExecutionStatus = 'Completed'`;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: 10 })) {
    if (!workflowId.startsWith(prefix)) continue;
    const { reconciledAt } = (await client.workflow.getHandle(workflowId, runId).result()) as Partial<Reconciled>;
    return reconciledAt;
  }
  return undefined;
}
