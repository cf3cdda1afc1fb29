import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { syncPages } from '../../../activities/streams/pull-pages.ts';
import { openSqlDatabase } from '../../../src/hris/sql/open-database.ts';
import type { Applied } from '../../../src/operator/apply-plan.ts';
import type { MappingDiff } from '../../../src/operator/diff-mapping.ts';
import type { Explained } from '../../../src/operator/explain.ts';
import { type OpenTenant, withTenant } from '../../../src/operator/open-tenant.ts';
import type { PlanView, WriteView } from '../../../src/operator/writes.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { systemUser } from '../../../src/places.ts';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import { purgeWrites } from '../../../src/store/retention.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import { landedNames, type PullName } from '../../../src/streams/streams.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { countWrites } from '../../stream/count-writes.ts';

const PEOPLE = 520;

let world: World;
let store: Store;

beforeAll(async () => {
  world = await startWorld({ temporalAddress: '127.0.0.1:1', jobs: 3, candidates: PEOPLE, startDates: false });
  store = await openStore(world.storeUrl);
  await useMapping('');
  for (const stream of landedNames) await sync(stream);
});

afterAll(async () => {
  await store?.close();
  await world?.close();
});

/** The tenant's own mapping of candidates from here on; empty for the default. */
async function useMapping(fields: string, scheduled: readonly string[] = []): Promise<void> {
  const file = join(world.tenantsDir, 'acme-candidates.yaml');
  const tenantFile = join(world.tenantsDir, 'acme.yaml');
  const own = (await readFile(tenantFile, 'utf8')).replace(/^streams:.*\n/m, '');
  const every = scheduled.filter((name) => name !== 'candidates').map((name) => `, ${name}: { every: 1h }`);
  const candidates = `{ mapping: acme-candidates.yaml${scheduled.includes('candidates') ? ', every: 1h' : ''} }`;
  await writeFile(tenantFile, `${own}streams: { candidates: ${candidates}${every.join('')} }\n`);
  await writeFile(file, fields === '' ? 'fields: {}\n' : `fields:\n  ${fields}\n`);
}

function withOpen<T>(use: (open: OpenTenant) => Promise<T>): Promise<T> {
  const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir };
  return withTenant({ store, places, tenantId: 'acme' }, use);
}

let runs = 0;

/** A pass to its end; a change limit that a new mapping meets is lifted. */
async function sync(stream: PullName): Promise<void> {
  if ((await runOnce(stream)) === 'done') return;
  expect(await resumeStream(store, { tenantId: 'acme', stream }, 'ann')).toBe(true);
  expect(await runOnce(stream)).toBe('done');
}

async function runOnce(stream: PullName): Promise<string> {
  runs += 1;
  const input = { tenantId: 'acme', stream, runId: `run-${runs}`, full: false, begun: false };
  return withOpen(async ({ deps }) => {
    for (;;) {
      const step = await syncPages(deps, input);
      if (step.state !== 'running') return step.state;
    }
  });
}

async function json<T>(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number | null; out: T }> {
  const { code, stdout, stderr } = await world.cli([...args, '--json'], env);
  expect(stderr).toBe('');
  return { code, out: JSON.parse(stdout) as T };
}

async function inHris<T>(use: (query: (text: string) => Promise<Record<string, unknown>[]>) => Promise<T>): Promise<T> {
  const database = openSqlDatabase(world.hrisUrl);
  try {
    return await use(async (text) => (await sql.raw<Record<string, unknown>>(text).execute(database.kysely)).rows);
  } finally {
    await database.close();
  }
}

const candidates = () =>
  inHris(async (query) => {
    const rows = await query('select * from partner_candidates order by partner_id');
    return new Map(rows.map(({ landed_at: _at, ...row }) => [String(row['partner_id']), row]));
  });

const countRows = async () => {
  const rows = await store.kysely.selectFrom('foreign_writes').select('record_id').execute();
  return rows.length;
};

test('a plan after a finished sync is empty and writes nothing anywhere', async () => {
  const [before, rows] = [await candidates(), await countRows()];
  const counter = countWrites(world.hrisUrl.slice('sqlite:'.length));
  await useMapping('', landedNames);
  const { code, out } = await json<PlanView[]>(['plan', 'acme']);
  await useMapping('');
  expect(code).toBe(0);
  expect(out.map(({ subject, records }) => [subject, records])).toEqual(
    landedNames.toSorted().map((stream) => [stream, []]),
  );
  // Nobody is on onboarding here; everything else has records in the sandbox.
  const read = out.filter((one) => one.read > 0).map(({ subject }) => subject);
  expect(read).toEqual(landedNames.toSorted().filter((stream) => stream !== 'onboarding'));
  expect(out[0]).not.toHaveProperty('hash');
  expect(counter.take()).toEqual({});
  expect(await countRows()).toBe(rows);
  expect(await candidates()).toEqual(before);
});

test('without a name only the streams that the file schedules are planned; without any, one line says so', async () => {
  await useMapping('', ['jobs']);
  expect((await json<PlanView[]>(['plan', 'acme'])).out.map(({ subject }) => subject)).toEqual(['jobs']);
  await useMapping('');
  expect(await json<PlanView[]>(['plan', 'acme'])).toEqual({ code: 0, out: [] });
  expect((await world.cli(['plan', 'acme'])).stdout).toMatch(/schedules no stream.*hirebridge plan TENANT STREAM/);
  expect((await json<PlanView[]>(['plan', 'acme', 'jobs'])).out).toMatchObject([{ subject: 'jobs' }]);
});

test('a record that changed since the plan, at either end, is named and not written; the others are', async () => {
  const { items } = await world.partner.readAll(contract.jobs.list);
  const [one = 0, two = 0, three = 0] = items.map(({ id }) => Number(id));
  for (const jobId of [one, two, three])
    await world.control.act('editJob', { jobId, fields: { title: `Planned ${jobId}` } });
  const { code, out } = await json<PlanView[]>(['plan', 'acme', 'jobs']);
  expect([code, out[0]?.records.length]).toEqual([2, 3]);
  expect(out[0]?.records[0]?.changes).toMatchObject({ title: { new: expect.stringMatching(/^Planned/) as string } });
  await world.control.act('editJob', { jobId: one, fields: { title: 'Changed again' } });
  await inHris((query) => query(`update partner_jobs set title = 'By hand' where partner_id = '${two}'`));

  const applied = await json<Applied>(['apply', out[0]?.hash?.slice(0, 12) ?? '', '--as', 'ann']);
  expect(applied.code).toBe(3);
  expect(applied.out).toMatchObject({ written: 1, already: 0, refused: [] });
  expect(applied.out.changed.map(({ record }) => record).toSorted()).toEqual([String(one), String(two)].toSorted());
  const titles = await inHris((query) => query('select partner_id, title from partner_jobs'));
  const title = (id: number) => titles.find((row) => row['partner_id'] === String(id))?.['title'];
  expect([title(two), title(three)]).toEqual(['By hand', `Planned ${three}`]);
  expect(title(one)).not.toMatch(/Planned|again/);
  const audit = await json<WriteView[]>(['audit', 'acme', '--run', out[0]?.hash ?? '']);
  expect(audit.out).toMatchObject([{ record: String(three), by: `${systemUser()} for ann`, outcome: 'done' }]);
});

test('an apply that is killed in between is finished by the next one, and every record is written once', async () => {
  await useMapping('city: { constant: Killed }');
  const { out } = await json<PlanView[]>(['plan', 'acme', 'candidates']);
  expect(out[0]?.records).toHaveLength(PEOPLE);
  const counter = countWrites(world.hrisUrl.slice('sqlite:'.length));
  counter.take();
  const hash = out[0]?.hash ?? '';
  const kill = { HIREBRIDGE_FAILPOINT_KILL: 'applySavedPlan/hris.land/after#3' };
  expect((await world.cli(['apply', hash], kill)).code).not.toBe(0);
  const again = await json<Applied>(['apply', hash]);
  expect([again.code, again.out]).toEqual([0, { written: 220, already: 100, changed: [], refused: [] }]);
  expect(counter.take()['partner_candidates']).toBe(PEOPLE);
  const audit = await json<WriteView[]>(['audit', 'acme', '--run', hash]);
  expect(audit.out.map(({ outcome }) => outcome)).toEqual(Array.from({ length: PEOPLE }, () => 'done'));
  expect(new Set(audit.out.map(({ record }) => record)).size).toBe(PEOPLE);
  expect((await json<PlanView[]>(['plan', 'acme', 'candidates'])).code).toBe(0);
});

test('the revert of a bad mapping brings back every value nobody changed since, and lists the others', async () => {
  await useMapping('');
  await sync('candidates');
  const good = await candidates();
  await useMapping('city: { constant: Bad }');
  await sync('candidates');
  const [mapping = ''] = new Set((await json<WriteView[]>(['audit', 'acme'])).out.map((write) => write.mapping));
  const audit = await json<WriteView[]>(['audit', 'acme', '--mapping', mapping ?? '']);
  expect(audit.out).toHaveLength(PEOPLE);
  expect(audit.out[0]?.changes['city']?.new).toBe('Bad');
  const byHand = [...good.keys()].slice(10, 13);
  await inHris((query) =>
    query(`update partner_candidates set city = 'By hand' where partner_id in ('${byHand.join("','")}')`),
  );

  const revert = await json<PlanView[]>(['revert', 'acme', '--mapping', mapping ?? '']);
  expect([revert.code, revert.out[0]?.records.length]).toEqual([2, PEOPLE - 3]);
  expect(revert.out[0]?.notes.map(({ record }) => record).toSorted()).toEqual(['candidates', ...byHand].toSorted());
  const applied = await json<Applied>(['apply', revert.out[0]?.hash ?? '']);
  expect([applied.code, applied.out.written]).toEqual([0, PEOPLE - 3]);
  const after = await candidates();
  const rest = (rows: typeof good) => [...rows].filter(([id]) => !byHand.includes(id));
  expect(rest(after)).toEqual(rest(good));
  expect(byHand.map((id) => after.get(id)?.['city'])).toEqual(['By hand', 'By hand', 'By hand']);

  await useMapping('');
  const next = await json<PlanView[]>(['plan', 'acme', 'candidates']);
  expect(next.out[0]?.records.map(({ record }) => record).toSorted()).toEqual(byHand.toSorted());
});

test('a new mapping file is compared over all records before it is live, sensitive values masked', async () => {
  const file = join(world.dir, 'new.yaml');
  await writeFile(file, 'fields:\n  city: { constant: Ulm, sensitive: true }\n  country: null\n');
  const rows = await countRows();
  const { code, out } = await json<MappingDiff>(['mapping', 'diff', 'acme', file, '--stream', 'candidates']);
  expect([code, out.compared, out.changed]).toEqual([2, PEOPLE, PEOPLE]);
  const city = out.fields.find(({ field }) => field === 'city');
  expect(city).toMatchObject({ count: PEOPLE, sensitive: true, samples: [{ new: '•••' }, {}, {}] });
  expect(out.fields.find(({ field }) => field === 'country')?.samples[0]?.new).toBeNull();
  expect(JSON.stringify(city)).not.toContain('Ulm');
  expect(await countRows()).toBe(rows);
});

test('explain tells of a landed record who wrote which field, when, by which mapping, and what is held', async () => {
  const id = [...(await candidates()).keys()][20] ?? '';
  const { out } = await json<Explained>(['explain', 'acme', id, '--stream', 'candidates']);
  const city = out.fields.find(({ field }) => field === 'city');
  expect(city?.written).toMatchObject({ outcome: 'done', run: expect.any(String) as string });
  expect(city?.held).toBe(city?.written?.value);
  expect(out.writes.length).toBeGreaterThan(1);
  await store.kysely.updateTable('foreign_writes').set({ sent_at: 1 }).where('record_id', '=', id).execute();
  await purgeWrites(store, 'acme', 86_400_000);
  const { stdout } = await world.cli(['explain', 'acme', id, '--stream', 'candidates']);
  expect(stdout).toMatch(/written +value purged \d{4}-/);
  const unknown = await world.cli(['explain', 'acme', '999999999', '--stream', 'jobs']);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('the partner shows no record')]);
});
