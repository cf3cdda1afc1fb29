import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { pauseTenant } from '../../src/store/tenant-states.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { scratchDir, startCli, tenantDir } from './cli-process.ts';

test('sync tells that its tenant is paused, and why, instead of asking for a worker', async () => {
  const [{ address }, dir, data] = await Promise.all([temporalForTests(), tenantDir(), scratchDir()]);
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  await pauseTenant(store, 'acme', 'INVALID_API_KEY', 'The key is not accepted.');
  await store.close();
  const sync = startCli(['sync', 'acme', 'jobs', '--tenants', dir, '--data', data], { TEMPORAL_ADDRESS: address });
  await expect
    .poll(() => sync.out.stderr, { timeout: 8_000 })
    .toMatch(/acme is paused.*The key is not accepted\. \[INVALID_API_KEY\]/);
  expect(sync.out.stderr).not.toContain('No worker');
  sync.child.kill('SIGTERM');
  await sync.exited;
});
