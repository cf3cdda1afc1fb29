import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { DemoKind } from '../../src/cli/demo/recruiting.ts';
import { openDemoHris, writeDemoFiles } from '../../src/cli/demo/stage.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { loadTenantMapping, openTenantHris } from '../../src/tenants/open-hris.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { employee, signal, write } from '../hris/profile.ts';

/** The HR system of a kind, and the demo's tenant as its files say. */
async function demoOn(kind: DemoKind) {
  const dir = await scratchFolder();
  const hris = await openDemoHris(kind, dir);
  onTestFinished(() => hris.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [name, value] of Object.entries(hris.env)) vi.stubEnv(name, value);
  const common = { partnerUrl: 'http://127.0.0.1:1/v1/partner', apiKey: 'sk_test_0123456789' };
  const first = { ...common, webhookKey: 'whk_0123456789', companyId: '7001', flowId: 'flow', hris };
  const fields = { referenceField: '1', employeeIdField: '2' };
  const tenantsDir = join(dir, 'tenants');
  await writeDemoFiles(tenantsDir, first, { ...common, ...fields, hrisFile: join(dir, 'second.db') });
  const tenant = (await loadTenants(tenantsDir)).find((one) => one.tenant === 'demo');
  if (tenant === undefined) throw new Error('the demo has no tenant');
  return { hris, tenant };
}

test.each(['sql', 'postgresql', 'bamboohr'] as const)(
  'on %s the demo’s tenant makes an employee, and the demo finds it in the HR system’s own records',
  async (kind) => {
    const { hris, tenant } = await demoOn(kind);
    expect(await hris.employees()).toEqual([]);
    const { fields } = await loadTenantMapping(tenant);
    expect(fields.find(({ target }) => target === 'startDate')?.required).toBe(true);
    const connection = await openTenantHris(tenant);
    onTestFinished(() => connection.close());
    expect(await connection.probe(signal)).toEqual({ ok: true });
    const { birthDate: _birthDate, ...values } = employee('demo');
    const made = await connection.employees.create(values, '7001:42', write);
    const shown = { ...(made.kind === 'created' ? made.ref : {}), reference: '7001:42' };
    expect(await hris.employees()).toMatchObject([shown]);
  },
);

test.each(['sql', 'postgresql'] as const)('on %s people edit what the demo then reads', async (kind) => {
  const { hris, tenant } = await demoOn(kind);
  expect(await hris.tables?.count('partner_jobs')).toBe(0);
  const connection = await openTenantHris(tenant);
  onTestFinished(() => connection.close());
  await connection.employees.create(employee('demo'), '7001:42', write);
  const [{ id } = { id: '' }] = await hris.employees();
  await hris.tables?.edit(id, { number: '900001', city: 'Bergen' });
  expect(await hris.tables?.readCity(id)).toBe('Bergen');
  expect(await connection.employees.read(id, signal)).toMatchObject({ ref: { number: '900001' } });
});
