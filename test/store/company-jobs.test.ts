import { describe, expect, test } from 'vitest';
import { readCompanyJobs, saveJobs } from '../../src/store/jobs.ts';
import {
  confirmCompany,
  pauseForKey,
  pauseTenant,
  readTenantState,
  recordVerifiedKey,
} from '../../src/store/tenant-states.ts';
import { freshStore, kinds } from './stores.ts';

const MISMATCH = { code: 'COMPANY_MISMATCH', message: 'another company' };

describe.each(kinds)('the company in %s', (kind) => {
  test('is known by the jobs seen since a person last confirmed it', async () => {
    const { store } = await freshStore(kind);
    const idsOf = async (key = 'second') => (await readCompanyJobs(store, 'acme', key)).map((job) => job.jobId);
    await saveJobs(store, 'acme', [{ jobId: '1', record: {} }]);
    expect(await idsOf()).toEqual(['1']);
    await readTenantState(store, 'acme');
    await pauseForKey(store, 'acme', MISMATCH, { key: 'second', verified: null });
    expect(await confirmCompany(store, 'acme', 'ada')).toBe(true);
    await store.kysely.updateTable('jobs').set({ seen_at: 1 }).execute();
    expect(await idsOf()).toEqual([]);
    // The word was not given for this one.
    expect(await idsOf('third')).toEqual(['1']);
    await store.kysely.updateTable('tenants').set({ company_confirmed_at: 1 }).execute();
    await saveJobs(store, 'acme', [{ jobId: '2', record: {} }]);
    expect(await idsOf()).toEqual(['2']);
  });

  test('cannot be confirmed while nothing speaks against it', async () => {
    const { store } = await freshStore(kind);
    await pauseTenant(store, 'acme', 'INVALID_API_KEY', 'refused');
    expect(await confirmCompany(store, 'acme', 'ada')).toBe(false);
  });

  test('is not judged by a key that another has taken the place of', async () => {
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    await recordVerifiedKey(store, 'acme', 'second');
    expect(await pauseForKey(store, 'acme', MISMATCH, { key: 'first', verified: 'first' })).toBe(false);
    expect(await pauseForKey(store, 'acme', MISMATCH, { key: 'third', verified: 'second' })).toBe(true);
  });
});
