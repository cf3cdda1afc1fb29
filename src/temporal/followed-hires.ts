import type { HireClient } from './hire-client.ts';
import { hireWorkflowId } from './ids.ts';

/**
 * The job candidates of a tenant whose hire has a running workflow, by Temporal's visibility, which may not show one
 * that began a moment ago. One call for each thousand of them.
 */
export async function followedHires({ client, installationId }: HireClient, tenantId: string): Promise<Set<string>> {
  const prefix = hireWorkflowId(installationId, tenantId, '');
  const query = `TenantId = '${tenantId}' AND Flow = 'hire' AND ExecutionStatus = 'Running'`;
  const followed = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1_000 }))
    if (workflowId.startsWith(prefix)) followed.add(workflowId.slice(prefix.length));
  return followed;
}
