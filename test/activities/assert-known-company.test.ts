import { expect, test } from 'vitest';
import { confirmCompany } from '../../src/operator/tenants.ts';
import { readTenantState, resumeTenant } from '../../src/store/tenant-states.ts';
import { openTenant } from './reconcile/open-tenant.ts';

test('a partner that comes to count createdAt in seconds stays the same company', async () => {
  const { sandbox, reconcile } = await openTenant();
  await reconcile();
  await sandbox.control.act('setQuirks', { quirks: ['seconds-created-at'] });
  await expect(reconcile()).resolves.toMatchObject({ jobs: 1 });
});

test('with every known job deleted the people who are known tell the company', async () => {
  const { store, reconcile } = await openTenant();
  await reconcile();
  await store.kysely.updateTable('jobs').set({ job_id: '1' }).execute();
  await expect(reconcile()).resolves.toMatchObject({ jobs: 1 });
});

test('a company that shows nothing known pauses the tenant until a person confirms it, who is recorded', async () => {
  const { store, reconcile } = await openTenant();
  await reconcile();
  const confirm = () => confirmCompany(store, { tenantId: 'acme', by: 'ada' });
  await expect(confirm()).rejects.toMatchObject({ code: 'NOTHING_TO_CONFIRM' });
  await store.kysely.updateTable('jobs').set({ job_id: '1' }).execute();
  await store.kysely.updateTable('hires').set({ candidate_id: '1' }).execute();
  await expect(reconcile()).rejects.toMatchObject({ code: 'TENANT_PAUSED' });
  expect((await readTenantState(store, 'acme')).paused_code).toBe('COMPANY_MISMATCH');
  await confirm();
  await resumeTenant(store, 'acme');
  await expect(reconcile()).resolves.toMatchObject({ jobs: 1 });
  expect(await readTenantState(store, 'acme')).toMatchObject({
    company_confirmed_by: 'ada',
    company_confirmed_at: expect.any(Number),
  });
});

test('after a confirmation a key of yet another company is noticed again', async () => {
  const { store, reconcile } = await openTenant();
  await reconcile();
  await store.kysely.updateTable('jobs').set({ record: '{"createdAt":1}' }).execute();
  await expect(reconcile()).rejects.toMatchObject({ code: 'TENANT_PAUSED' });
  await confirmCompany(store, { tenantId: 'acme', by: 'ada' });
  await resumeTenant(store, 'acme');
  await reconcile();
  await store.kysely.updateTable('jobs').set({ record: '{"createdAt":1}' }).execute();
  await expect(reconcile()).rejects.toMatchObject({ code: 'TENANT_PAUSED' });
});
