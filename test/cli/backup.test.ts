import { existsSync, statSync } from 'node:fs';
import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { askErasure } from '../../src/store/erasures.ts';
import { insertHires } from '../../src/store/hires.ts';
import { listHolds, openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { saveJobs } from '../../src/store/jobs.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows } from '../../src/store/person-data.ts';
import { legalHoldOf, markPerson, personOf } from '../../src/store/person-marks.ts';
import { noteProcess } from '../../src/store/processes.ts';
import { finishBaseline, readTenantState, recordReconcile } from '../../src/store/tenant-states.ts';
import { runCommand } from '../harness/run-command.ts';
import { until } from '../harness/until.ts';
import { storeIn } from '../store/stores.ts';
import { scratchDir } from './cli-process.ts';

const delivery = { tenantId: 'acme', event: 'candidate.hired', ids: {}, body: '{}', state: 'waiting' } as const;
const hire = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1, state: 'open' }) as const;

/** A data directory with a tenant that was compared, and its open store. */
async function started(): Promise<{ data: string; store: Store }> {
  const data = await scratchDir();
  const store = await openStore(await storeIn(data));
  onTestFinished(() => store.close());
  await readTenantState(store, 'acme');
  await finishBaseline(store, 'acme');
  await recordReconcile(store, 'acme', true);
  return { data, store };
}

test('a backup that is made while webhooks are stored is sound, and for its owner alone', async () => {
  const { data, store } = await started();
  const copy = join(data, 'copy.db');
  let [stored, ended] = [0, false];
  const writing = (async () => {
    for (; !ended; stored += 1) await insertDelivery(store, { ...delivery, bodyHash: `${stored}` });
  })();
  await until('some are stored', async () => stored > 0);
  const { code, stderr } = await runCommand(['backup', copy, '--data', data]);
  ended = true;
  await writing;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const copied = await openStore(`sqlite:${copy}`);
  onTestFinished(() => copied.close());
  const { count } = await copied.kysely
    .selectFrom('inbox')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(stored);
  const again = await runCommand(['backup', copy, '--data', data]);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('[BACKUP_EXISTS]') });
});

test('nobody else can read a backup while it is made', async () => {
  const { data, store } = await started();
  const copy = join(data, 'copy.db');
  const body = 'x'.repeat(900_000);
  for (let stored = 0; stored < 40; stored++) await insertDelivery(store, { ...delivery, bodyHash: `${stored}`, body });
  const backup = runCommand(['backup', copy, '--data', data]);
  let ended = false;
  void backup.finally(() => (ended = true));
  const modes = new Set<number>();
  while (!ended) {
    const part = await stat(`${copy}.part`).catch(() => undefined);
    if (part !== undefined) modes.add(part.mode & 0o777);
  }
  expect(await backup).toMatchObject({ code: 0 });
  expect([...modes]).toEqual([0o600]);
});

test('a backup that cannot be written says where, why and what to do', async () => {
  const { data } = await started();
  const copy = join(data, 'no-such-folder', 'copy.db');
  const { code, stderr } = await runCommand(['backup', copy, '--data', data]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${join(data, 'store.db')} could not be copied to ${copy}: ENOENT`);
  expect(stderr).toContain('Make sure that the folder exists');
  expect(stderr).toContain('[COPY_FAILED]');
});

test('a backup is put back on a new machine, which has no data directory yet', async () => {
  const { data, store } = await started();
  await insertHires(store, [hire('7')]);
  const copy = join(data, 'copy.db');
  await runCommand(['backup', copy, '--data', data]);
  const fresh = join(await scratchDir(), 'data');
  expect(await runCommand(['doctor', '--after-restore', '--data', fresh])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('[STORE_MISSING]'),
  });
  expect(existsSync(fresh)).toBe(false);
  expect(await runCommand(['restore', copy, '--yes', '--data', fresh])).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(fresh).mode & 0o777).toBe(0o700);
  const restored = await openStore(`sqlite:${join(fresh, 'store.db')}`);
  onTestFinished(() => restored.close());
  expect(await restored.kysely.selectFrom('hires').selectAll().execute()).toHaveLength(1);
});

test('the log that a killed restore left is not played into the next backup', async () => {
  const { data, store } = await started();
  const copy = join(data, 'copy.db');
  await runCommand(['backup', copy, '--data', data]);
  await store.close();
  const other = await started();
  await insertHires(other.store, [hire('7')]);
  for (const end of ['', '-wal', '-shm'])
    await copyFile(join(other.data, `store.db${end}`), join(data, `store.db.restored${end}`));
  const { code, stderr } = await runCommand(['restore', copy, '--yes', '--data', data]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const restored = await openStore(`sqlite:${join(data, 'store.db')}`);
  onTestFinished(() => restored.close());
  expect(await restored.kysely.selectFrom('hires').selectAll().execute()).toEqual([]);
});

test('a restore waits for the store to be free, keeps it, and has everything compared', async () => {
  const { data, store } = await started();
  const copy = join(data, 'copy.db');
  await noteProcess(store, { processId: 'p', role: 'worker', version: '0', host: 'h' });
  await runCommand(['backup', copy, '--data', data]);
  await insertHires(store, [hire('7')]);
  const restore = () => runCommand(['restore', copy, '--yes', '--as', 'ada', '--data', data]);
  expect(await restore()).toMatchObject({ code: 2, stderr: expect.stringContaining('[STORE_IN_USE]') });
  expect(await readdir(data)).not.toContain('store.db.restored');
  await store.close();
  expect(await restore()).toMatchObject({ code: 0, stderr: '' });

  const restored = await openStore(`sqlite:${join(data, 'store.db')}`);
  onTestFinished(() => restored.close());
  expect(await restored.kysely.selectFrom('hires').selectAll().execute()).toEqual([]);
  expect(await readTenantState(restored, 'acme')).toMatchObject({ fully_reconciled_at: null });
  const [kept = ''] = (await readdir(data)).filter((name) => name.startsWith('store.db.before-'));
  const before = await openStore(`sqlite:${join(data, kept)}`);
  onTestFinished(() => before.close());
  expect(await before.kysely.selectFrom('hires').selectAll().execute()).toHaveLength(1);

  const look = () => runCommand(['doctor', '--after-restore', '--data', data]);
  expect(await look()).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/by \S+ for ada.*\n[^]*acme: not compared yet/),
  });
  await insertHires(restored, [hire('8')]);
  await openHold(restored, { ...hire('8'), code: 'EMPLOYEE_GONE', message: 'Gone.', answers: ['keep'] });
  await recordReconcile(restored, 'acme', true);
  const { code, stdout } = await look();
  expect(code).toBe(0);
  expect(stdout).toContain('taken up  job candidate 8: open, no employee yet');
  expect(stdout).toMatch(/asked {5}job candidate 8: EMPLOYEE_GONE; hirebridge hold show/);
  expect(stdout).toContain('HR should look for employees made');
});

test('legal holds since the backup are kept where the store that is replaced is of an older version', async () => {
  const { data, store } = await started();
  const copy = join(data, 'copy.db');
  await runCommand(['backup', copy, '--data', data]);
  const whom = [{ kind: 'candidate', id: '501' }] as const;
  await markPerson(store, { tenantId: 'acme', mark: 'legal-hold', by: 'law', about: 'case 12' }, whom);
  await sql`drop index seen_people_traced`.execute(store.kysely);
  await sql`delete from kysely_widening where name = '0200-traced-candidates'`.execute(store.kysely);
  await store.close();
  expect(await runCommand(['restore', copy, '--yes', '--data', data])).toMatchObject({ code: 0, stderr: '' });
  expect((await readdir(data)).filter((name) => name.includes('.replaced'))).toEqual([]);
  const restored = await openStore(`sqlite:${join(data, 'store.db')}`);
  onTestFinished(() => restored.close());
  expect(await legalHoldOf(restored, 'acme', whom)).toMatchObject({ about: 'case 12' });
});

test('a store of a newer version, whose legal holds cannot be read, is not replaced', async () => {
  const { data, store } = await started();
  const copy = join(data, 'copy.db');
  await runCommand(['backup', copy, '--data', data]);
  await sql`insert into kysely_migration (name, timestamp) values ('9999-newer', '2027')`.execute(store.kysely);
  await store.close();
  const { code, stderr } = await runCommand(['restore', copy, '--yes', '--data', data]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Nothing was replaced') });
  expect((await readdir(data)).filter((name) => /restored|before-|replaced/.test(name))).toEqual([]);
});

test.each([
  ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['of something else', () => Buffer.from('no database at all, only a text')],
  ['empty', () => Buffer.alloc(0)],
])('a file that is %s is never put in the place of the store', async (_what, spoil) => {
  const { data, store } = await started();
  await insertHires(store, [hire('7')]);
  const copy = join(data, 'copy.db');
  await runCommand(['backup', copy, '--data', data]);
  await writeFile(copy, spoil(await readFile(copy)));
  await store.close();
  const { code, stderr } = await runCommand(['restore', copy, '--yes', '--data', data]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('[STORE_UNSOUND]') });
  expect(existsSync(join(data, 'store.db.restored'))).toBe(false);
  const same = await openStore(`sqlite:${join(data, 'store.db')}`);
  onTestFinished(() => same.close());
  expect(await same.kysely.selectFrom('hires').selectAll().execute()).toHaveLength(1);
});

test('backup and restore say that the data keys of encrypted values are apart', async () => {
  const { data } = await started();
  const env = { HIREBRIDGE_KEYS: `file:${join(data, 'keys')}` };
  await runCommand(['keys', 'new'], env);
  const url = `sqlite:${join(data, 'store.db')}`;
  const store = await openStore(url, { keys: { ref: env.HIREBRIDGE_KEYS } });
  await saveJobs(store, 'acme', [{ jobId: '7', record: { recruiter: 'Kim' } }]);
  await store.close();
  const [copy, other] = [join(data, 'copy.db'), await scratchDir()];
  const backup = await runCommand(['backup', copy, '--data', data], env);
  expect(backup).toMatchObject({ code: 0, stderr: expect.stringContaining(join(data, 'keys.db')) });
  const restored = await runCommand(['restore', copy, '--yes', '--data', other], env);
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(/values of acme in.*keys\.db/s) });
  expect(existsSync(join(other, 'keys.db'))).toBe(false);
  await copyFile(join(data, 'keys.db'), join(other, 'keys.db'));
  const again = await runCommand(['restore', copy, '--yes', '--data', other], env);
  expect(again).toMatchObject({ code: 0, stderr: '' });
  // Keys of an installation that was made on the new machine before the restore.
  await rm(join(other, 'keys.db'));
  const its = await openStore(`sqlite:${join(other, 'store.db')}`, { keys: { ref: env.HIREBRIDGE_KEYS } });
  await its.sealing?.current('umbrella');
  await its.close();
  const beside = await runCommand(['restore', copy, '--yes', '--data', other], env);
  expect(beside.stderr).toMatch(/values of acme in.*keys\.db/s);
});

/** An encrypted store with a question about two hires, of which one was erased after the backup was made. */
async function erasedSince() {
  const { data, store: bare } = await started();
  await bare.close();
  const env = { HIREBRIDGE_KEYS: `file:${join(data, 'keys')}` };
  await runCommand(['keys', 'new'], env);
  const url = `sqlite:${join(data, 'store.db')}`;
  const store = await openStore(url, { keys: { ref: env.HIREBRIDGE_KEYS } });
  await insertHires(store, [hire('9501'), hire('9777')]);
  const details = { jobCandidateIds: ['9501', '9777'] };
  const message = 'Kim asks about 9501 and 9777.';
  await openHold(store, { tenantId: 'acme', code: 'HIRES_NOT_RESTORED', answers: [], message, details });
  const copy = join(data, 'copy.db');
  await runCommand(['backup', copy, '--data', data], env);
  const subject = await completeIds(store, 'acme', personOf([{ kind: 'job-candidate', id: '9501' }]));
  await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  await erasePersonRows(store, subject);
  await store.close();
  const restore = (settings: NodeJS.ProcessEnv) => runCommand(['restore', copy, '--yes', '--data', data], settings);
  const question = async () => {
    const opened = await openStore(url, { keys: { ref: env.HIREBRIDGE_KEYS } });
    const [hold] = await listHolds(opened).finally(() => opened.close());
    return { message: hold?.message, details: hold?.details };
  };
  return { data, url, env, restore, question };
}

const ONE_LEFT = '{"jobCandidateIds":["9777"]}';

test('a restore takes an erased person out of the encrypted text of a question that names others', async () => {
  const { url, env, restore, question } = await erasedSince();
  expect(await restore(env)).toMatchObject({ code: 0, stderr: '' });
  expect(await question()).toEqual({ message: 'Kim asks about erased and 9777.', details: ONE_LEFT });
  const raw = await openStore(url);
  onTestFinished(() => raw.close());
  const [{ message } = {}] = await raw.kysely.selectFrom('holds').select('message').execute();
  expect(message).toMatch(/^sealed:/);
});

test('a restore without the keys of encrypted questions is refused, and changes nothing', async () => {
  const { data, restore, question } = await erasedSince();
  const before = await question();
  const { HIREBRIDGE_KEYS: _none, ...without } = process.env;
  expect(await restore(without)).toMatchObject({ code: 1, stderr: expect.stringContaining('[KEY_MISSING]') });
  expect(await question()).toEqual(before);
  expect((await readdir(data)).filter((name) => /restored|before-/.test(name))).toEqual([]);
});

test('a text that no key opens loses its words if it may name an erased person, and restore says so', async () => {
  const { data, env, restore, question } = await erasedSince();
  const keys = join(data, 'keys.db');
  await copyFile(keys, join(data, 'keys.copy'));
  await rm(keys);
  const { code, stderr } = await restore(env);
  expect(code).toBe(0);
  expect(stderr).toMatch(/1 question.*erased.*hirebridge hold list/s);
  await copyFile(join(data, 'keys.copy'), keys);
  expect(await question()).toEqual({ message: expect.stringContaining('nobody can read'), details: ONE_LEFT });
});
