import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { readStreamState } from '../../../src/store/streams.ts';
import { KEY } from './option-run.ts';
import { optionWorld } from './option-world.ts';

const SITES = Array.from({ length: 12 }, (_, at) => `Site ${at}`);

test('a person who holds the renamed option in two parts of their profile gets the new one in both', async () => {
  const world = await optionWorld({ candidates: 1, jobs: 0, entityType: 'candidate' });
  const { hr, run, hold, sandbox, outcomes } = world;
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const { items } = await sandbox.partner.readAll(contract.candidates.list, {});
  const { id, workExperiences, educations } = items[0] as (typeof items)[number];
  const parts = [...['work_experience', 'education'].entries()].map(([at, parentEntityType]) => {
    const [part] = [workExperiences, educations][at] as { id?: unknown }[];
    return { parentEntityType, parentEntityId: String(part?.id) };
  });
  for (const part of [{}, ...parts]) await hold(id, 'Bar', part);
  hr.rename(bar, 'Lounge');
  expect(await run('two')).toMatchObject({ state: 'done' });
  const query = { entityType: 'candidate', entityId: String(id) } as const;
  const values = await sandbox.partner.readAll(contract.customFieldValues.list, { query });
  const own = values.items.filter(({ customFieldId }) => customFieldId === world.fieldId);
  expect(own.map(({ value }) => value)).toEqual(['Lounge', 'Lounge', 'Lounge']);
  expect(new Set((await outcomes()).map((one) => one.split(' ')[1]))).toEqual(new Set(['done']));
});

test('what a person allows for one field passes for no other, and a stopped field keeps none back', async () => {
  const { hr, run, resume, options, store, addSites } = await optionWorld({ options: SITES });
  const other = await addSites(SITES);
  const [ids, others] = [SITES.map((name) => hr.add(name)), SITES.map((name) => hr.add(name, 'sites'))];
  await run('one');
  for (const id of ids.slice(4)) hr.close(id);
  hr.add('Roof', 'sites');
  expect(await run('two')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  expect(await options(other)).toContain('Roof');
  await resume();
  // Before the next pass the other list loses most of its entries as well, and the first one another.
  for (const id of others.slice(4)) hr.close(id, 'sites');
  hr.close(ids[3] as number);
  expect(await run('three')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  expect((await readStreamState(store, KEY))?.held_message).toMatch(/"Site"/);
  expect((await readStreamState(store, KEY))?.held_message).not.toMatch(/"Department"/);
  expect(await options(other)).toEqual([...SITES, 'Roof']);
  // Missed for the first time in the pass that a person allowed: it waits for another.
  expect(await options()).toEqual(SITES.slice(0, 4));
  await resume();
  expect(await run('four')).toMatchObject({ state: 'done' });
  expect(await options(other)).toEqual([...SITES.slice(0, 4), 'Roof']);
  expect(await options()).toEqual(SITES.slice(0, 3));
  expect((await readStreamState(store, KEY))?.allowed_code).toBeNull();
});

test('while one field waits for a person, later passes go on with the others and leave it alone', async () => {
  const { hr, run, resume, options, store, addSites, calls } = await optionWorld({ options: SITES });
  const other = await addSites(SITES);
  const [ids, others] = [SITES.map((name) => hr.add(name)), SITES.map((name) => hr.add(name, 'sites'))];
  await run('one');
  for (const id of ids.slice(4)) hr.close(id);
  expect(await run('two')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  hr.add('Roof', 'sites');
  hr.add('Attic');
  // It says each time what waits; what the other list has is there.
  expect(await run('three')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  expect(await options(other)).toEqual([...SITES, 'Roof']);
  expect(await options()).toEqual(SITES);
  // The other one is held beside it.
  for (const id of others.slice(4)) hr.close(id, 'sites');
  expect(await run('four')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  const { held_code: codes, held_message: told } = (await readStreamState(store, KEY)) ?? {};
  expect(codes?.split(' ')).toHaveLength(2);
  expect(told).toMatch(
    /^Custom field "Department".*Custom field "Site"[^"]*the rest goes on.*hirebridge resume acme options$/,
  );
  // Where every field waits, nothing is asked.
  const before = await calls();
  expect(await run('five')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  expect(await calls()).toBe(before);
  await resume();
  expect(await run('six')).toMatchObject({ state: 'done' });
  expect([await options(), await options(other)]).toEqual([
    [...SITES.slice(0, 4), 'Attic'],
    [...SITES.slice(0, 4), 'Roof'],
  ]);
  expect(await readStreamState(store, KEY)).toMatchObject({ held_code: null, allowed_code: null });
});

test('what a person lets go on during a pass is allowed in the next one', async () => {
  const { hr, run, resume, options, addSites, meanwhile, store } = await optionWorld({ options: SITES });
  const other = await addSites(SITES);
  const ids = SITES.map((name) => hr.add(name));
  for (const name of SITES) hr.add(name, 'sites');
  await run('one');
  for (const id of ids.slice(4)) hr.close(id);
  expect(await run('two')).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  hr.add('Roof', 'sites');
  meanwhile.at = async (point) => {
    if (point !== 'customFields.update/after') return;
    delete meanwhile.at;
    await resume();
  };
  expect(await run('three')).toMatchObject({ state: 'done' });
  expect(await options(other)).toContain('Roof');
  expect(await options()).toEqual(SITES);
  expect((await readStreamState(store, KEY))?.allowed_code).toMatch(/^MASS_DELETE:/);
  expect(await run('four')).toMatchObject({ state: 'done' });
  expect(await options()).toEqual(SITES.slice(0, 4));
});

test('a field that is refused keeps no other from being equal', async () => {
  const { hr, run, options, addSites } = await optionWorld({ fieldType: 'text' });
  const other = await addSites(['Hall']);
  hr.add('Bar');
  hr.add('Roof', 'sites');
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'OPTIONS_FIELD_UNUSABLE' });
  expect(await options(other)).toContain('Roof');
});

test('among more candidates than are asked, what is found follows, and the next pass reads none again', async () => {
  const world = await optionWorld({ candidates: 205, jobs: 2, entityType: 'candidate' });
  const { hr, run, hold, sandbox, calls, options, fieldId } = world;
  const [bar, cellar] = [hr.add('Bar'), hr.add('Cellar')];
  hr.add('Kitchen');
  await run('one');
  const page = await sandbox.partner.jobCandidates.listByStageType({ query: { stageType: 'SOURCED' } });
  const applied = String(
    (page as { data: { jobCandidateDetails: { candidateId: string } }[] }).data[0]?.jobCandidateDetails.candidateId,
  );
  await hold(applied, 'Bar');
  hr.rename(bar, 'Lounge');
  hr.rename(cellar, 'Vault');
  expect(await run('two')).toMatchObject({ state: 'done' });
  const query = { entityType: 'candidate', entityId: applied } as const;
  const { items } = await sandbox.partner.readAll(contract.customFieldValues.list, { query });
  expect(items.filter((one) => one.customFieldId === fieldId).map(({ value }) => value)).toEqual(['Lounge']);
  // Somebody whom no list shows may hold them.
  expect((await options()).toSorted()).toEqual(['Bar', 'Cellar', 'Kitchen', 'Lounge', 'Vault']);
  const before = await calls();
  expect(await run('three')).toMatchObject({ state: 'done' });
  expect((await calls()) - before).toBeLessThan(4);
  const between = await calls();
  await run('four', { full: true });
  expect((await calls()) - between).toBeGreaterThan(4);
  // Another change of the list is looked at at once.
  hr.rename(cellar, 'Safe');
  const last = await calls();
  await run('five');
  expect((await calls()) - last).toBeGreaterThan(4);
});

test('the jobs are read once for all fields', async () => {
  const { hr, run, addSites, options, meanwhile } = await optionWorld();
  const other = await addSites(['Hall']);
  const [bar, hall] = [hr.add('Bar'), hr.add('Hall', 'sites')];
  hr.add('Kitchen');
  hr.add('Roof', 'sites');
  await run('one');
  hr.close(bar);
  hr.close(hall, 'sites');
  await run('two');
  let lists = 0;
  meanwhile.at = async (point) => {
    if (point === 'jobs.list/before') lists += 1;
  };
  expect(await run('three')).toMatchObject({ state: 'done', counts: { updated: 2 } });
  expect([await options(), await options(other)]).toEqual([['Kitchen'], ['Roof']]);
  // Once before they leave, once after.
  expect(lists).toBe(2);
});

test('what somebody chooses between the reading and the writing stands', async () => {
  const { hr, run, hold, held, meanwhile } = await optionWorld();
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const [job = '', other = ''] = (await held()).keys();
  for (const one of [job, other]) await hold(one, 'Bar');
  hr.rename(bar, 'Lounge');
  meanwhile.at = async (point) => {
    if (point !== 'customFields.update/after') return;
    delete meanwhile.at;
    await hold(job, 'Kitchen');
  };
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect([(await held()).get(job), (await held()).get(other)]).toEqual(['Kitchen', 'Lounge']);
});

test('a value that cannot be read may hold any option, so none goes', async () => {
  const { hr, run, hold, held, options, meanwhile, fieldId } = await optionWorld({ fieldType: 'multi-select' });
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const [job = ''] = (await held()).keys();
  await hold(job, ['Bar']);
  hr.close(bar);
  await run('two');
  meanwhile.seen = (operation, answer) => {
    if (operation !== 'jobs.list') return;
    const { jobs } = (answer as { body: { jobs: { id: number; customFields: Record<string, { value: string }> }[] } })
      .body;
    const value = jobs.find(({ id }) => String(id) === job)?.customFields[fieldId];
    if (value !== undefined) value.value = '["Bar"';
  };
  await run('three');
  expect(await options()).toContain('Bar');
});

test('a name that more than 500 records hold is asked about before their values change', async () => {
  const { hr, run, resume, options, held, holdInJobs, store } = await optionWorld({ jobs: 502 });
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  await holdInJobs('Bar', 501);
  hr.rename(bar, 'Lounge');
  expect(await run('two')).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  expect((await readStreamState(store, KEY))?.held_message).toMatch(/501 records/);
  expect((await options()).toSorted()).toEqual(['Bar', 'Kitchen']);
  await resume();
  expect(await run('three')).toMatchObject({ state: 'done' });
  expect([...(await held()).values()].filter((value) => value === 'Lounge')).toHaveLength(501);
});

test('a request that dies marks none of those that arrived, and its own are looked up', async () => {
  const { hr, run, holdInJobs, meanwhile, outcomes } = await optionWorld({ jobs: 120 });
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  await holdInJobs('Bar', 120);
  hr.rename(bar, 'Lounge');
  let sent = 0;
  meanwhile.at = async (point) => {
    if (point !== 'customFieldValues.upsertBulk/before') return;
    sent += 1;
    if (sent === 2) throw new Error('the connection broke');
  };
  await expect(run('two')).rejects.toThrow('the connection broke');
  expect(await outcomes()).not.toContain('job refused');
  expect(await outcomes()).toContain('job done');
  delete meanwhile.at;
  expect(await run('two')).toMatchObject({ state: 'done' });
  const all = (await outcomes()).filter((one) => one.startsWith('job '));
  expect(all.filter((one) => one === 'job done')).toHaveLength(120);
  expect(all.filter((one) => one === 'job absent').length).toBeGreaterThan(0);
  expect(new Set(all)).toEqual(new Set(['job done', 'job absent']));
});

test('one job whose value is refused keeps no other job’s value from following the new name', async () => {
  const { hr, run, holdInJobs, held, refused, outcomes, options } = await optionWorld({ jobs: 3 });
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  await holdInJobs('Bar', 3);
  hr.rename(bar, 'Lounge');
  const [, second = ''] = [...(await held()).keys()];
  refused.add(second);
  await run('two');
  expect([...(await held()).values()]).toEqual(['Lounge', 'Bar', 'Lounge']);
  expect(await options()).toContain('Bar');
  expect((await outcomes()).filter((one) => one === 'job done')).toHaveLength(2);
  refused.clear();
  await run('three', { full: true });
  expect([...(await held()).values()]).toEqual(['Lounge', 'Lounge', 'Lounge']);
});

test('one job whose value is answered with an error keeps back no other job, and no other field', async () => {
  const { hr, run, holdInJobs, held, options, addSites, sandbox } = await optionWorld({ jobs: 3 });
  const other = await addSites(['Oslo']);
  hr.add('Oslo', 'sites');
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  await holdInJobs('Bar', 3);
  hr.rename(bar, 'Lounge');
  hr.add('Bergen', 'sites');
  const [first = ''] = [...(await held()).keys()];
  const bad = { kind: 'server-error', on: 'customFieldValues.upsertBulk', holding: `"${first}"` } as const;
  await sandbox.control.act('setFaults', { faults: [bad] });
  await expect(run('two')).rejects.toThrow('answered 500');
  expect([...(await held()).values()]).toEqual(['Bar', 'Lounge', 'Lounge']);
  expect(await options(other)).toEqual(['Oslo', 'Bergen']);
  await sandbox.control.act('setFaults', { faults: [] });
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect([...(await held()).values()]).toEqual(['Lounge', 'Lounge', 'Lounge']);
  expect((await options()).toSorted()).toEqual(['Kitchen', 'Lounge']);
});

test.each([
  ['before', 'options absent'],
  ['after', 'options done'],
])('an update of options without an answer, lost %s it took effect, is looked up', async (side, outcome) => {
  const { hr, run, meanwhile, outcomes, options } = await optionWorld();
  hr.add('Bar');
  hr.add('Kitchen');
  meanwhile.at = async (point) => {
    if (point === `customFields.update/${side}`) throw new Error('the connection broke');
  };
  await expect(run('one')).rejects.toThrow('the connection broke');
  expect(await outcomes()).toEqual(['options open']);
  delete meanwhile.at;
  expect(await run('one')).toMatchObject({ state: 'done' });
  expect(await options()).toEqual(['Kitchen', 'Bar']);
  expect(await outcomes()).toContain(outcome);
  expect(await outcomes()).not.toContain('options open');
});
