import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { startSync } from '../../src/temporal/schedules.ts';
import { temporalForTests } from '../harness/temporal.ts';

test('a run begun by hand is joined by the next, but never by one that is to write every row again', async () => {
  const { address } = await temporalForTests();
  const connection = await Connection.connect({ address });
  try {
    const timing = { heartbeatMs: 5_000, attemptMs: 60_000, retryMs: 1_000 };
    const hires = { client: new Client({ connection }), installationId: randomUUID(), timing };
    const stream = { tenantId: 'acme', stream: 'candidates' } as const;
    const first = await startSync(hires, stream);
    const joined = await startSync(hires, stream);
    expect(joined.workflowId).toBe(first.workflowId);
    await expect(startSync(hires, { ...stream, mode: 'full', rewrite: true })).rejects.toMatchObject({
      code: 'SYNC_BUSY',
    });
    await first.terminate();
    const full = await startSync(hires, { ...stream, mode: 'full', rewrite: true });
    await full.terminate();
  } finally {
    await connection.close();
  }
});
