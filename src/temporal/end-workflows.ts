import { WorkflowNotFoundError } from '@temporalio/client';
import pLimit from 'p-limit';
import type { HireClient } from './hire-client.ts';

const AT_ONCE = 10;

/**
 * Terminates every running workflow of a tenant and returns how many it found. The server's list lags a little, so only
 * a later pass that finds none proves that none is left.
 */
export async function endWorkflows(
  { client, installationId }: HireClient,
  tenantId: string,
  reason: string,
): Promise<number> {
  const query = `TenantId = "${tenantId}" and ExecutionStatus = "Running"`;
  const running: { workflowId: string; runId: string }[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query }))
    if (workflowId.startsWith(`${installationId}/`)) running.push({ workflowId, runId });
  const limit = pLimit(AT_ONCE);
  await Promise.all(
    running.map(({ workflowId, runId }) =>
      limit(() => client.workflow.getHandle(workflowId, runId).terminate(reason).then(noop, unlessGone)),
    ),
  );
  return running.length;
}

function noop(): void {}

function unlessGone(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
