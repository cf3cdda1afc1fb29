import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { dayOf } from '../../src/day-of.ts';
import { ensureHrisSchema } from '../../src/hris/sql/ensure-hris-schema.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { openLandingTables } from '../../src/hris/sql/sql.ts';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { ERASURES_FILE } from '../../src/store/erase-restored.ts';
import { askErasure, askTenantErasure, type ErasureReceipt } from '../../src/store/erasures.ts';
import { openStore } from '../../src/store/open-store.ts';
import { completeIds, findPersonRows } from '../../src/store/person-data.ts';
import { assertSigned, openSigner } from '../../src/store/signing-key.ts';
import { removeTenant } from '../../src/store/tenant-acts.ts';
import { countTenantRows } from '../../src/store/tenant-rows.ts';
import { landings } from '../../src/streams/streams.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { type SeededPerson, seedEverywhere } from '../store/seeded-person.ts';
import { freshStoreUrl, kinds } from '../store/stores.ts';
import { ACME } from '../tenants/acme.ts';

const EVA: SeededPerson = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const DAY_MS = 86_400_000;
const BEN: SeededPerson = { tenant: 'acme', candidate: '502', application: '9502', enrolment: '7502', employee: '32' };

/** A store and an HR database with two people, one of whom is to be erased. */
async function asked(kind: (typeof kinds)[number] = 'sqlite') {
  const dir = await scratchFolder();
  const storeUrl = await freshStoreUrl(kind);
  const hrisUrl = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(hrisUrl, { endColumn: 'last_day' }, landings);
  const hr = new DatabaseSync(join(dir, 'hr.db'));
  hr.exec(`create table endings (id, last_day); create trigger ending after update on employees
    begin insert into endings values (new.id, new.last_day); end;
    insert into employees (id, given_name, family_name, email, start_date)
      values (31, '', '', '', ''), (32, '', '', '', '')`);
  const { landing, close } = openLandingTables(sqlOptions(landings).parse({ url: hrisUrl }));
  const options = { tenant: 'acme', signal: new AbortController().signal };
  const rows = [EVA, BEN].map(({ candidate: id }) => ({ id, hash: id, fields: { givenName: `name-${id}` } }));
  await landing.land('candidates', rows, options);
  const store = await openStore(storeUrl, { relaxed: true });
  onTestFinished(async () => {
    await Promise.all([store.close(), close()]);
    hr.close();
  });
  for (const person of [EVA, BEN]) await seedEverywhere(store, person);
  const ids = { candidates: ['501'], jobCandidates: [], enrolments: [], employees: [] };
  const subject = await completeIds(store, 'acme', ids);
  const asking = { subject, by: 'ann', reason: 'request', employee: 'terminate' } as const;
  const { erasure_id: erasure } = await askErasure(store, asking);
  // Days ago, so that the HR system shows by now that the employment has ended.
  await store.kysely
    .updateTable('erasures')
    .set({ asked_at: Date.now() - 3 * DAY_MS })
    .execute();
  const carryOut = (env: NodeJS.ProcessEnv) => runChild([storeUrl, hrisUrl, dir, erasure], env);
  const endings = () => hr.prepare('select id, last_day from endings').all();
  return {
    dir,
    store,
    subject,
    erasure,
    carryOut,
    endings,
    landed: () => landing.ids('candidates', { ...options, most: 9, withGone: true }),
  };
}

async function runChild(args: string[], env: NodeJS.ProcessEnv): Promise<{ signal: string | null; stdout: string }> {
  const script = join(import.meta.dirname, 'erase-process.ts');
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (some: Buffer) => (stdout += some.toString()));
  child.stderr.on('data', (some: Buffer) => (stderr += some.toString()));
  const signal = await new Promise<string | null>((resolve) => child.on('close', (_code, by) => resolve(by)));
  if (signal === null && stdout === '') throw new Error(stderr);
  return { signal, stdout };
}

/** Each point of an erasure, by how often it was passed before. */
function pointsOf(passed: readonly string[]): string[] {
  const times = new Map<string, number>();
  return passed.flatMap((point) => {
    times.set(point, (times.get(point) ?? 0) + 1);
    return point.startsWith('erase/') && !point.includes('.leases') ? [`${point}#${times.get(point)}`] : [];
  });
}

/** What a receipt says of the work itself. */
function saysOf({ erased, left, lastLook, person, employee }: ErasureReceipt) {
  return { erased, left, lastLook, person: person.length, employee };
}

/**
 * `EVERY_POINT=1` kills at each point, on both databases, which takes hours on a busy machine; `EVERY_POINT=3/20` at
 * each twentieth, from the third on.
 */
const PART = process.env['EVERY_POINT']?.split('/').map(Number);
const TIMEOUT = PART === undefined ? 600_000 : 14_400_000;

/** Of these points, those of the part that was asked for; else those that are chosen. */
function partOf(points: readonly string[], isChosen: (point: string, nth: number) => boolean): string[] {
  if (PART === undefined) return points.filter(isChosen);
  const [from = 1, of = 1] = PART;
  return points.filter((_, nth) => nth % of === from - 1);
}

test.each(PART === undefined ? (['sqlite'] as const) : kinds)(
  'an erasure that is killed anywhere ends complete, once, with the receipt of one that was not, on %s',
  async (kind) => {
    const whole = await asked(kind);
    const listFile = join(whole.dir, 'points');
    const receipt = JSON.parse(
      (await whole.carryOut({ HIREBRIDGE_FAILPOINT_LIST: listFile })).stdout,
    ) as ErasureReceipt;
    expect(receipt.erased).toMatchObject({ hires: 1, 'landing table of candidates': 1 });
    const passed = (await readFile(listFile, 'utf8')).trim().split('\n');
    const points = pointsOf(passed);
    expect(points.length).toBeGreaterThan(20);
    const isChosen = (point: string, nth: number) =>
      nth % 120 === 44 || /terminate.after|update.intents.before/.test(point);
    const chosen = partOf(points, isChosen);
    const ended = { id: 31, last_day: dayOf(Date.now() - 3 * DAY_MS) };
    expect(whole.endings()).toEqual([ended]);
    expect(chosen.length).toBeGreaterThan(2);
    expect(points).toContain('erase/hris.terminate/after#1');
    for (const point of chosen) {
      const { store, subject, erasure, carryOut, endings, landed, dir } = await asked(kind);
      expect(await carryOut({ HIREBRIDGE_FAILPOINT_KILL: point }), point).toMatchObject({ signal: 'SIGKILL' });
      // The lease of the killed process would be waited for.
      await store.kysely.deleteFrom('leases').execute();
      const again = JSON.parse((await carryOut({})).stdout) as ErasureReceipt;
      expect(saysOf(again), point).toEqual(saysOf(receipt));
      assertSigned(again, openSigner(dir).keyId);
      expect(await findPersonRows(store, subject), point).toEqual([]);
      expect(await landed(), point).toEqual(['502']);
      expect(endings(), point).toEqual([ended]);
      expect(await store.kysely.selectFrom('intents').select('job_candidate_id').execute(), point).toEqual([
        { job_candidate_id: '9502' },
      ]);
      const acts = store.kysely.selectFrom('audit').select('details').where('act', '=', 'erased');
      expect(await acts.execute(), point).toEqual([{ details: erasure }]);
      const listed = (await readFile(join(dir, ERASURES_FILE), 'utf8')).trim().split('\n');
      expect(listed, point).toHaveLength(1);
      expect(JSON.parse((await carryOut({})).stdout), point).toEqual(again);
    }
  },
  TIMEOUT,
);

/** A tenant with somebody in store and HR database, beside another one with the same ids; it is to be erased. */
async function tenantAsked() {
  const dir = await scratchFolder();
  const storeUrl = `sqlite:${join(dir, 'store.db')}`;
  const hrisUrl = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(hrisUrl, {}, landings);
  const { landing, close } = openLandingTables(sqlOptions(landings).parse({ url: hrisUrl }));
  const signal = new AbortController().signal;
  const store = await openStore(storeUrl, { relaxed: true });
  onTestFinished(async () => {
    await Promise.all([store.close(), close()]);
  });
  const text = ACME.replace('sqlite:./hr.sqlite', hrisUrl);
  const receives = { webhooks: 'off' as const, webhookKeys: [] };
  const file = join(dir, 'acme.yaml');
  const definition = { tenantId: 'acme', file, files: { [file]: text }, receives, over: null, changes: [] };
  await applyDefinitions(store, [definition], 'ann');
  for (const tenant of ['acme', 'umbrella']) {
    await seedEverywhere(store, { ...EVA, tenant });
    await landing.land('candidates', [{ id: '501', hash: 'h', fields: { givenName: tenant } }], { tenant, signal });
    // The partner no longer has them: such a row is erased as any other.
    await landing.remove('candidates', ['501'], { tenant, signal, mark: true });
  }
  const asking = { tenantId: 'acme', by: 'ann', reason: 'end of contract', landing: 'delete' } as const;
  await removeTenant(store, asking);
  // Long ago, so that nothing of it is under way.
  await store.kysely.updateTable('tenants').set({ ended_at: 1 }).execute();
  const { erasure_id: erasure } = await askTenantErasure(store, asking);
  const carryOut = (env: NodeJS.ProcessEnv) => runChild([storeUrl, hrisUrl, dir, erasure], env);
  const landed = (tenant: string) => landing.ids('candidates', { tenant, signal, most: 9, withGone: true });
  return { dir, store, carryOut, landed };
}

test('the erasure of a tenant that is killed anywhere ends complete, once, with the same receipt', {
  timeout: TIMEOUT,
}, async () => {
  const whole = await tenantAsked();
  const others = await countTenantRows(whole.store, 'umbrella');
  const listFile = join(whole.dir, 'points');
  const receipt = JSON.parse((await whole.carryOut({ HIREBRIDGE_FAILPOINT_LIST: listFile })).stdout) as ErasureReceipt;
  expect(receipt).toMatchObject({ person: [], left: [], erased: { hires: 1, 'landing table of candidates': 1 } });
  const passed = (await readFile(listFile, 'utf8')).trim().split('\n');
  const points = pointsOf(passed);
  expect(points.length).toBeGreaterThan(60);
  const chosen = partOf(points, (_, nth) => nth % 120 === 40);
  for (const point of chosen) {
    const { dir, store, carryOut, landed } = await tenantAsked();
    expect(await carryOut({ HIREBRIDGE_FAILPOINT_KILL: point }), point).toMatchObject({ signal: 'SIGKILL' });
    await store.kysely.deleteFrom('leases').execute();
    const again = JSON.parse((await carryOut({})).stdout) as ErasureReceipt;
    expect(saysOf(again), point).toEqual(saysOf(receipt));
    assertSigned(again, openSigner(dir).keyId);
    expect(await countTenantRows(store, 'acme'), point).toEqual([]);
    expect(await countTenantRows(store, 'umbrella'), point).toEqual(others);
    expect([await landed('acme'), await landed('umbrella')], point).toEqual([[], ['501']]);
    const listed = (await readFile(join(dir, ERASURES_FILE), 'utf8')).trim().split('\n');
    expect(listed, point).toHaveLength(1);
  }
});

test('a receipt that was changed is no longer valid, and neither is one of another key', async () => {
  const { dir, carryOut } = await asked();
  const receipt = JSON.parse((await carryOut({})).stdout) as ErasureReceipt;
  expect(() => assertSigned(receipt, openSigner(dir).keyId)).not.toThrow();
  expect(() => assertSigned({ ...receipt, erased: {} } as ErasureReceipt)).toThrow(/does not fit the document/);
  const other = openSigner(await scratchFolder()).keyId;
  expect(() => assertSigned(receipt, other)).toThrow(/not the one of this data directory/);
});
