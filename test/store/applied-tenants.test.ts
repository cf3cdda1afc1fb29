import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  type Application,
  applyDefinitions,
  listAppliedTenants,
  pauseByPerson,
  readTenantsVersion,
  recordEnd,
  removeTenant,
  resumeByPerson,
} from '../../src/store/applied-tenants.ts';
import { assertMayWrite, freeze, listFreezes, thaw } from '../../src/store/freezes.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { answerHold, countOpenHolds, listHolds, openHold, unheardAnswers } from '../../src/store/holds.ts';
import { countHoldCauses, listAudit } from '../../src/store/listings.ts';
import { openStore } from '../../src/store/open-store.ts';
import { mergeCandidates } from '../../src/store/people.ts';
import { findPerson, recordPeople } from '../../src/store/persons.ts';
import { pauseTenant, readTenantState, resumeTenant } from '../../src/store/tenant-states.ts';
import { within } from '../../src/within.ts';
import { holdPerson, linkPerson, who } from './known-people.ts';
import { emptyStoreUrl, freshStore, freshStoreUrl, kinds } from './stores.ts';

const acme: Application = {
  tenantId: 'acme',
  file: '/tenants/acme.yaml',
  files: { '/tenants/acme.yaml': 'tenant: acme\n' },
  receives: { webhooks: 'on', webhookKeys: ['env:KEY'], company: '17' },
  over: null,
  changes: ['tenant: acme'],
};
const ada = { tenantId: 'acme', by: 'ada' };

/** Applied without a company, with a hire under way: its person is known by the tenant's own name. */
async function unnamedTenant(kind: (typeof kinds)[number]) {
  const stores = await freshStore(kind);
  const { company: _, ...receives } = acme.receives;
  await applyDefinitions(stores.store, [{ ...acme, receives }], 'ada');
  const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
  await insertHires(stores.store, [{ ...ref, state: 'open', candidateId: '88' }]);
  const baseline = { ...ref, jobCandidateId: '5013', how: 'baseline' as const };
  return { ...stores, ref, baseline, unnamed: who('88', 'hr', 'acme'), named: who('88') };
}

describe.each(kinds)('applied tenants in %s', (kind) => {
  test('are kept with their version, who applied them and what changed', async () => {
    const { store, other } = await freshStore(kind);
    expect(await applyDefinitions(store, [acme, { ...acme, tenantId: 'beta' }], 'ada')).toBe(true);
    const applied = await listAppliedTenants(other);
    expect(applied.map(({ tenantId, version }) => [tenantId, version])).toEqual([
      ['acme', 1],
      ['beta', 1],
    ]);
    expect(applied[0]).toMatchObject({ files: acme.files, receives: acme.receives, state: 'active', appliedBy: 'ada' });
    expect(await listAudit(store, { tenantIds: ['acme'], limit: 5 })).toMatchObject([
      { by: 'ada', act: 'applied', details: 'tenant: acme' },
    ]);
  });

  test('are applied all or none, over the version they were compared with', async () => {
    const { store, other } = await freshStore(kind);
    await applyDefinitions(store, [acme], 'ada');
    expect(await applyDefinitions(other, [{ ...acme, tenantId: 'beta' }, acme], 'bob')).toBe(false);
    expect(await listAppliedTenants(other)).toMatchObject([{ tenantId: 'acme', appliedBy: 'ada' }]);
    expect(await applyDefinitions(other, [{ ...acme, over: 1 }], 'bob')).toBe(true);
    expect(await listAppliedTenants(other)).toMatchObject([{ tenantId: 'acme', appliedBy: 'bob' }]);
  });

  test('show only what changed since a version, a state that was seen without a file never', async () => {
    const { store } = await freshStore(kind);
    await readTenantState(store, 'seen');
    await applyDefinitions(store, [acme], 'ada');
    const since = await readTenantsVersion(store);
    expect(await listAppliedTenants(store, since)).toEqual([]);
    await pauseByPerson(store, ada);
    expect(await listAppliedTenants(store, since)).toMatchObject([{ tenantId: 'acme', state: 'paused' }]);
  });

  test('keep whom they hired when they name their company for the first time', async () => {
    const { store } = await freshStore(kind);
    const { company: _, ...receives } = acme.receives;
    await applyDefinitions(store, [{ ...acme, receives }], 'ada');
    const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
    const [unnamed, named] = [who('88', 'hr', 'acme'), who('88')];
    await insertHires(store, [{ ...ref, state: 'open' }]);
    await holdPerson(store, unnamed, ref);
    await linkPerson(store, unnamed, ref, { id: '7' });
    await applyDefinitions(store, [{ ...acme, over: 1 }], 'ada');
    expect(await findPerson(store, named)).toMatchObject({ owner: ref, employees: [{ candidate: named.candidate }] });
    expect(await findPerson(store, unnamed)).toMatchObject({ version: 0 });
  });

  test('that named their company refuse what a worker has to say by the name of before', async () => {
    const { store, other, ref, baseline, unnamed, named } = await unnamedTenant(kind);
    await holdPerson(other, unnamed, ref);
    await applyDefinitions(store, [{ ...acme, over: 1 }], 'ada');
    const refused = { code: 'COMPANY_NAMED', action: 'retry' };
    await expect(linkPerson(other, unnamed, ref, { id: '7' })).rejects.toMatchObject(refused);
    const earlier = { ...who('89', 'hr', 'acme'), as: baseline };
    await expect(recordPeople(other, [earlier])).rejects.toMatchObject(refused);
    const both = { connection: 'hr', from: unnamed.candidate, to: earlier.candidate };
    await expect(mergeCandidates(other, ref, both)).rejects.toMatchObject(refused);
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({ candidate_id: '88', employee_id: null });
    await linkPerson(other, named, ref, { id: '7' });
    expect(await findPerson(store, named)).toMatchObject({ owner: ref, employees: [{ candidate: named.candidate }] });
    expect(await store.kysely.selectFrom('persons').select('person_id').execute()).toHaveLength(1);
  });

  test('make one person of whom an earlier version knew by both names', async () => {
    const { store, ref, unnamed, named } = await unnamedTenant(kind);
    await holdPerson(store, named, ref);
    await linkPerson(store, unnamed, ref, { id: '7' });
    const receives = JSON.stringify(acme.receives);
    await store.kysely.updateTable('tenants').set({ receives }).execute();
    await applyDefinitions(store, [{ ...acme, over: 1 }], 'ada');
    expect(await findPerson(store, named)).toMatchObject({ owner: ref, employees: [{ candidate: named.candidate }] });
    expect(await store.kysely.selectFrom('persons').select('person_id').execute()).toHaveLength(1);
  });

  test('paused by a person, are resumed by a person only', async () => {
    const { store } = await freshStore(kind);
    await applyDefinitions(store, [acme], 'ada');
    expect(await resumeByPerson(store, ada)).toBe(false);
    expect(await pauseByPerson(store, ada)).toBe(true);
    expect(await resumeTenant(store, 'acme')).toBe(false);
    expect(await resumeByPerson(store, ada)).toBe(true);
    await pauseTenant(store, 'acme', 'KEY_REFUSED', '401');
    expect(await resumeByPerson(store, ada)).toBe(false);
    expect(await resumeTenant(store, 'acme')).toBe(true);
    expect((await listAudit(store, { tenantIds: ['acme'], limit: 9 })).map(({ act }) => act).toSorted()).toEqual([
      'applied',
      'paused',
      'resumed',
    ]);
  });

  test('removed, stay known, are paused by nothing, and come back when they are applied again', async () => {
    const { store } = await freshStore(kind);
    await applyDefinitions(store, [acme], 'ada');
    expect(await removeTenant(store, { ...ada, tenantId: 'nobody' })).toBe(false);
    expect(await removeTenant(store, ada)).toBe(true);
    expect(await removeTenant(store, ada)).toBe(false);
    expect(await pauseByPerson(store, ada)).toBe(false);
    expect(await pauseTenant(store, 'acme', 'KEY_REFUSED', '401')).toBe(false);
    expect(await listAppliedTenants(store)).toMatchObject([{ state: 'removed', endedAt: null }]);
    for (const hire of [{}, { jobCandidateId: '7', period: 1 }])
      await openHold(store, { tenantId: 'acme', ...hire, code: 'ASKED', message: 'asked', answers: ['retry'] });
    const { holdId } = await openHold(store, { tenantId: 'acme', code: 'TOLD', message: 'told', answers: ['retry'] });
    await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
    await openHold(store, { tenantId: 'beta', code: 'ASKED', message: 'asked', answers: ['retry'] });
    const counted = async () => [
      (await listHolds(store)).map((row) => row.tenant_id),
      (await countOpenHolds(store)).map((row) => row.tenantId),
      (await listHolds(store, { limit: 9 })).map((row) => row.tenant_id),
      (await countHoldCauses(store)).map(({ code, holds }) => [code, holds]),
      await unheardAnswers(store, 0),
    ];
    // Nobody waits for them, from the removal on.
    const others = [['beta'], ['beta'], ['beta'], [['ASKED', 1]], []];
    expect(await counted()).toEqual(others);
    const open = async () => (await listHolds(store, { all: true })).filter((row) => row.closed_at === null);
    expect(await open()).toHaveLength(4);
    await recordEnd(store, 'acme');
    expect(await counted()).toEqual(others);
    // Holds that were opened in the same millisecond come in any order.
    const left = (await open()).toSorted((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1));
    expect(left).toMatchObject([{ tenant_id: 'acme', hold_id: holdId }, { tenant_id: 'beta' }]);
    const [removed] = await listAppliedTenants(store);
    expect(removed?.endedAt).toBeGreaterThan(0);
    expect(await applyDefinitions(store, [{ ...acme, over: removed?.version ?? null }], 'bob')).toBe(true);
    expect(await listAppliedTenants(store)).toMatchObject([{ state: 'active', endedAt: null }]);
    expect(await unheardAnswers(store, 0)).toMatchObject([{ hold_id: holdId }]);
  });

  test('frozen, may not write, and the fleet over them neither', async () => {
    const { store, other } = await freshStore(kind);
    await applyDefinitions(store, [acme, { ...acme, tenantId: 'beta' }], 'ada');
    await assertMayWrite(other, 'acme');
    expect(await freeze(store, 'ada', 'acme')).toBe(true);
    expect(await freeze(store, 'ada', 'acme')).toBe(false);
    await expect(assertMayWrite(other, 'acme')).rejects.toMatchObject({ code: 'TENANT_FROZEN', action: 'throttle' });
    await assertMayWrite(other, 'beta');
    expect(await freeze(store, 'bob')).toBe(true);
    await expect(assertMayWrite(other, 'beta')).rejects.toThrow('All tenants are frozen by bob');
    await expect(assertMayWrite(other, 'never-seen')).rejects.toThrow('hirebridge thaw');
    expect(await listFreezes(store)).toMatchObject([{ by: 'bob' }, { tenantId: 'acme', by: 'ada' }]);
    expect([await thaw(store, 'bob'), await thaw(store, 'bob'), await thaw(store, 'ada', 'acme')]).toEqual([
      true,
      false,
      true,
    ]);
    await assertMayWrite(other, 'acme');
  });
});

test('tenants in postgres name their company only once who is being recorded is known', async () => {
  const { store, other, baseline, unnamed, named } = await unnamedTenant('postgres');
  const recorded = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const recording = other.kysely.transaction().execute(async (kysely) => {
    await recordPeople({ ...other, kysely }, [{ ...unnamed, as: baseline }]);
    recorded.resolve();
    await commit.promise;
  });
  await recorded.promise;
  const applying = applyDefinitions(store, [{ ...acme, over: 1 }], 'ada');
  await within(300, applying);
  commit.resolve();
  await Promise.all([recording, applying]);
  expect(await findPerson(store, named)).toMatchObject({ recorded: baseline });
});

describe.each(kinds)('opening a store in %s', (kind) => {
  test('that a newer version brought up to date is refused in one line', async () => {
    const url = await freshStoreUrl(kind);
    const store = await openStore(url);
    const row = { name: '0002-later', timestamp: '2030-01-01T00:00:00Z' };
    await store.kysely
      .insertInto('kysely_migration' as 'audit')
      .values(row as never)
      .execute();
    await store.close();
    const error: unknown = await openStore(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'STORE_TOO_NEW', action: 'reject' });
    expect((error as Error).message).toMatch(/^[^\n]*0002-later[^\n]*newer version\.$/);
  });

  test('never makes or changes tables for a command that only looks', async () => {
    const url = await emptyStoreUrl(kind);
    await expect(openStore(url, { migrate: 'never' })).rejects.toMatchObject({ code: 'STORE_MISSING' });
    const store = await openStore(url);
    const again = await openStore(url, { migrate: 'never' });
    expect(again.installationId).toBe(store.installationId);
    await Promise.all([store.close(), again.close()]);
  });

  test('makes the tables of an empty one for a command that looks before a start, and no more', async () => {
    const url = await emptyStoreUrl(kind);
    const store = await openStore(url, { migrate: 'if-empty' });
    await sql`delete from kysely_migration where name >= '0025'`.execute(store.kysely);
    await expect(openStore(url, { migrate: 'if-empty' })).rejects.toMatchObject({ code: 'STORE_TOO_OLD' });
    await store.close();
  });
});
