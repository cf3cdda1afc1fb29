import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { FieldValue } from '../../src/hire/hire.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { CALM } from '../convergence/calm.ts';
import { mappingText, type TwoWayField } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchangedPositions, type World } from '../convergence/world.ts';

let world: World;
let runs = 0;
afterEach(() => world.close());

const SHARED_CITY = 'city, direction: both, owner: either, conflict: partner';
const fieldOf = (name: string): TwoWayField => world.fields.find((field) => field.name === name) as TwoWayField;

async function exchange(conditions: Partial<Conditions> = {}) {
  world.clock.advance(120_000);
  runs += 1;
  return world.exchange(`run ${runs}`, { ...CALM, ...conditions });
}

async function hire(count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let n = 0; n < count; n += 1) people.push(await world.hire());
  return people;
}

const isPatch = (method: string): boolean => method === 'PATCH';

/** Pairs are read in the order of their ids. */
function lastOf(people: readonly Person[]): Person {
  return people.toSorted((a, b) => (a.employeeId < b.employeeId ? -1 : 1)).at(-1) as Person;
}

async function valuesOf(person: Person, name: string): Promise<FieldValue[]> {
  const held = await world.read(person);
  return [held?.partner[name] ?? null, held?.hris[name] ?? null];
}

/** Happens with the first such request. */
function once(isMeant: (method: string, path: string) => boolean, happens: () => void): Conditions['mishap'] {
  let isOver = false;
  return (method, path) => {
    if (isOver || !isMeant(method, path)) return undefined;
    isOver = true;
    happens();
    return undefined;
  };
}

/** What is recorded of fields that both sides edited. */
async function recorded(): Promise<[string, string][]> {
  const store = world.store.connect(async () => undefined);
  const conflicts = await listConflicts(store, { tenantId: 'acme', all: true });
  return conflicts.map(({ field, kind }) => [field, kind]);
}

test('a job edited after its list was read is not overwritten, but read again', async () => {
  world = await createWorld(undefined, exchangedPositions);
  const positions = await hire(101);
  const last = lastOf(positions);
  for (const one of positions) await world.editHris(one, fieldOf('level'), 'Lead');
  world.allowMany();
  const mishap = once(
    (_method, path) => path.endsWith('/bulk'),
    () => world.editPartner(last, fieldOf('level'), 'Senior'),
  );
  expect(await exchange({ mishap })).toMatchObject({ state: 'done', counts: { read: 101, updated: 101 } });
  expect(await valuesOf(last, 'level')).toEqual(['Senior', 'Senior']);
  expect(await recorded()).toEqual([['level', 'conflict']]);
});

test('a profile edited while others are written is not overwritten, but read again', async () => {
  world = await createWorld(mappingText().replace('city, direction: both, owner: partner', SHARED_CITY));
  const people = await hire(12);
  const last = lastOf(people);
  await exchange();
  for (const one of people) await world.editHris(one, fieldOf('city'), 'Köln');
  const mishap = once(isPatch, () => world.editPartner(last, fieldOf('city'), 'Bonn'));
  expect(await exchange({ mishap })).toMatchObject({ state: 'done', counts: { read: 12, updated: 12 } });
  expect(await valuesOf(last, 'city')).toEqual(['Bonn', 'Bonn']);
  expect(await recorded()).toEqual([['city', 'conflict']]);
});

test('values that vanish before they are read again are not emptied in masses', async () => {
  world = await createWorld(mappingText().replace('city, direction: both, owner: partner', SHARED_CITY));
  const people = await hire(34);
  world.allowMany();
  await exchange();
  for (const one of people) world.editPartner(one, fieldOf('city'), 'Rome');
  world.allowMany();
  await exchange();
  for (const one of people) await world.editHris(one, fieldOf('city'), 'Köln');
  world.allowMany('MASS_CHANGE');
  const mishap = once(isPatch, () => {
    for (const one of people) world.editPartner(one, fieldOf('city'), null);
  });
  expect(await exchange({ mishap })).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
  expect((await world.read(lastOf(people)))?.hris['city']).toBe('Köln');
});

test('a page that took minutes to read is read again, a few people at a time, and written', async () => {
  world = await createWorld();
  const people = await hire(12);
  await exchange();
  for (const one of people) world.editPartner(one, fieldOf('city'), 'Bonn');
  const now = Date.now.bind(Date);
  onTestFinished(() => void vi.restoreAllMocks());
  const mishap = once(
    (_method, path) => path.includes('bulk-fetch'),
    () => void vi.spyOn(Date, 'now').mockImplementation(() => now() + 180_000),
  );
  expect(await exchange({ mishap })).toMatchObject({ state: 'done', counts: { read: 12, updated: 12 } });
  expect(await valuesOf(lastOf(people), 'city')).toEqual(['Bonn', 'Bonn']);
});
