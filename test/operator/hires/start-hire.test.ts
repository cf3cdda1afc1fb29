import { expect, test } from 'vitest';
import type { HireState } from '../../../src/hire/hire.ts';
import { startHire } from '../../../src/operator/hires.ts';
import { insertHires, latestHire } from '../../../src/store/hires.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
import type { HireClient } from '../../../src/temporal/hire-client.ts';
import { sqliteStore } from '../../store/stores.ts';

const request = { tenantId: 'acme', jobCandidateId: '7' };

/** A real store with this hire in it, and a client that notes which workflows it would start. */
async function operatorOver(state: HireState | undefined) {
  const store = await sqliteStore();
  if (state !== undefined) await insertHires(store, [{ ...request, period: 1, state: 'open' }]);
  if (state !== undefined) await store.kysely.updateTable('hires').set({ state }).execute();
  const started: string[] = [];
  const workflow = {
    signalWithStart: async (_type: string, { workflowId }: { workflowId: string }) => void started.push(workflowId),
  };
  const client = { workflow } as unknown as HireClient['client'];
  const timing = { heartbeatMs: 1, attemptMs: 1, retryMs: 1 };
  return {
    parts: { store, hires: { client, installationId: store.installationId, timing }, tenants: [{ tenantId: 'acme' }] },
    started,
  };
}

test.each<[string, HireState | undefined, boolean, boolean]>([
  ['a hire that is not known yet is started', undefined, false, true],
  ['a person who left is started in a new period', 'left', false, true],
  ['a hire under way stays as it is', 'open', true, false],
  ['a verified hire stays as it is', 'done', true, false],
  ['a hire from before go-live stays as it is', 'before-go-live', false, false],
  ['a hire from before go-live is started with adopt', 'before-go-live', true, true],
  ['a cancelled hire is started with adopt', 'cancelled', true, true],
])('%s', async (_what, state, adopt, expected) => {
  const { parts, started } = await operatorOver(state);
  const result = await startHire(parts, { ...request, adopt, by: 'ann' });
  const workflowId = `${parts.store.installationId}/hire/acme/7`;
  expect(result).toMatchObject({ started: expected, workflowId });
  expect(started).toEqual(expected ? [workflowId] : []);
  expect((await latestHire(parts.store, 'acme', '7'))?.state).toBe(state);
});

test.each([
  ['removed', { state: 'removed' }, 'TENANT_REMOVED'],
  ['that only observes', { receives: '{"mode":"observe"}' }, 'TENANT_OBSERVES'],
] as const)('of a tenant %s nothing is started or written down', async (_what, change, code) => {
  const { parts, started } = await operatorOver('before-go-live');
  await readTenantState(parts.store, 'acme');
  await parts.store.kysely.updateTable('tenants').set(change).execute();
  const start = startHire(parts, { ...request, adopt: true, by: 'ann' });
  await expect(start).rejects.toMatchObject({ code, action: 'reject' });
  expect(started).toEqual([]);
  expect(await parts.store.kysely.selectFrom('audit').selectAll().execute()).toEqual([]);
});

test('a tenant that no file names is rejected before anything starts', async () => {
  const { parts, started } = await operatorOver(undefined);
  await expect(startHire(parts, { ...request, tenantId: 'acne', adopt: false, by: 'ann' })).rejects.toMatchObject({
    code: 'TENANT_UNKNOWN',
    message: expect.stringContaining('acme') as string,
  });
  expect(started).toEqual([]);
});

test('somebody who was erased is not started, not even with adopt, and no trail names them', async () => {
  const { parts, started } = await operatorOver(undefined);
  const ids = [{ kind: 'job-candidate' as const, id: '7' }];
  await markPerson(parts.store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, ids);
  const start = startHire(parts, { ...request, adopt: true, by: 'ann' });
  await expect(start).rejects.toMatchObject({ code: 'PERSON_ERASED' });
  expect(started).toEqual([]);
  expect(await parts.store.kysely.selectFrom('audit').selectAll().execute()).toEqual([]);
});
