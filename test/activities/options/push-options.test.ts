import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { readStreamState } from '../../../src/store/streams.ts';
import { KEY } from './option-run.ts';
import { optionWorld } from './option-world.ts';

test('options become those of the list, and a pass that finds them equal writes nothing', async () => {
  const { hr, run, options, effects, store } = await optionWorld();
  for (const name of ['Kitchen', ' Bar ', '', 'Cellar']) hr.add(name);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 2, unchanged: 1 } });
  expect(await options()).toEqual(['Kitchen', 'Bar', 'Cellar']);
  const [before, rows] = [await effects(), await store.kysely.selectFrom('foreign_writes').selectAll().execute()];
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 0, updated: 0, unchanged: 3 } });
  expect(await effects()).toBe(before);
  expect(await store.kysely.selectFrom('foreign_writes').selectAll().execute()).toEqual(rows);
});

test('an option goes only when two passes missed its entry and no job holds it', async () => {
  const { hr, run, options, hold, held } = await optionWorld();
  const [kitchen, bar] = [hr.add('Kitchen'), hr.add('Bar')];
  hr.add('Cellar');
  await run('one');
  const [job = ''] = (await held()).keys();
  await hold(job, 'Bar');
  hr.close(kitchen);
  hr.close(bar);
  expect(await run('two')).toMatchObject({ counts: { skipped: 2, updated: 0 } });
  expect(await options()).toEqual(['Kitchen', 'Bar', 'Cellar']);
  expect(await run('three')).toMatchObject({ state: 'done', counts: { skipped: 1, updated: 1 } });
  expect(await options()).toEqual(['Bar', 'Cellar']);
  await hold(job, 'Cellar');
  await run('four', { full: true });
  expect(await options()).toEqual(['Cellar']);
});

test('an entry that is called otherwise renames its option, and the values that hold it follow', async () => {
  const { hr, run, options, hold, held, plan, effects } = await optionWorld();
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const [job = '', other = ''] = (await held()).keys();
  await hold(job, 'Bar');
  await hold(other, 'Kitchen');
  hr.rename(bar, 'Lounge');
  const before = await effects();
  expect(await plan()).toMatchObject({
    records: [{ changes: { options: { old: ['Kitchen', 'Bar'], new: ['Kitchen', 'Lounge'] } } }],
    notes: [{ what: 'values', reason: 'Bar becomes Lounge wherever it is used' }],
  });
  expect(await effects()).toBe(before);
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 1, unchanged: 1 } });
  expect((await options()).toSorted()).toEqual(['Kitchen', 'Lounge']);
  expect((await held()).get(job)).toBe('Lounge');
  expect((await held()).get(other)).toBe('Kitchen');
});

test('a list of a person is renamed in every place, also in a part of a profile', async () => {
  const world = await optionWorld({ candidates: 2, entityType: 'candidate', fieldType: 'multi-select' });
  const { hr, run, options, hold, sandbox } = world;
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const { items } = await sandbox.partner.readAll(contract.candidates.list, {});
  const { id, workExperiences } = items.find((one) => (one.workExperiences ?? []).length > 0) as (typeof items)[number];
  const [work] = workExperiences as { id?: unknown }[];
  await hold(id, ['Bar', 'Kitchen']);
  await hold(id, ['Bar'], { parentEntityType: 'work_experience', parentEntityId: String(work?.id) });
  hr.rename(bar, 'Lounge');
  await run('two');
  const query = { entityType: 'candidate', entityId: String(id) } as const;
  const values = await sandbox.partner.readAll(contract.customFieldValues.list, { query });
  const own = values.items.filter(({ customFieldId }) => customFieldId === world.fieldId);
  expect(own.map(({ value }) => value)).toEqual([JSON.stringify(['Lounge', 'Kitchen']), JSON.stringify(['Lounge'])]);
  expect((await options()).toSorted()).toEqual(['Kitchen', 'Lounge']);
});

test.each([
  ['an empty list', 'ZERO_ROWS', 0],
  ['a list that lost most of its entries', 'MASS_DELETE', 4],
])('%s holds the stream, and a person lets it go on', async (_what, code, left) => {
  const names = Array.from({ length: 12 }, (_, at) => `Site ${at}`);
  const { hr, run, resume, options, store } = await optionWorld({ options: names });
  const ids = names.map((name) => hr.add(name));
  await run('one');
  for (const id of ids.slice(left)) hr.close(id);
  expect(await run('two')).toMatchObject({ state: 'refused', code });
  expect((await readStreamState(store, KEY))?.held_message).toMatch(/"Department".*hirebridge resume acme options/s);
  expect(await options()).toEqual(names);
  await resume();
  expect(await run('three')).toMatchObject({ state: 'done' });
  // None can be left, so an empty list takes none away.
  expect(await options()).toEqual(left === 0 ? names : names.slice(0, left));
});

test('a name that another entry took over is asked about while a job holds it', async () => {
  const { hr, run, resume, hold, held, options } = await optionWorld();
  const [bar, kitchen] = [hr.add('Bar'), hr.add('Kitchen')];
  await run('one');
  const [job = ''] = (await held()).keys();
  await hold(job, 'Bar');
  hr.rename(bar, 'Lounge');
  hr.rename(kitchen, 'Bar');
  expect(await run('two')).toMatchObject({ state: 'refused', code: 'OPTION_PASSED_ON' });
  await resume();
  await run('three');
  expect((await held()).get(job)).toBe('Bar');
  expect((await options()).toSorted()).toEqual(['Bar', 'Lounge']);
});

test.each([
  ['another list', 'sites', 'acme-hr'],
  ['another HR system', 'departments', 'other-hr'],
])('no value follows an id that means another entry in %s', async (_what, list, name) => {
  const { hr, run, hold, held, follow, options } = await optionWorld();
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const [job = ''] = (await held()).keys();
  await hold(job, 'Bar');
  follow(list, name);
  if (list === 'sites') hr.add('Oslo', 'sites');
  else hr.rename(bar, 'Oslo');
  await run('two');
  await run('three');
  expect((await held()).get(job)).toBe('Bar');
  expect((await options()).toSorted()).toEqual(list === 'sites' ? ['Bar', 'Oslo'] : ['Bar', 'Kitchen', 'Oslo']);
});

test('an option that is chosen while it leaves comes back', async () => {
  const { hr, run, options, hold, held, points, fieldId, sandbox } = await optionWorld();
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  hr.close(bar);
  await run('two');
  // The process dies with the request on its way, and somebody chooses the option before it arrives.
  for (let nth = 1, at = ''; at !== 'customFields.update/before'; nth += 1) {
    points.arm(nth);
    at = await run('three').then(
      () => 'never',
      (error: Error) => error.message,
    );
    expect(at).not.toBe('never');
  }
  const [job = ''] = (await held()).keys();
  await hold(job, 'Bar');
  await sandbox.partner.customFields.update({ params: { customFieldId: fieldId }, body: { options: ['Kitchen'] } });
  expect(await run('three')).toMatchObject({ state: 'done' });
  expect((await options()).toSorted()).toEqual(['Bar', 'Kitchen']);
  await hold(job, 'Kitchen');
  await run('four', { full: true });
  expect(await options()).toEqual(['Kitchen']);
});

test('a field without options ends the run with what to name instead', async () => {
  const { hr, run } = await optionWorld({ fieldType: 'text' });
  hr.add('Bar');
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'OPTIONS_FIELD_UNUSABLE' });
});

test('a field that the tenant names no more is held no longer', async () => {
  const names = Array.from({ length: 30 }, (_, n) => `Department ${n}`);
  const { hr, run, addSites, withoutField, store } = await optionWorld({ options: names });
  hr.add('Kitchen');
  hr.add('Lisbon', 'sites');
  await addSites(['Lisbon']);
  await run('one');
  expect(await run('two')).toMatchObject({ state: 'refused' });
  expect((await readStreamState(store, KEY))?.held_code).not.toBeNull();
  withoutField();
  expect(await run('three')).toMatchObject({ state: 'done' });
  expect(await readStreamState(store, KEY)).toMatchObject({ held_code: null, held_message: null });
});

test('a tenant without the section costs no call and no row', async () => {
  const { run, store, effects, calls, withoutOptions } = await optionWorld();
  withoutOptions();
  const [before, asked] = [await effects(), await calls()];
  expect(await run('one')).toMatchObject({ state: 'done', counts: { read: 0 } });
  expect([await effects(), await calls()]).toEqual([before, asked]);
  for (const table of ['option_labels', 'foreign_writes'] as const)
    expect(await store.kysely.selectFrom(table).selectAll().execute()).toEqual([]);
});
