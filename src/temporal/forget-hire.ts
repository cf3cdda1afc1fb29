import { WorkflowNotFoundError } from '@temporalio/client';
import type { HireClient } from './hire-client.ts';
import { hireWorkflowId } from './ids.ts';

/**
 * Ends the workflow of a hire and deletes its histories; an activity of it hears of that with its next beat. Harmless
 * when repeated.
 */
export async function forgetHire(
  { client, installationId }: HireClient,
  { tenantId, jobCandidateId }: { tenantId: string; jobCandidateId: string },
): Promise<void> {
  const workflowId = hireWorkflowId(installationId, tenantId, jobCandidateId);
  try {
    await client.workflow.getHandle(workflowId).terminate('erased');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const { namespace } = client.options;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    const workflowExecution = { workflowId, runId };
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
  }
}
