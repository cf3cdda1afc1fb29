import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { TemporalConnection } from '../../src/temporal/connection.ts';
import { createHireClient, signalHire } from '../../src/temporal/hire-client.ts';

/** Refuses every call, and notes how long its caller would have waited. */
async function refusingServer(): Promise<{ address: string; waits: Map<string, string> }> {
  const waits = new Map<string, string>();
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const call = String(headers[':path']).split('/').at(-1) as string;
    waits.set(call, String(headers['grpc-timeout']));
    const status = call === 'GetSystemInfo' ? '12' : '3';
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status }, { endStream: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, waits };
}

test.each([
  ['SignalWithStartWorkflowExecution', true],
  ['SignalWorkflowExecution', false],
])('%s waits ten seconds at most for a server that hangs', async (call, start) => {
  const { address, waits } = await refusingServer();
  const connection = Connection.lazy({ address });
  onTestFinished(() => connection.close());
  const hires = createHireClient({ connection, namespace: 'default' } as TemporalConnection, 'hb', readConfig());
  const hire = { tenantId: 'acme', jobCandidateId: '1' };
  await expect(signalHire(hires, hire, 'person', { start })).rejects.toThrow(/Failed to signal/);
  expect(waits.get(call)).toMatch(/^(?:10S|\d{1,4}m|10000m)$/);
});
