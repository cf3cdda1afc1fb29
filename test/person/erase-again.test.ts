import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { carryOutErasure, createListKeeper } from '../../activities/erase/carry-out.ts';
import { renderReceipt } from '../../src/cli/person.ts';
import type { Places } from '../../src/config.ts';
import { createRootLogger } from '../../src/log.ts';
import { erasePerson, holdPerson } from '../../src/operator/person.ts';
import { backUp, restore } from '../../src/store/backups.ts';
import { ERASURES_FILE, eraseRestored, readErasures } from '../../src/store/erase-restored.ts';
import {
  askErasure,
  askTenantErasure,
  type ErasureReceipt,
  endErasure,
  findErasure,
  forgetBytes,
  openErasures,
} from '../../src/store/erasures.ts';
import { decideIntent, latestIntent, openIntent } from '../../src/store/intents.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows, findPersonRows, type Subject } from '../../src/store/person-data.ts';
import { allIdsOf, idsOf, markPerson, readMarks } from '../../src/store/person-marks.ts';
import { countTenantRows } from '../../src/store/tenant-rows.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { type SeededPerson, seedEverywhere } from '../store/seeded-person.ts';
import { freshStore, type kinds } from '../store/stores.ts';

const EVA: SeededPerson = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const BEN: SeededPerson = { tenant: 'acme', candidate: '502', application: '9502', enrolment: '7502', employee: '32' };

/** A store with two people, and an erasure of the first. */
async function seeded(kind: (typeof kinds)[number] = 'sqlite') {
  const dataDir = await scratchFolder();
  const { store } = await freshStore(kind);
  await readTenantState(store, 'acme');
  for (const person of [EVA, BEN]) await seedEverywhere(store, person);
  const eva = await subjectOf(store);
  const ask = (subject: Subject) => askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  const carryOut = (erasureId: string, forgetHire = async (): Promise<number> => 0) =>
    carryOutErasure(
      {
        store,
        dataDir,
        log: createRootLogger(undefined, 'silent'),
        limits: { giveUpMs: 1, partnerLagMs: 1, pausedMs: 1 },
        connect: async () => undefined,
        forgetHire,
        forgetTenant: async () => 0,
      },
      erasureId,
    );
  const parts = { store, places: {} as Places, tenantId: 'acme', by: 'law' };
  return { store, dataDir, eva, ask, carryOut, parts };
}

const NOBODY = { candidates: [], jobCandidates: [], enrolments: [], employees: [] };

function subjectOf(store: Store): Promise<Subject> {
  return completeIds(store, 'acme', { ...NOBODY, candidates: ['501'] });
}

test('whoever is erased a second time takes nobody else along when a backup is put back', async () => {
  const { store, dataDir, eva, ask, carryOut } = await seeded();
  const first = await carryOut((await ask(eva)).erasure_id);
  // Nothing but the id that was asked for is known of them any more.
  const again = await carryOut((await ask(await subjectOf(store))).erasure_id);
  expect(again?.person).toHaveLength(1);
  expect(first?.person).toEqual(expect.arrayContaining(again?.person ?? []));
  const listed = await readErasures(join(dataDir, ERASURES_FILE));
  expect(listed.map(({ person }) => person.length)).toEqual([allIdsOf(eva).length, 1]);

  const { store: restored } = await freshStore('sqlite');
  await readTenantState(restored, 'acme');
  await seedEverywhere(restored, BEN);
  const before = await countTenantRows(restored, 'acme');
  await seedEverywhere(restored, EVA);
  // As a version of before wrote it of a person, without a hash.
  const line = { erasure: 'e', tenant: 'acme', by: 'ann', keys: [], person: [], all: Date.now() };
  await appendFile(join(dataDir, ERASURES_FILE), `${JSON.stringify(line)}\n`);
  await eraseRestored(restored, await readErasures(join(dataDir, ERASURES_FILE)));
  expect(await findPersonRows(restored, eva)).toEqual([]);
  expect(await countTenantRows(restored, 'acme')).toEqual(before);
  expect(await readTenantState(restored, 'acme')).toMatchObject({ state: 'active' });
});

test('an erasure of which half a line was written is listed for a restore all the same, once', async () => {
  const { dataDir, eva, ask, carryOut } = await seeded();
  const { erasure_id: erasure } = await ask(eva);
  const file = join(dataDir, ERASURES_FILE);
  // As where the disk was full in the middle of the line.
  await appendFile(file, `{"erasure":"${erasure}","tenant":"ac`);
  await expect(carryOut(erasure, async () => Promise.reject(new Error('Temporal is away')))).rejects.toThrow('away');
  await carryOut(erasure);
  const listed = await readErasures(file);
  expect(listed.map((one) => [one.erasure, one.person.length])).toEqual([[erasure, allIdsOf(eva).length]]);
});

test('every machine of a fleet lists whom another one erased, once', async () => {
  const { store, dataDir, eva, ask, carryOut } = await seeded();
  const other = await scratchFolder();
  const start = () => createListKeeper({ store, dataDir: other });
  const [own, others] = [dataDir, other].map((dir) => join(dir, ERASURES_FILE)) as [string, string];
  await carryOut((await ask(eva)).erasure_id);
  await start()();
  expect(await readErasures(others)).toEqual(await readErasures(own));
  for (const landing of ['keep', 'delete'] as const) {
    await store.kysely.updateTable('tenants').set({ ended_at: 1 }).execute();
    const request = { by: 'ann', reason: 'end of contract', landing };
    await carryOut((await askTenantErasure(store, { ...request, tenantId: 'acme' })).erasure_id);
  }
  for (let times = 0; times < 2; times += 1) await start()();
  const listed = await readErasures(others);
  expect(listed).toEqual(expect.arrayContaining(await readErasures(own)));
  expect(listed).toHaveLength(3);
});

test('a list of erased people that cannot be read stops a restore, and is not taken for an empty one', async () => {
  const folder = await scratchFolder();
  expect(await readErasures(join(folder, ERASURES_FILE))).toEqual([]);
  await mkdir(join(folder, ERASURES_FILE));
  await expect(readErasures(join(folder, ERASURES_FILE))).rejects.toMatchObject({
    code: 'ERASURES_UNREADABLE',
    message: expect.stringContaining(ERASURES_FILE) as string,
  });
});

test('a history that Temporal lists late is deleted before the receipt is signed', async () => {
  const { eva, ask, carryOut, store } = await seeded();
  const listed = [0, 2, 1, 0];
  const receipts: unknown[] = [];
  const { erasure_id: erasure } = await ask(eva);
  const forgetHire = async (): Promise<number> => {
    receipts.push((await findErasure(store, erasure))?.receipt);
    return listed.shift() ?? 0;
  };
  const receipt = await carryOut(erasure, forgetHire);
  expect(receipt).toMatchObject({ receipt: erasure });
  expect(renderReceipt(receipt as ErasureReceipt)).toContain('The receipt: hirebridge person receipts acme --json');
  expect([listed, receipts]).toEqual([[], [null, null, null, null]]);
});

test('very many people whom a backup brings back are each erased, and nobody else', async () => {
  const { store } = await freshStore('sqlite');
  await readTenantState(store, 'acme');
  await seedEverywhere(store, BEN);
  const before = await countTenantRows(store, 'acme');
  const listed = [];
  const subjects = [];
  for (let n = 601; n <= 660; n += 1) {
    const ids = { candidate: `${n}`, application: `9${n}`, enrolment: `7${n}`, employee: `3${n}` };
    await seedEverywhere(store, { tenant: 'acme', ...ids });
    const subject = await completeIds(store, 'acme', { ...NOBODY, candidates: [`${n}`] });
    const about = `e${n}`;
    const person = await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ann', about }, idsOf(subject));
    listed.push({ tenant: 'acme', erasure: about, by: 'ann', keys: [], person });
    subjects.push(subject);
  }
  expect(await eraseRestored(store, listed)).toBe(60);
  for (const subject of subjects) expect(await findPersonRows(store, subject)).toEqual([]);
  expect(await countTenantRows(store, 'acme')).toEqual(before);
  expect((await openErasures(store)).length).toBe(60);
  expect(await eraseRestored(store, listed)).toBe(0);
});

test('an erasure that was killed midway goes on in the store that was put back, receipts and all', async () => {
  const dir = await scratchFolder();
  const [file, backup] = [join(dir, 'store.db'), join(dir, 'backup.db')];
  const store = await openStore(`sqlite:${file}`);
  await readTenantState(store, 'acme');
  for (const person of [EVA, BEN]) await seedEverywhere(store, person);
  await backUp(file, backup);
  const eva = await subjectOf(store);
  const asked = await askErasure(store, { subject: eva, by: 'ann', reason: 'request', employee: 'terminate' });
  const ben = { ...eva, candidates: ['502'], jobCandidates: ['9502'], enrolments: [], employees: [], leads: [] };
  const done = await askErasure(store, { subject: ben, by: 'ann', reason: 'request', employee: 'keep' });
  await endErasure(store, done, () => ({ receipt: done.erasure_id }) as ErasureReceipt);
  // As where a process died in the middle: the rows are gone, landing tables and workflows were not looked at.
  await erasePersonRows(store, eva);
  await store.close();
  await restore(file, backup, 'ann');
  const restored = await openStore(`sqlite:${file}`);
  onTestFinished(() => restored.close());
  expect(await openErasures(restored)).toEqual([asked]);
  expect((await findErasure(restored, done.erasure_id))?.receipt).toContain(done.erasure_id);
  for (const subject of [eva, ben]) expect(await findPersonRows(restored, subject)).toEqual([]);
});

test('whom a backup brings back, and nothing but hashes is known of, is erased outside the store as well', async () => {
  const { dataDir, eva, ask, carryOut } = await seeded();
  await carryOut((await ask(eva)).erasure_id);
  const listed = await readErasures(join(dataDir, ERASURES_FILE));
  const { store: restored } = await freshStore('sqlite');
  await readTenantState(restored, 'acme');
  for (const person of [EVA, BEN]) await seedEverywhere(restored, person);
  for (let times = 0; times < 2; times += 1) await eraseRestored(restored, listed);
  const open = await openErasures(restored);
  expect(open.map(({ subject, employee, by }) => ({ ...(JSON.parse(subject) as Subject), employee, by }))).toEqual([
    { ...eva, employee: 'keep', by: 'ann' },
  ]);
});

test('a create that waits for approval in the HR system is named in the receipt', async () => {
  const { store, eva, ask, carryOut } = await seeded();
  await store.kysely
    .updateTable('hires')
    .set({ state: 'open', employee_id: null })
    .where('job_candidate_id', '=', '9501')
    .execute();
  const hire = { tenantId: 'acme', jobCandidateId: '9501', period: 1 };
  const verb = 'create-employee';
  await store.kysely.deleteFrom('intents').execute();
  await openIntent(store, { ...hire, verb, attempt: 1, pinned: {}, budgetMs: 1, state: 'none' });
  const intent = await latestIntent(store, hire, verb);
  if (intent === undefined) throw new Error('no intent was opened');
  await decideIntent(store, intent, 'done', { kind: 'pending', ticket: 't1', nextCheckMs: 1 });
  const { erasure_id: erasure } = await ask(eva);
  // As if the half minute that work under way may take were over.
  await store.kysely.updateTable('erasures').set({ quiet_at: 1 }).execute();
  const receipt = await carryOut(erasure);
  const named = expect.stringMatching(/^create-employee was under way.*check in the HR system/);
  expect(receipt?.left).toContainEqual(named);
});

test('a legal hold stops an erasure that was asked for before, and it goes on once that is over', async () => {
  const { store, eva, ask, carryOut, parts } = await seeded();
  const { erasure_id: erasure } = await ask(eva);
  const before = await findPersonRows(store, eva);
  const held = await holdPerson(parts, 'candidate:501', { reason: 'case 12' });
  expect(held).toEqual({ changed: true, erasing: [erasure] });
  await expect(carryOut(erasure)).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
  expect(await findPersonRows(store, eva)).toEqual(before);
  expect(await holdPerson(parts, 'candidate:502', { reason: 'case 13' })).toMatchObject({ erasing: [] });
  await holdPerson(parts, 'candidate:501', { release: true });
  // Another one comes while the person's hires end.
  const put = async () => {
    await holdPerson(parts, 'all', { reason: 'case 14' });
    return 0;
  };
  await expect(carryOut(erasure, put)).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
  expect(await findPersonRows(store, eva)).toEqual(before);
  expect(await holdPerson(parts, 'all', { release: true })).toEqual({ changed: true, erasing: [erasure] });
  expect((await carryOut(erasure))?.receipt).toBe(erasure);
  expect(await findPersonRows(store, eva)).toEqual([]);
});

test('a second legal hold is refused and changes nothing, so that no release lifts two', async () => {
  const { store, parts } = await seeded();
  await holdPerson(parts, 'candidate:501', { reason: 'case 12' });
  const before = await readMarks(store);
  const told = /legal hold.+since \d{4}-\d\d-\d\d, put by law \(case 12\).+person hold acme WHO --release/;
  for (const who of ['candidate:501', 'application:9501'])
    await expect(holdPerson({ ...parts, by: 'ann' }, who, { reason: 'case 99' }), who).rejects.toMatchObject({
      code: 'HELD_ALREADY',
      message: expect.stringMatching(told),
    });
  expect(await readMarks(store)).toEqual(before);
  // A hold on everybody is another one, and each is released by itself.
  await holdPerson(parts, 'all', { reason: 'case 13' });
  await expect(holdPerson(parts, 'all', { reason: 'case 14' })).rejects.toThrow('(case 13)');
  expect(await holdPerson(parts, 'candidate:501', { release: true })).toMatchObject({ changed: true });
  expect(await holdPerson(parts, 'candidate:501', { reason: 'case 15' })).toMatchObject({ changed: true });
});

test('an erasure under way that does something else with the employee is told, not gone on with', async () => {
  const { store, eva, ask, parts } = await seeded();
  const { erasure_id: erasure } = await ask(eva);
  await store.kysely.updateTable('tenants').set({ version: 1, state: 'removed' }).execute();
  const asking = { who: 'candidate:501', reason: 'request', employee: 'terminate' } as const;
  await expect(erasePerson({ ...parts, hires: {} as HireClient }, asking)).rejects.toMatchObject({
    code: 'ERASURE_UNDER_WAY',
    message: expect.stringMatching(new RegExp(`Erasure ${erasure} .+ keeps the employee.+--employee keep`)),
  });
  expect(await openErasures(store)).toMatchObject([{ erasure_id: erasure, employee: 'keep' }]);
});

test('an erasure under way is gone on with for that person alone, not for another with the same number', async () => {
  const { store, eva, ask, dataDir, parts } = await seeded();
  await ask(eva);
  const away = () => {
    throw new Error('Temporal is away');
  };
  const hires = { installationId: 'i', client: { workflow: { getHandle: away } } } as unknown as HireClient;
  // Of a removed tenant neither side is asked.
  await store.kysely.updateTable('tenants').set({ version: 1, state: 'removed' }).execute();
  const erase = (who: string) =>
    erasePerson({ ...parts, hires, places: { dataDir } as Places }, { who, reason: 'request', employee: 'keep' });
  for (const who of ['candidate:501', 'application:9501', 'employee:31'])
    await expect(erase(who), who).rejects.toThrow('Temporal is away');
  expect(await openErasures(store)).toHaveLength(1);
  await expect(erase('application:501')).rejects.toThrow('Temporal is away');
  const subjects = (await openErasures(store)).map(({ subject }) => JSON.parse(subject) as Subject);
  expect(subjects.map(({ jobCandidates }) => jobCandidates)).toEqual([['9501'], ['501']]);
});

test('a bare number goes on with the erasure of the person it means now, and of nobody else', async () => {
  const { store, ask, dataDir, parts } = await seeded();
  const away = () => {
    throw new Error('Temporal is away');
  };
  const hires = { installationId: 'i', client: { workflow: { getHandle: away } } } as unknown as HireClient;
  // Of a removed tenant neither side is asked.
  await store.kysely.updateTable('tenants').set({ version: 1, state: 'removed' }).execute();
  const erase = (who: string) =>
    erasePerson({ ...parts, hires, places: { dataDir } as Places }, { who, reason: 'request', employee: 'keep' });
  const open = async () => (await openErasures(store)).map(({ subject }) => JSON.parse(subject) as Subject);
  // Another person's application has the number of Eva as a candidate, and is being erased: nothing else is left of it.
  await ask({ tenantId: 'acme', companies: ['acme'], ...NOBODY, jobCandidates: ['501'] });
  await expect(erase('501')).rejects.toMatchObject({ code: 'PERSON_AMBIGUOUS' });
  expect(await open()).toHaveLength(1);
  await expect(erase('candidate:501')).rejects.toThrow('Temporal is away');
  expect((await open()).map(({ candidates }) => candidates)).toEqual([[], ['501']]);
  await expect(erase('501')).rejects.toThrow('Temporal is away');
  expect(await open()).toHaveLength(2);
  // Once her rows are gone, only the requests tell whom a number means.
  for (const eva of (await open()).slice(1)) await erasePersonRows(store, eva);
  await expect(erase('9501')).rejects.toThrow('Temporal is away');
  expect(await open()).toHaveLength(2);
  await expect(erase('77')).rejects.toMatchObject({ code: 'PERSON_UNKNOWN' });
});

test('no sample of the planner of Postgres holds anything of somebody who was erased', async () => {
  const { store, eva, ask, carryOut } = await seeded('postgres');
  const { erasure_id: erasure } = await ask(eva);
  await sql`analyze`.execute(store.kysely);
  const held = async (): Promise<string[]> => {
    const values = sql.join([1, 2, 3, 4, 5].map((n) => sql`${sql.ref(`stavalues${n}`)}::text`));
    const { rows } = await sql<{ place: string; text: string }>`
      select starelid::regclass || '.' || staattnum as place, concat_ws(' ', ${values}) as text from pg_statistic
      join pg_class on pg_class.oid = starelid and relnamespace = current_schema()::regnamespace`.execute(store.kysely);
    return rows.filter(({ text }) => /acme-501-x|\b(?:501|9501|7501)\b/.test(text)).map(({ place }) => place);
  };
  expect((await held()).length).toBeGreaterThan(40);
  await carryOut(erasure);
  expect(await held()).toEqual([]);
});

test('no byte of whoever is erased is left in a store that was put back from a backup', async () => {
  const dir = await scratchFolder();
  const [file, backup] = [join(dir, 'store.db'), join(dir, 'backup.db')];
  const before = await openStore(`sqlite:${file}`, { relaxed: true });
  // Enough of each table for more than a page of the file.
  const people = Array.from({ length: 60 }, (_, nth) => ({ ...EVA, application: `95${100 + nth}` }));
  const pinned = (application: string) => JSON.stringify({ email: `canary-${application}@example.com` });
  const rows = people.map(({ tenant, application }) => ({
    tenant_id: tenant,
    job_candidate_id: application,
    period: 1,
    verb: 'enrol:1',
    attempt: 1,
    pinned: pinned(application),
    sent_at: 1,
    give_up_at: 1,
    outcome: 'done' as const,
  }));
  for (const row of rows) await before.kysely.insertInto('intents').values(row).execute();
  await backUp(file, backup);
  await before.close();
  await restore(file, backup, 'ann');
  const store = await openStore(`sqlite:${file}`, { relaxed: true });
  await store.kysely.deleteFrom('intents').where('job_candidate_id', '<', '95110').execute();
  expect(await forgetBytes(store)).toBe(true);
  await store.close();
  const bytes = await readFile(file);
  const left = people.filter(({ application }) => bytes.includes(`canary-${application}`));
  expect(left.map(({ application }) => application)).toEqual(people.slice(10).map(({ application }) => application));
});
