import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { guarded } from '../../activities/guarded.ts';
import { withTenant } from '../../src/operator/open-tenant.ts';
import { SECRET } from '../tenants/acme.ts';
import { fleetAtSandbox } from './hire/fleet-at-sandbox.ts';

const hris = (url: string) => `kind: sql, connection: shared, url: "env:${url}", createTable: true`;
const scope = (country: string) => `scope: { countries: [${country}] }\n`;

test('a worker opens no HR system that is another one than its connection is for other tenants', async () => {
  const own = `sqlite:${join(tmpdir(), `${crypto.randomUUID()}.sqlite`)}`;
  vi.stubEnv('TEST_ACME_URL', own);
  vi.stubEnv('TEST_BETA_URL', own);
  const { apply, deps } = await fleetAtSandbox({ candidates: 0 });
  const works = (tenantId: string) => guarded(deps, tenantId, async ({ hris: open }) => open.capabilities);
  await apply('acme', scope('Germany'), { hris: hris('TEST_ACME_URL') });
  await apply('beta', scope('France'), { hris: hris('TEST_BETA_URL') });
  await expect(works('acme')).resolves.toBeDefined();
  await expect(works('beta')).resolves.toBeDefined();

  vi.stubEnv('TEST_BETA_URL', `sqlite:${SECRET}.sqlite`);
  await deps.connections.reopen('beta');
  await expect(works('beta')).rejects.toMatchObject({ code: 'HRIS_PAUSED' });
  const holds = await deps.store.kysely.selectFrom('holds').select(['tenant_id', 'code', 'message']).execute();
  expect(holds).toEqual([
    { tenant_id: 'beta', code: 'HRIS_NAME_TAKEN', message: expect.stringContaining('differs in url') },
  ]);
  expect(holds[0]?.message).toContain('hirebridge tenant apply');
  const places = { tenantsDir: 'none', dataDir: 'none' };
  const asked = withTenant({ store: deps.store, places, tenantId: 'beta' }, async () => 'opened');
  await expect(asked).rejects.toMatchObject({ code: 'HRIS_NAME_TAKEN' });
  // A hold is told to its tenant, whose business neither the other tenant nor the secret is.
  expect(holds[0]?.message).not.toContain('acme');
  expect(holds[0]?.message).not.toContain(SECRET);

  vi.stubEnv('TEST_BETA_URL', own);
  await deps.connections.reopen('beta');
  await expect(works('beta')).resolves.toBeDefined();
});
