import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { addHints, readHints } from '../../../src/store/hints.ts';
import { readMissing } from '../../../src/store/stream-missing.ts';
import { readStreamState, resumeStream } from '../../../src/store/streams.ts';
import { WHOLE_LIST } from '../../../src/streams/stream.ts';
import { countWrites } from '../../stream/count-writes.ts';
import { openPullWorld } from './pull-world.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' };
const PEOPLE = 320;
const fileOf = (url: string): string => url.slice('sqlite:'.length);

describe('hints', () => {
  test('are read by their ids, a hundred a call, and cleared once their records have landed', async () => {
    const { world, store, pull, rows, calls } = await openPullWorld('{ candidates: { every: 1h } }', {
      candidates: PEOPLE,
    });
    expect(await pull('incremental')).toMatchObject({ state: 'done', counts: { read: PEOPLE, created: PEOPLE } });
    const ids = [...rows().keys()].slice(0, 250);
    const edited = ids[0] ?? '';
    await world.control.act('editCandidate', { candidateId: Number(edited), fields: { city: 'Utrecht' } });
    await addHints(store, 'acme', 'candidates', [...ids, ...ids]);
    const [lists, fetches] = [await calls('candidates.list'), await calls('candidates.bulkFetch')];
    const step = await pull('incremental');
    expect(step).toMatchObject({ state: 'done', counts: { read: 250, unchanged: 249, updated: 1 } });
    expect((await calls('candidates.bulkFetch')) - fetches).toBe(3);
    expect((await calls('candidates.list')) - lists).toBe(0);
    expect(rows().get(edited)?.['city']).toBe('Utrecht');
    expect(await readHints(store, 'acme', 'candidates')).toEqual([]);
  });

  test('wait until the partner surely shows what they tell of, and are read in the next round', async () => {
    const { world, store, pull, rows } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 3 });
    await pull('incremental');
    const { data } = await world.partner.candidates.add({
      body: { firstName: 'Eva', lastName: 'New', email: 'eva.new@example.org' },
    });
    const id = String(data.id);
    await addHints(store, 'acme', 'candidates', [id]);
    const lagMs = 60_000;
    vi.stubEnv('HIREBRIDGE_PARTNER_LAG_MS', String(lagMs));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await pull('incremental')).toMatchObject({ state: 'done', counts: { read: 0 }, againInMs: lagMs });
    expect(rows().has(id)).toBe(false);
    await store.kysely
      .updateTable('hints')
      .set({ hinted_at: sql`hinted_at - ${lagMs}` })
      .execute();
    const step = await pull('incremental');
    expect(step).toMatchObject({ state: 'done', counts: { read: 1, created: 1 } });
    expect(step).not.toHaveProperty('againInMs');
    expect(rows().has(id)).toBe(true);
  });

  test('without an id have the whole list read, once', async () => {
    const { store, pull, calls } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 120 });
    await pull('incremental');
    await addHints(store, 'acme', 'candidates', [WHOLE_LIST]);
    const before = await calls('candidates.list');
    expect(await pull('incremental')).toMatchObject({ counts: { read: 120, unchanged: 120 } });
    expect(await pull('incremental')).toMatchObject({ counts: { read: 0 } });
    expect((await calls('candidates.list')) - before).toBe(2);
  });
});

test('a whole pass over a still list calls once a page, writes no record and at most two rows a page', async () => {
  const { world, pull, calls } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: PEOPLE });
  await pull('full');
  const before = await calls('candidates.list');
  const [records, bookkeeping] = [countWrites(fileOf(world.hrisUrl)), countWrites(fileOf(world.storeUrl))];
  bookkeeping.take();
  expect(await pull('full')).toMatchObject({ state: 'done', counts: { read: PEOPLE, unchanged: PEOPLE } });
  const pages = Math.ceil(PEOPLE / 100);
  expect((await calls('candidates.list')) - before).toBe(pages);
  expect(records.take()).toEqual({});
  const { rate_limits: _permits, ...rows } = bookkeeping.take();
  expect(Object.values(rows).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(2 * pages);
});

test('a pass whose mapping was changed on the way is followed by another whole one', async () => {
  const { world, store, pull, edit, calls } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 40 });
  await pull('full', { runId: 'before' });
  const first = (await readStreamState(store, KEY))?.mapping_hash;
  await writeFile(join(world.tenantsDir, 'other.yaml'), 'fields:\n  city: { from: candidate.firstName }\n');
  await edit((text) => text.replace('candidates: { every: 1h }', 'candidates: { every: 1h, mapping: other.yaml }'));
  // As a worker leaves a pass that it began with the mapping before.
  await store.kysely.updateTable('streams').set({ state: 'running', updated_at: 0 }).execute();
  expect(await pull('full', { runId: 'after' })).toMatchObject({ state: 'done' });
  expect((await readStreamState(store, KEY))?.mapping_hash).toBe(first);
  const lists = await calls('candidates.list');
  expect(await pull('incremental')).toMatchObject({ state: 'done', counts: { read: 40 } });
  expect((await calls('candidates.list')) - lists).toBe(1);
  expect((await readStreamState(store, KEY))?.mapping_hash).not.toBe(first);
  expect(await pull('incremental')).toMatchObject({ counts: { read: 0 } });
});

test('two attempts of one run leave no record out and count each once', async () => {
  const { pull, rows } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: PEOPLE });
  const attempt = () => pull('full', { runId: 'one' }).catch(() => undefined);
  await Promise.all([attempt(), attempt()]);
  expect(await pull('full', { runId: 'one' })).toMatchObject({ state: 'done', counts: { read: PEOPLE } });
  expect(rows().size).toBe(PEOPLE);
});

test('a single record is read by its id, or searched in a list that has no other way', async () => {
  const { world, pull, rows } = await openPullWorld('{}', { candidates: 30, jobs: 3 });
  const [job] = (
    await world.partner.readAll((await import('../../../src/partner/contract/index.ts')).contract.jobs.list)
  ).items;
  const recordId = String(job?.id);
  expect(await pull('one', { stream: 'jobs', recordId })).toMatchObject({
    state: 'done',
    counts: { read: 1, created: 1 },
  });
  expect([...rows('jobs').keys()]).toEqual([recordId]);
  expect(await pull('one', { recordId: '999999' })).toMatchObject({ counts: { read: 0, skipped: 1 } });
});

describe('a record that the partner no longer has', () => {
  test.each([
    ['ignore', 40, 40],
    ['delete', 40, 39],
  ])('is gone after two passes, and then deletion: %s leaves %i, then %i rows', async (deletion, first, second) => {
    const { world, store, pull, rows } = await openPullWorld(`{ candidates: { deletion: ${deletion} } }`, {
      candidates: 40,
    });
    await pull('full');
    const [gone = ''] = rows().keys();
    await world.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
    await pull('full');
    expect(rows().size).toBe(first);
    expect(await readMissing(store, KEY)).toMatchObject([{ recordId: gone, isBelieved: false }]);
    expect(await pull('full')).toMatchObject({ state: 'done' });
    expect(rows().size).toBe(second);
  });

  test('is missed once by a pass that another run took up at its end', async () => {
    const { world, store, pull, rows } = await openPullWorld('{ candidates: { deletion: delete } }', {
      candidates: 40,
    });
    await pull('full');
    const [gone = ''] = rows().keys();
    await world.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
    await pull('full', { runId: 'dies' });
    // As its worker leaves it that dies between the end of the pass and the commit of its last page.
    await store.kysely.updateTable('streams').set({ state: 'running', updated_at: 0 }).execute();
    expect(await pull('full', { runId: 'takes-up' })).toMatchObject({ state: 'done' });
    expect(await readMissing(store, KEY)).toMatchObject([{ recordId: gone, isBelieved: false }]);
    expect(rows().size).toBe(40);
    await pull('full');
    expect(rows().size).toBe(39);
  });

  test('is gone at once after an event that says so and a read; a mere hint does not delete', async () => {
    const { world, store, pull, rows } = await openPullWorld('{ candidates: { every: 1h, deletion: delete } }', {
      candidates: 40,
    });
    await pull('full');
    const [told = '', hinted = ''] = rows().keys();
    await world.control.act('deleteCandidate', { candidateIds: [Number(told), Number(hinted)] });
    await addHints(store, 'acme', 'candidates', [told], true);
    await addHints(store, 'acme', 'candidates', [hinted]);
    expect(await pull('incremental')).toMatchObject({ counts: { skipped: 2 } });
    expect([rows().has(told), rows().has(hinted)]).toEqual([false, true]);
  });

  test.each(['', ', deletion: mark'])('is marked by {every: 1h%s}, once, its values kept', async (deletion) => {
    const { world, pull, rows } = await openPullWorld(`{ candidates: { every: 1h${deletion} } }`, { candidates: 40 });
    await pull('full');
    const [gone = ''] = rows().keys();
    const { email } = rows().get(gone) ?? {};
    await world.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
    await pull('full');
    expect(rows().get(gone)).toMatchObject({ gone_at: null });
    await pull('full');
    expect(rows().get(gone)).toMatchObject({ row_hash: '', gone_at: expect.any(String) as string, email });
    const records = countWrites(fileOf(world.hrisUrl));
    await pull('full');
    expect(records.take()).toEqual({});
  });

  test('stays as it is in a table that has no column for the mark, and the stream goes on', async () => {
    const { world, pull, rows } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 40 });
    const [gone = '', edited = ''] = (await pull('full'), rows().keys());
    const table = new DatabaseSync(fileOf(world.hrisUrl));
    table.exec('alter table partner_candidates drop column gone_at');
    await world.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
    await world.control.act('editCandidate', { candidateId: Number(edited), fields: { city: 'Utrecht' } });
    await pull('full');
    expect(await pull('full')).toMatchObject({ state: 'done', counts: { skipped: 1 } });
    expect(rows().get(edited)?.['city']).toBe('Utrecht');
    expect(rows().get(gone)?.['row_hash']).not.toBe('');
    table.exec('alter table partner_candidates add column gone_at timestamp null');
    table.close();
    await pull('full');
    expect(rows().get(gone)?.['gone_at']).not.toBeNull();
  });
});

describe('a change limit', () => {
  test('holds the stream before an empty list is believed, until a person resumes it', async () => {
    const { world, store, pull, rows } = await openPullWorld('{ candidates: { deletion: delete } }', {
      candidates: 60,
    });
    await pull('full');
    const ids = [...rows().keys()].map(Number);
    await world.control.act('deleteCandidate', { candidateIds: ids });
    expect(await pull('full')).toEqual({ state: 'refused', code: 'ZERO_ROWS' });
    expect(await pull('incremental')).toEqual({ state: 'refused', code: 'ZERO_ROWS' });
    expect((await readStreamState(store, KEY))?.held_message).toContain('hirebridge resume acme candidates');
    await resumeStream(store, KEY, 'jo');
    expect(await pull('full')).toEqual({ state: 'refused', code: 'MASS_DELETE' });
    expect(rows().size).toBe(60);
  });

  test('holds the stream when a field that was filled is empty everywhere', async () => {
    const { world, pull, rows } = await openPullWorld('{ candidates: {} }', { candidates: 60 });
    await pull('full');
    const before = [...rows().values()].filter((row) => row['city'] !== null).length;
    for (const id of rows().keys())
      await world.control.act('editCandidate', { candidateId: Number(id), fields: { city: '' } });
    expect(before).toBeGreaterThan(20);
    expect(await pull('full')).toEqual({ state: 'refused', code: 'FILL_RATE_FELL' });
    expect([...rows().values()].filter((row) => row['city'] !== null).length).toBe(before);
  });

  test('holds the stream when most rows would change, and lets them once a person allowed it', async () => {
    const { world, store, pull, rows } = await openPullWorld('{ candidates: {} }', { candidates: 60 });
    await pull('full');
    for (const id of rows().keys())
      await world.control.act('editCandidate', { candidateId: Number(id), fields: { city: 'Rome' } });
    expect(await pull('full')).toEqual({ state: 'refused', code: 'MASS_CHANGE' });
    await resumeStream(store, KEY, 'jo');
    expect(await pull('full')).toMatchObject({ state: 'done', counts: { updated: 60 } });
    for (const id of rows().keys())
      await world.control.act('editCandidate', { candidateId: Number(id), fields: { city: 'Oslo' } });
    expect(await pull('full')).toEqual({ state: 'refused', code: 'MASS_CHANGE' });
  });
});

test('applications are read a stage type at a time, and onboarding from its one list', async () => {
  const { world, pull, rows, calls } = await openPullWorld(
    '{ applications: { every: 1h }, onboarding: { every: 1h } }',
    {
      jobs: 2,
      candidates: 130,
    },
  );
  const jobs = (await world.partner.readAll(contract.jobs.list)).items;
  const known = new Set<string>();
  for (const { id } of jobs) {
    const { items } = await world.partner.readAll(contract.jobCandidates.listByJob, { params: { jobId: id } });
    for (const item of items) known.add(item.id);
  }
  const read = { state: 'done', counts: { read: known.size, created: known.size, quarantined: 0 } };
  expect(await pull('incremental', { stream: 'applications' })).toMatchObject(read);
  expect(new Set(rows('applications').keys())).toEqual(known);
  const before = await calls('jobCandidates.listByStageType');
  expect(await pull('full', { stream: 'applications' })).toMatchObject({ counts: { unchanged: known.size } });
  expect((await calls('jobCandidates.listByStageType')) - before).toBeLessThanOrEqual(8 + Math.ceil(known.size / 100));
  expect(await pull('incremental', { stream: 'onboarding' })).toMatchObject({ state: 'done', counts: { read: 0 } });
});
