import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { forgettingIn } from '../../src/temporal/forget-hire.ts';
import { hireWorkflowId } from '../../src/temporal/ids.ts';
import { temporalForTests } from '../harness/temporal.ts';

test('a history that is deleted already, and still stands in the list, keeps nobody from forgetting', async () => {
  const { address } = await temporalForTests();
  const connection = await Connection.connect({ address });
  try {
    const timing = { heartbeatMs: 5_000, attemptMs: 60_000, retryMs: 1_000 };
    const client = new Client({ connection });
    const hires = { client, installationId: randomUUID(), timing };
    const hire = { tenantId: 'acme', jobCandidateId: '501' };
    const workflowId = hireWorkflowId(hires.installationId, hire.tenantId, hire.jobCandidateId);
    // What the server's list says for a moment after a deletion.
    client.workflow.list = () => [{ workflowId, runId: randomUUID() }] as never;
    await expect(forgettingIn(hires).forgetHire(hire)).resolves.toBe(1);
    await expect(forgettingIn(hires).forgetTenant(hire.tenantId)).resolves.toBeGreaterThanOrEqual(1);
  } finally {
    await connection.close();
  }
});
