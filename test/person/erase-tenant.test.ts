import { appendFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { carryOutErasure, createErasureRound } from '../../activities/erase/carry-out.ts';
import type { Places } from '../../src/config.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { openLandingTables } from '../../src/hris/sql/sql.ts';
import { createRootLogger } from '../../src/log.ts';
import { eraseTenant, listReceipts } from '../../src/operator/person.ts';
import { listAlarms } from '../../src/store/alarms.ts';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import { backUp, restore } from '../../src/store/backups.ts';
import { ERASURES_FILE, readErasures } from '../../src/store/erase-restored.ts';
import { askErasure, askTenantErasure, findErasure, openErasures, takeErasures } from '../../src/store/erasures.ts';
import { openStore } from '../../src/store/open-store.ts';
import { countTenantRows } from '../../src/store/tenant-rows.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { landings } from '../../src/streams/streams.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { patience } from '../harness/pace.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { seedEverywhere } from '../store/seeded-person.ts';
import { freshStore, storeIn } from '../store/stores.ts';
import { ACME } from '../tenants/acme.ts';

const PATIENCE = patience(30_000);
const EVA = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const ASKED = { tenantId: 'acme', by: 'ann', reason: 'end of contract', landing: 'delete' } as const;

/** A tenant with somebody in store and HR database. */
async function applied({ mode, isGone = false }: { mode?: 'observe'; isGone?: boolean } = {}) {
  const dataDir = await scratchFolder();
  const hrisUrl = `sqlite:${join(dataDir, 'hr.db')}`;
  await ensureHrisSchema(hrisUrl, {}, landings);
  const { landing, close } = openLandingTables(sqlOptions(landings).parse({ url: hrisUrl }));
  onTestFinished(close);
  const options = { tenant: 'acme', signal: new AbortController().signal };
  const land = (ids = ['501']) => {
    const rows = ids.map((id) => ({ id, hash: 'h', fields: { givenName: 'Eva' } }));
    return landing.land('candidates', rows, options);
  };
  await land();
  const dbFile = join(dataDir, 'store.db');
  const store = await openStore(await storeIn(dataDir), { relaxed: true });
  const file = join(dataDir, 'acme.yaml');
  const text = ACME.replace('sqlite:./hr.sqlite', isGone ? 'postgres://hr@127.0.0.1:1/hr' : hrisUrl);
  const receives = { webhooks: 'off' as const, webhookKeys: [], ...(mode === undefined ? {} : { mode }) };
  await applyDefinitions(
    store,
    [{ tenantId: 'acme', file, files: { [file]: text }, receives, over: null, changes: [] }],
    'ann',
  );
  await seedEverywhere(store, EVA);
  const limits = { giveUpMs: 1, partnerLagMs: 1, pausedMs: 1 };
  const forgetting = { forgetHire: async () => 0, forgetTenant: async () => 0 };
  const deps = { store, dataDir, log: createRootLogger(undefined, 'silent'), limits };
  const ask = async () => {
    await removeTenant(store, ASKED);
    // Long ago, so that nothing of it is under way.
    await store.kysely.updateTable('tenants').set({ ended_at: 1 }).execute();
    return (await askTenantErasure(store, ASKED)).erasure_id;
  };
  const carryOut = (id: string, of = store) =>
    carryOutErasure({ ...deps, store: of, ...forgetting, connect: async () => undefined }, id);
  return {
    store,
    dbFile,
    ask,
    carryOut,
    goOn: createErasureRound({ ...deps, forgetting } as unknown as ActivityDeps),
    land,
    landed: () => landing.ids('candidates', { ...options, most: 9, withGone: true }),
  };
}

test('a tenant that only observes is erased, and its landing tables are left and named', async () => {
  const { store, ask, carryOut, landed } = await applied({ mode: 'observe' });
  const receipt = await carryOut(await ask());
  expect(receipt?.left).toEqual([expect.stringContaining('only observes')]);
  expect(await countTenantRows(store, 'acme')).toEqual([]);
  expect(await landed()).toEqual(['501']);
});

test.each([
  ['a freeze', 'TENANT_FROZEN', `insert into freezes values ('acme', 1, 'ben')`],
  ['a legal hold', 'LEGAL_HOLD', `insert into person_marks values ('acme', 'legal-hold', 'd', 1, 'ben', 'court')`],
])('%s that comes while landing tables are emptied spares the rest of them', async (_, code, comes) => {
  const { store, ask, carryOut, land, landed } = await applied();
  await land(Array.from({ length: 1_001 }, (_unused, nth) => String(1_000 + nth)));
  const erasure = await ask();
  // After the first page, as the second one is found.
  await sql
    .raw(
      `create trigger comes after update of found on erasures when new.found like '%table of candidates":1002%'
      begin ${comes}; end`,
    )
    .execute(store.kysely);
  await expect(carryOut(erasure)).rejects.toMatchObject({ code });
  expect(await landed()).toEqual(['2000', '501']);
  await sql`drop trigger comes`.execute(store.kysely);
  await store.kysely.deleteFrom('freezes').execute();
  await store.kysely.deleteFrom('person_marks').execute();
  expect(await carryOut(erasure)).toMatchObject({ receipt: erasure, left: [] });
  expect(await landed()).toEqual([]);
});

test('an HR system that is gone keeps no row of the store, is told, and can be given up', async () => {
  const { store, ask, carryOut, goOn } = await applied({ isGone: true });
  const erasure = await ask();
  await goOn();
  const [alarm] = await vi.waitFor(async () => {
    const alarms = await listAlarms(store, 'acme');
    expect(alarms).toHaveLength(1);
    return alarms;
  }, PATIENCE);
  expect(await openErasures(store)).toHaveLength(1);
  expect(alarm).toMatchObject({ kind: 'erasure-failing', reason: 'LANDING_NOT_ERASED' });
  expect(alarm?.message).toContain('hirebridge tenant remove acme --erase --landing keep');
  expect(await listReceipts(store, 'acme')).toMatchObject([{ state: 'under way', failing: alarm?.message }]);
  expect((await countTenantRows(store, 'acme')).map(({ place }) => place)).toEqual(['alarms']);
  expect((await askTenantErasure(store, { ...ASKED, landing: 'keep' })).erasure_id).toBe(erasure);
  expect(await carryOut(erasure)).toMatchObject({ receipt: erasure, erased: { hires: 1 } });
  expect(await listAlarms(store)).toEqual([]);
  expect(await listReceipts(store, 'acme')).toMatchObject([{ state: 'done', failing: undefined }]);
});

test('landing tables that do not answer stop the erasure before the tenant is removed', async () => {
  const { store } = await applied({ isGone: true });
  const before = await countTenantRows(store, 'acme');
  const parts = { store, places: {} as Places, tenantId: 'acme', by: 'ann', hires: {} as HireClient };
  const asked = eraseTenant(parts, { reason: 'end', landing: 'delete' });
  await expect(asked).rejects.toMatchObject({ code: 'LANDING_UNREACHABLE' });
  expect(await readTenantState(store, 'acme')).toMatchObject({ state: 'active' });
  expect(await countTenantRows(store, 'acme')).toEqual(before);
  expect(await openErasures(store)).toEqual([]);
});

test('a tenant whose erasure hangs keeps no other tenant’s waiting', async () => {
  const { store } = await freshStore('sqlite');
  const dataDir = await scratchFolder();
  const asked = async (tenantId: string) => {
    const ids = { candidates: ['501'], jobCandidates: ['9501'], enrolments: [], employees: [] };
    const subject = { tenantId, companies: [tenantId], ...ids };
    await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  };
  let hanging = 0;
  const forgetHire = ({ tenantId }: { tenantId: string }) =>
    tenantId === 'slow' ? new Promise<number>(() => (hanging += 1)) : Promise.resolve(0);
  const round = createErasureRound({
    store,
    dataDir,
    log: createRootLogger(undefined, 'silent'),
    limits: { giveUpMs: 1, partnerLagMs: 1, pausedMs: 1 },
    forgetting: { forgetHire, forgetTenant: async () => 0 },
  } as unknown as ActivityDeps);
  await asked('slow');
  await round();
  await vi.waitFor(() => expect(hanging).toBe(1), PATIENCE);
  await asked('quick');
  await round();
  const open = async () => (await openErasures(store)).map((row) => row.tenant_id);
  await vi.waitFor(async () => expect(await open()).toEqual(['slow']), PATIENCE);
  expect(hanging).toBe(1);
});

test.each([
  ['before it was asked for', async (back: () => Promise<void>, ask: () => Promise<string>) => (await back(), ask())],
  [
    'while it was under way',
    async (back: () => Promise<void>, ask: () => Promise<string>) => {
      const erasure = await ask();
      await back();
      return erasure;
    },
  ],
])('an erasure of a tenant goes on in a store that is put back from a backup made %s', async (_, askAround) => {
  const { store, dbFile, ask, carryOut, landed } = await applied();
  const backup = `${dbFile}.backup`;
  const erasure = await askAround(() => backUp(dbFile, backup), ask);
  await keepListed(dbFile, erasure);
  await store.close();
  await restore(dbFile, backup, 'ann', await readErasures(join(dirname(dbFile), ERASURES_FILE)));
  const restored = await openStore(`sqlite:${dbFile}`, { relaxed: true });
  onTestFinished(() => restored.close());
  expect((await openErasures(restored)).map((row) => row.erasure_id)).toEqual([erasure]);
  expect(await countTenantRows(restored, 'acme')).toEqual([]);
  expect(await readTenantState(restored, 'acme')).toMatchObject({ state: 'removed' });
  expect(await landed()).toEqual(['501']);
  // A worker has ended what was under way.
  await restored.kysely.updateTable('tenants').set({ ended_at: 1 }).execute();
  expect(await carryOut(erasure, restored)).toMatchObject({ receipt: erasure, left: [] });
  expect(await landed()).toEqual([]);
  expect(await openErasures(restored)).toEqual([]);
});

test('what was under way when a backup was made, and is done since, keeps the receipt that it was given', async () => {
  const { store, dbFile, ask, carryOut } = await applied();
  const backup = `${dbFile}.backup`;
  const erasure = await ask();
  await backUp(dbFile, backup);
  const receipt = await carryOut(erasure);
  await store.close();
  await restore(dbFile, backup, 'ann', await readErasures(join(dirname(dbFile), ERASURES_FILE)));
  const restored = await openStore(`sqlite:${dbFile}`, { relaxed: true });
  onTestFinished(() => restored.close());
  expect(await openErasures(restored)).toEqual([]);
  expect(JSON.parse((await findErasure(restored, erasure))?.receipt ?? '{}')).toEqual(receipt);
  expect(await countTenantRows(restored, 'acme')).toEqual([]);
});

test('a tenant erased since the backup, in a store that is gone, is looked for once more outside it', async () => {
  const { store, dbFile, ask, carryOut, landed, land } = await applied();
  const backup = `${dbFile}.backup`;
  await backUp(dbFile, backup);
  const erasure = await ask();
  await carryOut(erasure);
  await store.close();
  // What a worker of before had read came late: landing tables and workflows are of no backup.
  await land();
  for (const end of ['', '-wal', '-shm']) await rm(`${dbFile}${end}`, { force: true });
  for (let times = 0; times < 2; times += 1)
    await restore(dbFile, backup, 'ann', await readErasures(join(dirname(dbFile), ERASURES_FILE)));
  const restored = await openStore(`sqlite:${dbFile}`);
  onTestFinished(() => restored.close());
  const [again, ...more] = await openErasures(restored);
  expect(more).toEqual([]);
  expect(again?.reason).toBe(`a backup was put back that is from before erasure ${erasure}`);
  expect(await countTenantRows(restored, 'acme')).toEqual([]);
  expect(await readTenantState(restored, 'acme')).toMatchObject({ state: 'removed' });
  await restored.kysely.updateTable('tenants').set({ ended_at: 1 }).execute();
  expect(await carryOut(again?.erasure_id ?? '', restored)).toMatchObject({ left: [] });
  expect(await landed()).toEqual([]);
});

test.each([
  ['under way', false],
  ['done', true],
])('a tenant applied again stays in the right backup, with an erasure by a wrong one %s', async (_, isDone) => {
  const { store, dbFile, ask, carryOut } = await applied();
  const [wrong, right] = [`${dbFile}.wrong`, `${dbFile}.right`];
  await backUp(dbFile, wrong);
  await carryOut(await ask());
  await store.kysely.updateTable('tenants').set({ state: 'active', applied_at: Date.now() }).execute();
  await backUp(dbFile, right);
  await store.close();
  const back = async (backup: string) =>
    restore(dbFile, backup, 'ann', await readErasures(join(dirname(dbFile), ERASURES_FILE)));
  // An older store was put back first, which knows neither the erasure nor what came after it.
  for (const end of ['', '-wal', '-shm']) await rm(`${dbFile}${end}`, { force: true });
  await back(wrong);
  const between = await openStore(`sqlite:${dbFile}`, { relaxed: true });
  const [again] = await openErasures(between);
  await between.kysely.updateTable('tenants').set({ ended_at: 1 }).execute();
  if (isDone) await carryOut(again?.erasure_id ?? '', between);
  await between.close();
  await back(right);
  const restored = await openStore(`sqlite:${dbFile}`, { relaxed: true });
  onTestFinished(() => restored.close());
  expect(await readTenantState(restored, 'acme')).toMatchObject({ state: 'active' });
  expect(await openErasures(restored)).toEqual([]);
});

test('a receipt says that no landing table was looked at where the backup does not know the tenant', async () => {
  const { store, ask, carryOut } = await applied();
  const erasure = await ask();
  const { store: restored } = await freshStore('sqlite');
  await takeErasures(
    restored,
    (await openErasures(store)).map((row) => ({ ...row, quiet_at: 1 })),
  );
  const { left } = (await carryOut(erasure, restored)) ?? {};
  expect(left).toEqual([expect.stringContaining('does not know the tenant')]);
});

/** As the process that began it wrote it down beside the store. */
function keepListed(dbFile: string, erasure: string): Promise<void> {
  const line = { erasure, tenant: 'acme', by: 'ann', keys: [], person: [], wholeTenant: Date.now() };
  return appendFile(join(dirname(dbFile), ERASURES_FILE), `${JSON.stringify(line)}\n`);
}
