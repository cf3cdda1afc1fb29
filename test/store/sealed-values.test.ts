import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { backUp, eraseAgain } from '../../src/store/backups.ts';
import { listLostKeys, SEALED } from '../../src/store/data-keys.ts';
import { readPairStates, savePair } from '../../src/store/exchange-pairs.ts';
import { listConflicts, settleConflicts } from '../../src/store/field-conflicts.ts';
import { listWrites, type NewWrite, recordWrites } from '../../src/store/foreign-writes.ts';
import { settleDocument } from '../../src/store/hire-documents.ts';
import { claimStep, settleStep } from '../../src/store/hire-steps.ts';
import { insertHires } from '../../src/store/hires.ts';
import { answerHold, askAnew, closeHold, keepRefusal, listHolds, openHold } from '../../src/store/holds.ts';
import { latestIntent, openIntent } from '../../src/store/intents.ts';
import { readJobs, saveJobs } from '../../src/store/jobs.ts';
import { readLookupRows, saveLookupRows } from '../../src/store/lookup-rows.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows } from '../../src/store/person-data.ts';
import { personOf } from '../../src/store/person-marks.ts';
import { insertPlan, latestPlan, readPlanRecords, savePlan } from '../../src/store/plans.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import { addDataKey, encryptTenant, listDataKeys, type Sealing } from '../../src/store/sealed-values.ts';
import { beginRun } from '../../src/store/streams.ts';
import { countTenantRows, eraseTenantRows } from '../../src/store/tenant-rows.ts';
import { addKey } from '../../src/vault/keys.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { canaryOf, seedEverywhere } from './seeded-person.ts';
import { freshStoreUrl, kinds } from './stores.ts';

const NAME = 'Canary Lind-Ø';
const EVA = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const REF = { tenantId: 'acme', jobCandidateId: '9501', period: 1 };
const STREAM = { tenantId: 'acme', stream: 'employees' as const };
const ABOUT = { details: { jobCandidateIds: ['9501', '9777'] } };
const still = new AbortController().signal;

async function keyFile(): Promise<string> {
  const file = join(await scratchFolder(), 'keys');
  addKey(`file:${file}`, '2026-11-26');
  return file;
}

async function open(url: string, file: string | undefined): Promise<Store & { sealing: Sealing }> {
  const store = await openStore(url, { relaxed: true, keys: { ref: file && `file:${file}` } });
  onTestFinished(() => store.close());
  return store as Store & { sealing: Sealing };
}

/** Every value of a person, by whatever writes it. */
async function writeAll(store: Store): Promise<string> {
  const write = (recordId: string): NewWrite => {
    return { target: 'candidates', recordId, kind: 'create', changes: { name: { new: NAME } }, sensitive: [] };
  };
  const origin = { tenantId: 'acme', runId: 'r', mappingHash: null, by: 'ann' };
  await recordWrites(store, origin, [write('1')]);
  await recordWrites(store, origin, [write('2'), { ...write('3'), changes: { name: { new: `${NAME}\u0000` } } }]);
  const pair = { pairId: '31', version: 0, bases: { name: NAME }, sent: { name: { to: 'hris', form: NAME } } } as const;
  await savePair(store, STREAM, { ...pair, echoes: { name: { to: 'hris', form: NAME, times: 0 } } });
  const sides = { partner: NAME, hris: `${NAME}!` };
  const conflict = { field: 'name', kind: 'held', forms: sides, values: sides, isSensitive: true } as const;
  await settleConflicts(store, { ...STREAM, pairId: '31' }, { open: [] }, [conflict]);
  await openIntent(store, { ...REF, verb: 'enrol:1', attempt: 1, pinned: { NAME }, budgetMs: 1, state: 'none' });
  await saveJobs(store, 'acme', [{ jobId: '7', record: { recruiter: NAME } }]);
  await saveLookupRows(store, STREAM, [{ id: '5', hash: 'h', fields: { name: NAME } }]);
  await insertHires(store, [{ ...REF, state: 'open' }]);
  await insertPlan(store, REF, { mappingHash: 'm', change: { name: NAME } });
  const { holdId } = await openHold(store, { ...REF, code: 'HRIS_REJECTED', message: NAME, answers: ['retry'] });
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
  await closeHold(store, holdId);
  await openHold(store, { ...REF, code: 'HRIS_REJECTED', message: `${NAME} again`, answers: ['retry'] });
  const asked = { tenantId: 'acme', code: 'ASKED', answers: [] };
  const wide = await openHold(store, { ...asked, message: NAME });
  await askAnew(store, wide.holdId, { ...asked, ...ABOUT, message: `${NAME} and 9501` });
  await settleDocument(store, { ...REF, document: 'resume', attempt: 1 }, { state: 'unlike', reason: NAME });
  await keepRefusal(store, REF, { code: 'REFUSED', message: NAME });
  await beginRun(store, STREAM, { runId: 'r', full: true, firstPage: 0 });
  await changeQuarantine(store, STREAM, 'r', { page: 1, over: [], news: [{ key: '31', reason: NAME }] });
  const step = { ...REF, destination: 'accounts' };
  await claimStep(store, step, { reference: 'r', runId: 'r' });
  await settleStep(store, step, 'r', { state: 'held', code: 'X', reason: NAME, hold_id: null });
  const plan = { tenantId: 'acme', subject: 'candidates', source: 'records' as const, mappingHash: null, by: 'ann' };
  return savePlan(store, { ...plan, records: [{ id: '1', change: { name: NAME } }] });
}

async function readAll(store: Store, planHash: string): Promise<unknown[]> {
  const [pair] = (await readPairStates(store, STREAM, ['31'])).values();
  const [conflict] = await listConflicts(store, { tenantId: 'acme', all: true });
  const values = [conflict?.partner_form, conflict?.hris_form, conflict?.partner_value, conflict?.hris_value];
  const plan = (await latestPlan(store, REF))?.change;
  return [
    // Those of one millisecond come in any order.
    new Map((await listWrites(store, { tenantId: 'acme' })).map((row) => [row.record_id, row.changes])),
    [pair?.bases, pair?.sent, pair?.echoes, ...values],
    [(await latestIntent(store, REF, 'enrol:1'))?.pinned, plan],
    (await readJobs(store, 'acme')).map(({ record }) => record),
    (await readLookupRows(store, STREAM)).map(({ fields }) => fields),
    await readPlanRecords(store, planHash),
    new Set((await listHolds(store, { tenantId: 'acme', all: true })).map(({ message }) => message)),
    [(await store.kysely.selectFrom('hire_documents').selectAll().execute())[0]?.reason],
    [(await store.kysely.selectFrom('hire_steps').selectAll().execute())[0]?.reason],
    [(await store.kysely.selectFrom('refusals').selectAll().execute())[0]?.message],
    [(await readQuarantine(store, STREAM))[0]?.reason],
  ];
}

/** What stands in every sealed column of the tenant, as it stands there. */
async function rawValues({ kysely }: Store): Promise<string[]> {
  const raw = kysely.withoutPlugins();
  const columns = Object.entries(SEALED).flatMap(([table, some]) => some.map((column) => [table, column] as const));
  const all = columns.map(async ([table, column]) => {
    const query = sql<{ text: string | null }>`select ${sql.ref(column)} as text from ${sql.table(table)}`;
    return (await query.execute(raw)).rows.flatMap(({ text }) => text ?? []);
  });
  return (await Promise.all(all)).flat().filter((text) => text !== '{}');
}

describe.each(kinds)('values of people in the store, on %s', (kind) => {
  test('stand encrypted where keys are set, read as written, and not at all without the key', async () => {
    const [url, file, clearUrl] = [await freshStoreUrl(kind), await keyFile(), await freshStoreUrl(kind)];
    const [store, clear] = [await open(url, file), await open(clearUrl, undefined)];
    expect(clear.sealing).toBeUndefined();
    const [hash, clearHash] = [await writeAll(store), await writeAll(clear)];
    const written = await readAll(clear, clearHash);
    expect(JSON.stringify(written)).toContain(NAME);
    expect(await readAll(store, hash)).toEqual(written);
    expect(await readAll(await open(url, file), hash)).toEqual(written);
    const raw = await rawValues(store);
    expect(raw.length).toBeGreaterThan(12);
    for (const text of raw) expect(text).toMatch(/^sealed:/);
    if (kind === 'sqlite') expect((await readFile(url.slice('sqlite:'.length))).toString()).not.toContain('Canary');
    await expect(open(url, undefined)).rejects.toMatchObject({ code: 'KEY_MISSING' });
    await expect(open(url, await keyFile())).rejects.toMatchObject({ code: 'KEY_MISSING' });
  });

  test('stay encrypted in what an erasure leaves of a row that others share', async () => {
    const store = await open(await freshStoreUrl(kind), await keyFile());
    await writeAll(store);
    const eva = await completeIds(store, 'acme', personOf([{ kind: 'job-candidate', id: '9501' }]));
    await erasePersonRows(store, eva);
    const [left] = (await listHolds(store)).filter(({ code }) => code === 'ASKED');
    expect(left).toMatchObject({ details: '{"jobCandidateIds":["9777"]}', message: expect.not.stringMatching('9501') });
    expect(left?.message).toContain(NAME);
    expect((await rawValues(store)).filter((text) => !text.startsWith('sealed:'))).toEqual([]);
  });

  test('are refused where they were changed, or moved to another column or tenant', async () => {
    const store = await open(await freshStoreUrl(kind), await keyFile());
    await writeAll(store);
    const raw = store.kysely.withoutPlugins();
    const broken = { code: 'SEAL_BROKEN' };
    await sql`update plans set change = (select pinned from intents)`.execute(raw);
    await expect(latestPlan(store, REF)).rejects.toMatchObject(broken);
    await sql`update plans set change = replace(change, 'intents.pinned', 'plans.change')`.execute(raw);
    await expect(latestPlan(store, REF)).rejects.toMatchObject(broken);
    await sql`update exchange_pairs set bases = sent`.execute(raw);
    await expect(readPairStates(store, STREAM, ['31'])).rejects.toMatchObject(broken);
    await sql`update lookup_rows set tenant_id = 'umbrella'`.execute(raw);
    await expect(readLookupRows(store, { ...STREAM, tenantId: 'umbrella' })).rejects.toMatchObject(broken);
    await sql`update saved_plans set tenant_id = 'umbrella'`.execute(raw);
    const { plan_hash: hash } = await store.kysely
      .selectFrom('saved_plans')
      .select('plan_hash')
      .executeTakeFirstOrThrow();
    await expect(readPlanRecords(store, hash)).rejects.toMatchObject(broken);
  });

  test('of before are encrypted by the chore, and again once a key was replaced, and stay readable', async () => {
    const [url, file] = [await freshStoreUrl(kind), await keyFile()];
    const before = await openStore(url, { relaxed: true });
    await seedEverywhere(before, EVA);
    const hash = await writeAll(before);
    const written = await readAll(before, hash);
    await before.close();
    const store = await open(url, file);
    expect(await readAll(store, hash)).toEqual(written);
    const encrypt = async (): Promise<number> => {
      await store.sealing.current('acme');
      // As if the key had been made some time ago: another process may go on with the one before for seconds.
      await store.sealing.database.kysely.updateTable('data_keys').set({ made_at: 1 }).execute();
      return encryptTenant(store, 'acme', still);
    };
    const count = (await rawValues(store)).length;
    expect(await encrypt()).toBe(count);
    expect((await rawValues(store)).filter((text) => !text.startsWith('sealed:'))).toEqual([]);
    expect(await readAll(store, hash)).toEqual(written);
    expect(await encrypt()).toBe(0);
    // The data key.
    const { key_id: next } = await addDataKey(store.sealing, 'acme');
    expect(await encrypt()).toBe(count);
    expect((await rawValues(store)).filter((text) => !text.startsWith(`sealed:${next}:`))).toEqual([]);
    // The master key: a new first line, and the old one taken out once nothing needs it.
    const { keyId } = addKey(`file:${file}`, '2026-11-27');
    const [first = '', second = ''] = (await readFile(file, 'utf8')).trim().split('\n');
    await writeFile(file, `${second}\n${first}\n`);
    const other = await open(url, file);
    await encryptTenant(other, 'acme', still);
    expect(new Set((await listDataKeys(other.sealing)).map((row) => row.master_key))).toEqual(new Set([keyId]));
    await writeFile(file, `${second}\n`);
    expect(await readAll(await open(url, file), hash)).toEqual(written);
  });

  test('are gone with the data key of an erased tenant, and another tenant keeps its own', async () => {
    const [url, file] = [await freshStoreUrl(kind), await keyFile()];
    const store = await open(url, file);
    await writeAll(store);
    await saveJobs(store, 'umbrella', [{ jobId: '8', record: { recruiter: 'Kim' } }]);
    const copied = (await store.kysely.withoutPlugins().selectFrom('jobs').selectAll().execute()).map((row) => row);
    const asked = await store.kysely.withoutPlugins().selectFrom('holds').selectAll().execute();
    const backup = join(await scratchFolder(), 'store.db');
    if (kind === 'sqlite') await backUp(url.slice('sqlite:'.length), backup);
    expect(await countTenantRows(store, 'acme')).toContainEqual({ place: 'data_keys', count: 1 });
    await eraseTenantRows(store, 'acme');
    expect(await countTenantRows(store, 'acme')).toEqual([]);
    expect(await readJobs(store, 'umbrella')).toHaveLength(1);
    // What a backup has of it is put back beside the keys that are left.
    await store.kysely.deleteFrom('jobs').execute();
    await store.kysely.insertInto('jobs').values(copied).execute();
    await expect(readJobs(store, 'acme')).rejects.toMatchObject({ code: 'KEY_DESTROYED' });
    await store.kysely.insertInto('holds').values(asked).execute();
    const texts = (await listHolds(store)).map(({ message }) => message);
    const waiting = asked.filter((hold) => hold.closed_at === null);
    expect(texts).toEqual(waiting.map(() => expect.stringContaining('data key')));
    expect((await readJobs(store, 'umbrella'))[0]?.record).toEqual({ recruiter: 'Kim' });
    if (kind !== 'sqlite') return;
    expect((await readFile(backup)).toString()).not.toContain('Canary');
    expect((await readFile(join(dirname(url.slice('sqlite:'.length)), 'keys.db'))).toString()).not.toContain('acme');
    const restored = await open(`sqlite:${backup}`, file);
    await expect(readJobs(restored, 'acme')).rejects.toMatchObject({ code: 'KEY_DESTROYED' });
  });
});

test.each(kinds)(
  'a store that is put back opens questions about an erased tenant, and keeps keys.db, on %s',
  async (kind) => {
    const [url, file] = [await freshStoreUrl(kind), await keyFile()];
    const store = await open(url, file);
    for (const tenantId of ['acme', 'umbrella'])
      await applyDefinitions(
        store,
        [
          {
            tenantId,
            file: '/t.yaml',
            files: {},
            receives: { webhooks: 'off', webhookKeys: [] },
            over: null,
            changes: [],
          },
        ],
        'ann',
      );
    await store.sealing.current('acme');
    const details = { jobCandidateId: '7', hires: [{ tenantId: 'acme', jobCandidateId: '9501' }] };
    const message = `${NAME} or job candidate 9501 of tenant acme`;
    await openHold(store, { tenantId: 'umbrella', code: 'ASKED', answers: [], message, details });
    const raw = await openStore(url);
    onTestFinished(() => raw.close());
    const erased = { tenant: 'acme', erasure: 'e', by: 'ann', keys: [], person: [], wholeTenant: Date.now() + 60_000 };
    expect(await eraseAgain(raw, url, [erased], `file:${file}`)).toBe(0);
    expect((await listHolds(store)).map((hold) => hold.message)).toEqual([`${NAME} or an erased hire of tenant acme`]);
    expect((await rawValues(store)).filter((text) => !text.startsWith('sealed:'))).toEqual([]);
    // In Postgres they are rows of the tenant. Beside SQLite they may be those of a tenant that was applied again.
    const left = (await listDataKeys(store.sealing)).map((row) => row.tenant_id);
    expect(left).toEqual(kind === 'sqlite' ? ['acme', 'umbrella'] : ['umbrella']);
  },
);

describe('data keys that are not there', () => {
  const LOST = { code: 'DATA_KEY_MISSING', message: expect.stringContaining('put keys.db') };
  const at = (url: string): string => join(dirname(url.slice('sqlite:'.length)), 'keys.db');
  const saved = [{ jobId: '7', record: { recruiter: NAME } }];

  test('a copy of keys.db alone has every key, also while hirebridge works', async () => {
    const [url, file, copy] = [await freshStoreUrl('sqlite'), await keyFile(), join(await scratchFolder(), 'copy')];
    const store = await open(url, file);
    await saveJobs(store, 'acme', saved);
    const first = await readJobs(store, 'acme');
    await copyFile(at(url), copy);
    await addDataKey(store.sealing, 'acme');
    await encryptTenant(store, 'acme', still);
    await store.close();
    await copyFile(copy, at(url));
    expect(await readJobs(await open(url, file), 'acme')).toEqual(first);
  });

  test.each(kinds)('no new key is made meanwhile, which would be lost once they are back, on %s', async (kind) => {
    const [url, file] = [await freshStoreUrl(kind), await keyFile()];
    const store = await open(url, file);
    await saveJobs(store, 'acme', saved);
    const plan = { tenantId: 'acme', subject: 'candidates', source: 'records' as const, mappingHash: null, by: 'ann' };
    const hash = await savePlan(store, { ...plan, records: [{ id: '1', change: { name: NAME } }] });
    const rows = await store.sealing.database.kysely.selectFrom('data_keys').selectAll().execute();
    await store.sealing.database.kysely.deleteFrom('data_keys').execute();
    await store.close();
    const bare = await open(url, file);
    await expect(saveJobs(bare, 'acme', [{ jobId: '8', record: { recruiter: NAME } }])).rejects.toMatchObject(LOST);
    await expect(addDataKey(bare.sealing, 'acme')).rejects.toMatchObject(LOST);
    await expect(encryptTenant(bare, 'acme', still)).rejects.toMatchObject(LOST);
    expect(await listDataKeys(bare.sealing)).toEqual([]);
    const lost = [{ tenantId: 'acme', keyId: rows[0]?.key_id }];
    expect(await listLostKeys(url)).toEqual(lost);
    // A plan's records name no tenant: that is in the plan's own row.
    await bare.kysely.withoutPlugins().deleteFrom('jobs').execute();
    expect(await listLostKeys(url)).toEqual(lost);
    await saveJobs(bare, 'umbrella', saved);
    await bare.sealing.database.kysely.insertInto('data_keys').values(rows).execute();
    await saveJobs(bare, 'acme', [{ jobId: '8', record: { recruiter: NAME } }]);
    expect(await readJobs(bare, 'acme')).toHaveLength(1);
    expect(JSON.stringify(await readPlanRecords(bare, hash))).toContain(NAME);
    expect(await listLostKeys(url)).toEqual([]);
  });

  test.each(kinds)('nothing is encrypted with a key of the tenant that is of another store, on %s', async (kind) => {
    const [url, file, other] = [await freshStoreUrl(kind), await keyFile(), await freshStoreUrl(kind)];
    const store = await open(url, file);
    await saveJobs(store, 'acme', saved);
    const own = await listDataKeys(store.sealing);
    const elsewhere = await open(other, file);
    await elsewhere.sealing.current('acme');
    const { kysely } = store.sealing.database;
    const put = async (rows: typeof own): Promise<void> => {
      await kysely.deleteFrom('data_keys').execute();
      await kysely.insertInto('data_keys').values(rows).execute();
    };
    await put(await listDataKeys(elsewhere.sealing));
    const wrong = await open(url, file);
    const more = [{ jobId: '8', record: { recruiter: NAME } }];
    await expect(saveJobs(wrong, 'acme', more)).rejects.toMatchObject(LOST);
    await expect(encryptTenant(wrong, 'acme', still)).rejects.toMatchObject(LOST);
    await saveJobs(wrong, 'umbrella', saved);
    await put([...own, ...(await listDataKeys(wrong.sealing, 'umbrella'))]);
    await saveJobs(wrong, 'acme', more);
    for (const { record } of await readJobs(wrong, 'acme')) expect(record).toEqual({ recruiter: NAME });
  });

  test('a copy of keys.db from before the tenant was erased and applied again encrypts nothing of it', async () => {
    const [url, file, copy] = [await freshStoreUrl('sqlite'), await keyFile(), join(await scratchFolder(), 'copy')];
    const store = await open(url, file);
    await saveJobs(store, 'acme', saved);
    await copyFile(at(url), copy);
    await eraseTenantRows(store, 'acme');
    await insertHires(store, [{ ...REF, state: 'open' }]);
    await insertPlan(store, REF, { mappingHash: 'm', change: { name: NAME } });
    await store.close();
    await copyFile(copy, at(url));
    const wrong = await open(url, file);
    await expect(saveJobs(wrong, 'acme', saved)).rejects.toMatchObject(LOST);
  });

  test('values are refused, not shown as they stand, where keys.db and HIREBRIDGE_KEYS are both missing', async () => {
    const [url, file] = [await freshStoreUrl('sqlite'), await keyFile()];
    const store = await open(url, file);
    await saveJobs(store, 'acme', saved);
    await openHold(store, { tenantId: 'acme', code: 'ASKED', answers: [], message: NAME });
    await store.close();
    await rm(at(url));
    const bare = await open(url, undefined);
    for (const read of [readJobs(bare, 'acme'), listHolds(bare)])
      await expect(read).rejects.toMatchObject({ code: 'KEY_MISSING' });
  });
});

test('a canary of somebody seeded is what stands in clear before keys are set', async () => {
  const store = await open(await freshStoreUrl('sqlite'), undefined);
  await seedEverywhere(store, EVA);
  expect((await rawValues(store)).join()).toContain(canaryOf(EVA, 'change'));
});
