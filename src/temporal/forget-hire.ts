import { WorkflowNotFoundError } from '@temporalio/client';
import type { Forgetting } from '../../activities/connections.ts';
import { withFailpoints } from '../failpoint.ts';
import { grpcCode } from './connection.ts';
import type { HireClient } from './hire-client.ts';
import { hireWorkflowId, reconcileScheduleId, streamScheduleId } from './ids.ts';
import { endWorkflows, listSchedules, removeSchedule } from './schedules.ts';

/** Lets an erasure delete what Temporal knows. */
export function forgettingIn(hires: HireClient): Forgetting {
  return {
    forgetHire: (hire) => withFailpoints('temporal.forgetHire', () => forgetHire(hires, hire)),
    forgetTenant: (tenantId) => withFailpoints('temporal.forgetTenant', () => forgetTenant(hires, tenantId)),
  };
}

/**
 * Ends a hire's workflow and deletes its histories; a running activity notices at its next heartbeat. Returns how many
 * histories the server still listed. Harmless when repeated.
 */
async function forgetHire(
  hires: HireClient,
  { tenantId, jobCandidateId }: { tenantId: string; jobCandidateId: string },
): Promise<number> {
  const workflowId = hireWorkflowId(hires.installationId, tenantId, jobCandidateId);
  try {
    await hires.client.workflow.getHandle(workflowId).terminate('erased');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return deleteHistories(hires, `WorkflowId = "${workflowId}"`);
}

/**
 * Deletes a tenant's schedules, ends its workflows, and deletes their histories. Returns how many the server still
 * listed; its list lags a little, so none is left once a later call returns 0.
 */
async function forgetTenant(hires: HireClient, tenantId: string): Promise<number> {
  const { client, installationId } = hires;
  const own = [reconcileScheduleId(installationId, tenantId), streamScheduleId(installationId, tenantId, '')];
  const [reconcile = '', streams = ''] = own;
  const listed = [...(await listSchedules(hires)).keys()];
  const schedules = listed.filter((id) => id === reconcile || id.startsWith(streams));
  for (const id of schedules) await removeSchedule(client, id);
  await endWorkflows(hires, tenantId, 'the tenant was erased');
  return schedules.length + (await deleteHistories(hires, `TenantId = "${tenantId}"`));
}

async function deleteHistories({ client, installationId }: HireClient, query: string): Promise<number> {
  const { namespace } = client.options;
  let deleted = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    if (!workflowId.startsWith(`${installationId}/`)) continue;
    try {
      await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
    } catch (error) {
      // The list lags a little: it may contain a history that was deleted before.
      if (grpcCode(error) !== 'NOT_FOUND') throw error;
    }
    deleted += 1;
  }
  return deleted;
}
