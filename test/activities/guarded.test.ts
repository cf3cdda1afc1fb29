import { expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { guarded } from '../../activities/guarded.ts';
import { ConnectorError } from '../../src/errors.ts';
import { createRootLogger } from '../../src/log.ts';
import { listHolds } from '../../src/store/holds.ts';
import { readTenantState, recordVerifiedKey } from '../../src/store/tenant-states.ts';
import { sqliteStore } from '../store/stores.ts';

const TENANT = { partner: { apiKey: 'env:ACME_KEY' }, hris: { options: {} } };

async function openDeps(): Promise<ActivityDeps> {
  const store = await sqliteStore();
  await readTenantState(store, 'acme');
  await recordVerifiedKey(store, 'acme', 'one');
  return {
    store,
    log: createRootLogger(undefined, 'silent'),
    connections: { of: async () => ({ tenant: TENANT, keyFingerprint: 'one' }), reopenIfRotated: async () => false },
    limits: { pausedMs: 15_000 },
    pausedHris: new Set(),
  } as unknown as ActivityDeps;
}

function refusal(code: string): () => Promise<never> {
  return async () => {
    throw new ConnectorError({ code, action: 'reauthorize', message: 'The password is refused.' });
  };
}

test('an HR system that refuses its password pauses its own side alone, with one hold', async () => {
  const deps = await openDeps();
  await expect(guarded(deps, 'acme', refusal('HRIS_AUTH'))).rejects.toMatchObject({ code: 'HRIS_PAUSED' });
  expect(await readTenantState(deps.store, 'acme')).toMatchObject({ state: 'active' });
  expect([...deps.pausedHris]).toEqual(['acme']);
  expect(await listHolds(deps.store)).toMatchObject([{ code: 'HRIS_AUTH', job_candidate_id: null }]);
  // The partner's side goes on.
  expect(await guarded(deps, 'acme', async () => 'read')).toBe('read');
});

test('a partner that refuses its key pauses the tenant; a key from the environment needs a restart', async () => {
  const deps = await openDeps();
  await expect(guarded(deps, 'acme', refusal('KEY_REVOKED'))).rejects.toMatchObject({ code: 'TENANT_PAUSED' });
  expect(await readTenantState(deps.store, 'acme')).toMatchObject({ state: 'paused', paused_code: 'KEY_REVOKED' });
  const { paused_message: why } = await readTenantState(deps.store, 'acme');
  expect(why).toContain('It is read from env:ACME_KEY when a process starts');
  expect(deps.pausedHris.size).toBe(0);
});
