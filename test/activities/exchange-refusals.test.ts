import { afterEach, expect, test } from 'vitest';
import { readStreams } from '../../src/operator/status.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { listWrites } from '../../src/store/foreign-writes.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';
import { sqliteHr } from './raw-hr.ts';

// Partners refuse what the specification leaves open, and people delete more than we would.

let world: World;
afterEach(() => world.close());

const exchange = (conditions: Partial<Conditions> = {}) => exchangeLater(world, conditions);
const valuesOf = (person: Person, name: string) => bothValues(world, person, name);

async function listed(): Promise<string[]> {
  const store = world.store.connect(async () => undefined);
  const open = await listConflicts(store, { tenantId: 'acme', all: false });
  return open.map(({ field, kind, code }) => `${field} ${kind} ${code ?? ''}`.trim());
}

const refused = {
  status: 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { code: 'INVALID_REQUEST', type: 'invalid_request', message: 'value must be set' } }),
};

test('a person whose application is deleted is exchanged on, by what the candidate shows', async () => {
  world = await createWorld();
  const person = await world.hire();
  await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  await exchange();
  await exchange();
  world.call('DELETE', `/job-candidates/${person.jobCandidateId}`);
  for (const value of ['CC-2', 'CC-3', 'CC-4']) {
    await world.editHris(person, fieldOf('costCentre'), value);
    world.editPartner(person, fieldOf('notes'), `note ${value}`);
    await exchange();
    expect(await valuesOf(person, 'costCentre')).toEqual([value, value]);
    expect(await valuesOf(person, 'notes')).toEqual([`note ${value}`, `note ${value}`]);
  }
  expect(await listed()).toEqual([]);
});

test('at a partner that takes no null a value is emptied by deleting it, and that is known from then on', async () => {
  world = await createWorld();
  const people = [await world.hire(), await world.hire(), await world.hire()];
  for (const person of people) await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  await exchange();
  const calls: string[] = [];
  const refuses: Conditions['refuses'] = (method, path, body) => {
    const isNull = path.endsWith('/bulk') && body.includes('"value":null');
    if (isNull) calls.push('null');
    if (method === 'DELETE') calls.push('DELETE');
    return isNull ? refused : undefined;
  };
  for (const person of people.slice(0, 2)) await world.editHris(person, fieldOf('costCentre'), null);
  await exchange({ refuses });
  await exchange({ refuses });
  for (const person of people.slice(0, 2)) expect(await valuesOf(person, 'costCentre')).toEqual([null, null]);
  expect(await valuesOf(people[2] as Person, 'costCentre')).toEqual(['CC-1', 'CC-1']);
  // Both, then one of them; the other is not even tried.
  expect(calls).toEqual(['null', 'null', 'DELETE', 'DELETE']);
  expect(await listed()).toEqual([]);
});

const ends = [
  ['is refused', 'refused', refused],
  ['has no clear answer', 'open', { ...refused, status: 500 }],
] as const;

test.each(ends)(
  'where one of several values %s, the write log says so of that one alone',
  async (_end, outcome, answer) => {
    world = await createWorld();
    const people = [await world.hire(), await world.hire(), await world.hire()];
    for (const [at, person] of people.entries()) await world.editHris(person, fieldOf('costCentre'), `CC-${at}`);
    const refuses: Conditions['refuses'] = (_method, path, body) => {
      if (!path.endsWith('/bulk') || !body.includes('CC-1')) return undefined;
      return (JSON.parse(body) as unknown[]).length > 1 ? refused : answer;
    };
    await exchange({ refuses });
    const store = world.store.connect(async () => undefined);
    const log = await listWrites(store, { tenantId: 'acme', target: 'employees:partner' });
    const outcomes = people.map(({ jobCandidateId: id }) => log.find((row) => row.record_id === id)?.outcome);
    expect(outcomes).toEqual(['done', outcome, 'done']);
  },
);

test('a value that a bulk answer passes over in silence is sent by itself', async () => {
  world = await createWorld();
  const people = [await world.hire(), await world.hire(), await world.hire()];
  for (const person of people) await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  const sent: number[] = [];
  const refuses = (method: string, path: string, body: string) => {
    if (!path.endsWith('/bulk')) return undefined;
    const entries = JSON.parse(body) as unknown[];
    sent.push(entries.length);
    if (entries.length === 1) return undefined;
    const data = world.call(method, '/custom-field-values/bulk', entries.slice(1));
    return { ...refused, status: 200, body: JSON.stringify({ status: 'success', data }) };
  };
  await exchange({ refuses });
  expect(sent).toEqual([3, 1]);
  for (const person of people) expect(await valuesOf(person, 'costCentre')).toEqual(['CC-1', 'CC-1']);
});

test('a value that somebody typed before it was deleted stays', async () => {
  world = await createWorld();
  const person = await world.hire();
  world.editPartner(person, fieldOf('hours'), 20.5);
  world.editPartner(person, fieldOf('notes'), 'as agreed');
  await exchange();
  await exchange();
  const typed: string[] = [];
  const refuses: Conditions['refuses'] = (method, path, body) => {
    if (method === 'DELETE') typed.push(path);
    if (!path.endsWith('/bulk') || !body.includes('"value":null')) return undefined;
    world.editPartner(person, fieldOf('hours'), 36);
    return refused;
  };
  await world.editHris(person, fieldOf('hours'), null);
  await exchange({ refuses });
  expect(await valuesOf(person, 'hours')).toEqual([36, null]);
  await exchange();
  await exchange();
  expect(await valuesOf(person, 'hours')).toEqual([36, 36]);
  expect(typed).toEqual([]);
  expect(await listed()).toEqual([]);
});

test('a value that the HR system refuses keeps no other field of the pair from being written', async () => {
  const hr = await sqliteHr();
  world = await createWorld(undefined, exchanged, { url: hr.url });
  const person = await world.hire();
  await hr.run(`create trigger no_seniors before update of level on employees when new.level = 'Senior'
    begin select raise(abort, 'we have none'); end`);
  world.editPartner(person, fieldOf('notes'), 'a zero \0 in it');
  world.editPartner(person, fieldOf('level'), 'Senior');
  world.editPartner(person, fieldOf('hours'), 3);
  world.editPartner(person, fieldOf('city'), 'Bonn');
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(await valuesOf(person, 'hours')).toEqual([3, 3]);
  expect(await valuesOf(person, 'city')).toEqual(['Bonn', 'Bonn']);
  const [shown] =
    (
      await readStreams(
        world.store.connect(async () => undefined),
        Date.now(),
      )
    ).get('acme') ?? [];
  expect(shown?.quarantined).toBe(1);
  expect((await listed()).toSorted()).toEqual(['level quarantined INVALID_VALUE', 'notes quarantined BROKEN_TEXT']);
  const before = { ...world.writes };
  await exchange();
  expect(world.writes).toEqual(before);
});

test('two rules that name one custom field, by label and by id, are refused before they take turns', async () => {
  world = await createWorld();
  const id = world.ids.get('costCentre');
  const both = 'direction: both, owner: hris';
  const rules = [`"candidate.customFields[Cost centre]", ${both}`, `"candidate.customFields[${id}]", ${both}`];
  await world.remap(`fields:\n  costCentre: { from: ${rules[0]} }\n  notes: { from: ${rules[1]} }\n`);
  const person = await world.hire();
  await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  await world.editHris(person, fieldOf('notes'), 'note 1');
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'FIELD_WRITTEN_TWICE' });
  expect(world.writes).toEqual({ partner: 0, hris: 0 });
});
