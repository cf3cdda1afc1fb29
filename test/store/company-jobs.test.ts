import { describe, expect, test } from 'vitest';
import { readCompanyJobs, saveJobs } from '../../src/store/jobs.ts';
import { confirmCompany, pauseTenant } from '../../src/store/tenant-states.ts';
import { freshStore, kinds } from './stores.ts';

describe.each(kinds)('the company in %s', (kind) => {
  test('is known by the jobs seen since a person last confirmed it', async () => {
    const { store } = await freshStore(kind);
    const idsOf = async () => (await readCompanyJobs(store, 'acme')).map((job) => job.jobId);
    await saveJobs(store, 'acme', [{ jobId: '1', record: {} }]);
    expect(await idsOf()).toEqual(['1']);
    await pauseTenant(store, 'acme', 'COMPANY_MISMATCH', 'another company');
    expect(await confirmCompany(store, 'acme', 'ada')).toBe(true);
    await store.kysely.updateTable('jobs').set({ seen_at: 1 }).execute();
    expect(await idsOf()).toEqual([]);
    await store.kysely.updateTable('tenants').set({ company_confirmed_at: 1 }).execute();
    await saveJobs(store, 'acme', [{ jobId: '2', record: {} }]);
    expect(await idsOf()).toEqual(['2']);
  });

  test('cannot be confirmed while nothing speaks against it', async () => {
    const { store } = await freshStore(kind);
    await pauseTenant(store, 'acme', 'INVALID_API_KEY', 'refused');
    expect(await confirmCompany(store, 'acme', 'ada')).toBe(false);
  });
});
