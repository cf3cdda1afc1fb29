import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { pauseTenant } from '../../src/store/tenant-states.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchDir, tenantDir } from './cli-process.ts';

test('sync of a paused tenant says so, Temporal or not, starts nothing and exits with code 2', async () => {
  const [dir, data] = await Promise.all([tenantDir(), scratchDir()]);
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  await pauseTenant(store, 'acme', 'INVALID_API_KEY', 'The key is not accepted.');
  await store.close();
  const args = ['sync', 'acme', 'jobs', '--tenants', dir, '--data', data];
  const { code, stderr } = await runCommand(args, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/acme is paused.*nothing was started.*The key is not accepted\. \[INVALID_API_KEY\]/);
});

test('sync of a stream that is none is rejected with the names of those that are', async () => {
  const { code, stderr } = await runCommand(['sync', 'acme', 'nonsense', '--tenants', await tenantDir()]);
  expect(code).toBe(2);
  expect(stderr).toContain('candidates, consents, documents, employees, employment, flows');
});
