import { afterEach, expect, test } from 'vitest';
import type { FieldValue } from '../../src/hire/hire.ts';
import { planExchange } from '../../src/operator/plan-streams.ts';
import { decideConflicts, listConflicts } from '../../src/store/field-conflicts.ts';
import { listHolds } from '../../src/store/holds.ts';
import { CALM } from '../convergence/calm.ts';
import { comparable, mappingText, type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import { type Asked, type Conditions, LIMITS } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, type World } from '../convergence/world.ts';

let world: World;
let runs = 0;
afterEach(() => world.close());

const fieldOf = (name: string): TwoWayField => twoWayFields.find((field) => field.name === name) as TwoWayField;

async function exchange(conditions: Partial<Conditions> = {}, asked: Asked = {}) {
  world.clock.advance(120_000);
  runs += 1;
  return world.exchange(`run ${runs}`, { ...CALM, ...conditions }, asked);
}

async function valuesOf(person: Person, name: string): Promise<FieldValue[]> {
  const held = await world.read(person);
  return [held?.partner[name] ?? null, held?.hris[name] ?? null];
}

const store = () => world.store.connect(async () => undefined);

/** One of each type, and the emptied field. */
const values: Record<string, FieldValue[]> = {
  city: ['Köln', "L'Aquila 東京", null],
  costCentre: ['CC-1', 'with "quotes", commas\nand lines', null],
  level: ['Senior', 'Fellow', null],
  shifts: [['Late', 'Early'], ['Night'], null],
  hours: [37.5, 0, -1, 12_345_678, null],
  badge: [true, false],
  probationEnd: ['2026-02-28', '2024-02-29', null],
  notes: ['eins\nzwei', '👩‍💻 é', null],
};

test.each(twoWayFields)('$name goes from its owner to the other side and stays as it was written', async (field) => {
  world = await createWorld();
  const person = await world.hire();
  const sides = field.owner === 'either' ? (['partner', 'hris'] as const) : [field.owner];
  for (const side of sides)
    for (const value of values[field.name] ?? []) {
      if (side === 'partner') world.editPartner(person, field, value);
      else await world.editHris(person, field, value);
      await exchange();
      const [atPartner, atHris] = await valuesOf(person, field.name);
      expect([atPartner, atHris].map(comparable)).toEqual([comparable(value), comparable(value)]);
      const before = { ...world.writes };
      expect(await exchange()).toMatchObject({ state: 'done', counts: { unchanged: 1, updated: 0 } });
      expect(world.writes).toEqual(before);
    }
});

test("a multi-select edited on both sides keeps the named side's list whole, and both are recorded", async () => {
  world = await createWorld();
  const person = await world.hire();
  await world.editHris(person, fieldOf('shifts'), ['Early']);
  await exchange();
  world.editPartner(person, fieldOf('shifts'), ['Early', 'Late']);
  await world.editHris(person, fieldOf('shifts'), ['Night']);
  await exchange();
  expect(await valuesOf(person, 'shifts')).toEqual([['Night'], ['Night']]);
  const [conflict] = await listConflicts(store(), { tenantId: 'acme', all: true });
  expect(conflict).toMatchObject({ kind: 'conflict', kept: 'hris', partner_value: '["Early","Late"]' });
});

test('with conflict: hold a person is asked once, and the answer decides', async () => {
  world = await createWorld(mappingText().replace('owner: either, conflict: partner', 'owner: either, conflict: hold'));
  const person = await world.hire();
  world.editPartner(person, fieldOf('level'), 'Junior');
  await exchange();
  world.editPartner(person, fieldOf('level'), 'Senior');
  await world.editHris(person, fieldOf('level'), 'Lead');
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { held: 1 } });
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual(['Senior', 'Lead']);
  expect((await listHolds(store())).map(({ code }) => code)).toEqual(['FIELD_CONFLICTS']);
  await decideConflicts(
    store(),
    { tenantId: 'acme', stream: 'employees', keep: 'hris', askedAt: Date.now() + 60_000 },
    [],
  );
  expect(await exchange()).toMatchObject({ state: 'done' });
  expect(await valuesOf(person, 'level')).toEqual(['Lead', 'Lead']);
  expect(await listHolds(store())).toEqual([]);
});

test('a question whose own fields agree again asks anew about those found since, under an id of its own', async () => {
  world = await createWorld(mappingText().replace('owner: either, conflict: partner', 'owner: either, conflict: hold'));
  const people = [await world.hire(), await world.hire()];
  for (const person of people) world.editPartner(person, fieldOf('level'), 'Junior');
  await exchange();
  const differ = async (person: (typeof people)[number]) => {
    world.editPartner(person, fieldOf('level'), 'Senior');
    await world.editHris(person, fieldOf('level'), 'Lead');
  };
  const [first, second] = people as [(typeof people)[number], (typeof people)[number]];
  await differ(first);
  await exchange();
  const [asked] = await listHolds(store());
  await differ(second);
  await exchange();
  expect(await listHolds(store())).toMatchObject([{ hold_id: asked?.hold_id }]);
  await world.editHris(first, fieldOf('level'), 'Senior');
  await exchange();
  const [anew, ...more] = await listHolds(store());
  expect(more).toEqual([]);
  expect(anew).toMatchObject({ code: 'FIELD_CONFLICTS', message: expect.stringContaining('1 field') });
  expect(anew?.hold_id).not.toBe(asked?.hold_id);
});

test('with report an edit of the other side stays, and is listed until it is over', async () => {
  world = await createWorld(mappingText().replace('owner: hris }', 'owner: hris, report: true }'));
  const person = await world.hire();
  await world.editHris(person, fieldOf('costCentre'), 'A');
  await exchange();
  world.editPartner(person, fieldOf('costCentre'), 'B');
  await exchange();
  expect(await valuesOf(person, 'costCentre')).toEqual(['B', 'A']);
  const listed = async () => (await listConflicts(store(), { tenantId: 'acme', all: false })).map(({ kind }) => kind);
  expect(await listed()).toEqual(['diverged']);
  await world.editHris(person, fieldOf('costCentre'), 'C');
  await exchange();
  await exchange();
  expect(await valuesOf(person, 'costCentre')).toEqual(['C', 'C']);
  expect(await listed()).toEqual([]);
});

test('a rule whose condition no longer holds leaves what both sides have, and counts again later', async () => {
  const rule = '  city: { from: candidate.city, when: [{ path: candidate.country, equals: Germany }] }';
  world = await createWorld(`fields:\n${rule}\n`);
  const person = await world.hire();
  const at = (profile: Record<string, string>) => world.call('PATCH', `/candidates/${person.candidateId}`, profile);
  at({ city: 'Bonn', country: 'Germany' });
  await exchange();
  at({ city: 'Paris', country: 'France' });
  expect(await exchange()).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
  expect((await world.read(person))?.hris['city']).toBe('Bonn');
  at({ country: 'Germany' });
  await exchange();
  expect((await world.read(person))?.hris['city']).toBe('Paris');
});

test('a value that is none of the options is set apart with its reason, and the other fields go on', async () => {
  world = await createWorld();
  const person = await world.hire();
  await world.editHris(person, fieldOf('level'), 'Emperor');
  await world.editHris(person, fieldOf('costCentre'), 'CC-9');
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(await valuesOf(person, 'costCentre')).toEqual(['CC-9', 'CC-9']);
  const open = await listConflicts(store(), { tenantId: 'acme', all: false });
  expect(open).toMatchObject([{ field: 'level', kind: 'quarantined', code: 'VALUE_MISFIT' }]);
  await world.editHris(person, fieldOf('level'), 'Lead');
  expect(await exchange()).toMatchObject({ state: 'done' });
  expect(await valuesOf(person, 'level')).toEqual(['Lead', 'Lead']);
});

test('a person who is gone at the partner is believed gone after a second run, and the employee stays', async () => {
  world = await createWorld();
  const [person] = [await world.hire(), await world.hire()];
  await world.editHris(person, fieldOf('costCentre'), 'CC-9');
  await exchange();
  world.removeCandidate(person);
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { skipped: 1, unchanged: 1 } });
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { skipped: 1, unchanged: 1 } });
  expect(await exchange()).toMatchObject({ state: 'done', counts: { read: 1, unchanged: 1 } });
  expect((await world.hris.employees.read(person.employeeId, AbortSignal.timeout(120_000)))?.fields['costCentre']).toBe(
    'CC-9',
  );
});

test('120 people who changed are looked at by two calls, read by two, and sent by two', async () => {
  world = await createWorld();
  const people: Person[] = [];
  for (let n = 0; n < 120; n += 1) people.push(await world.hire());
  for (const person of people) await world.editHris(person, fieldOf('costCentre'), `CC-${person.employeeId}`);
  const calls: string[] = [];
  const mishap = (_method: string, path: string): undefined => void calls.push(path.replace('/v1/partner/', ''));
  world.allowMany();
  expect(await exchange({ mishap })).toMatchObject({ state: 'done', counts: { updated: 120 } });
  const count = (path: string): number => calls.filter((one) => one.startsWith(path)).length;
  expect([count('job-candidates/bulk-fetch'), count('custom-field-values/bulk')]).toEqual([4, 2]);
  expect(calls.length - 6).toBe(count('custom-fields'));
});

test('a hint has its pair alone read, whichever side named it; one that names no record has all of them', async () => {
  world = await createWorld();
  const people = [await world.hire(), await world.hire(), await world.hire()] as const;
  for (const person of people) await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  world.hint(people[0].candidateId);
  world.hint(people[1].employeeId);
  expect(await exchange({}, { mode: 'incremental' })).toMatchObject({ state: 'done', counts: { read: 2, updated: 2 } });
  expect(await valuesOf(people[2], 'costCentre')).toEqual([null, 'CC-1']);
  expect(await exchange({}, { mode: 'incremental' })).toMatchObject({ state: 'done', counts: { read: 0 } });
  world.hint('somebody who was never hired');
  expect(await exchange()).toMatchObject({ state: 'done', counts: { read: 3, updated: 1, unchanged: 2 } });
  await world.editHris(people[2], fieldOf('costCentre'), 'CC-2');
  world.hint('*');
  expect(await exchange({}, { mode: 'incremental' })).toMatchObject({ counts: { read: 3, updated: 1, unchanged: 2 } });
  expect(await valuesOf(people[2], 'costCentre')).toEqual(['CC-2', 'CC-2']);
});

test('an edit that the partner shows some time after its webhook is carried over soon after', async () => {
  world = await createWorld();
  const person = await world.hire();
  await exchange();
  world.clock.advance(120_000);
  world.hint(person.candidateId);
  const { partnerLagMs } = LIMITS;
  world.clock.advance(partnerLagMs - 1);
  const early = await world.exchange('told', CALM, { mode: 'incremental' });
  expect(early).toMatchObject({ state: 'done', counts: { read: 0 }, againInMs: partnerLagMs });
  // Only now does the partner show what the webhook told of.
  world.editPartner(person, fieldOf('city'), 'Bonn');
  world.clock.advance(partnerLagMs);
  const step = await world.exchange('told/1', CALM, { mode: 'incremental' });
  expect(step).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
  expect(step).not.toHaveProperty('againInMs');
  expect(await valuesOf(person, 'city')).toEqual(['Bonn', 'Bonn']);
});

test('one record is exchanged by its id on either side; an id that nobody has is left out', async () => {
  world = await createWorld();
  const people = [await world.hire(), await world.hire()] as const;
  for (const person of people) await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  const one = (recordId: string) => exchange({}, { mode: 'one', recordId });
  expect(await one(people[0].candidateId)).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
  expect(await one(people[0].employeeId)).toMatchObject({ state: 'done', counts: { read: 1, unchanged: 1 } });
  expect(await one('nobody')).toMatchObject({ state: 'partial', counts: { skipped: 1 } });
  expect(await valuesOf(people[1], 'costCentre')).toEqual([null, 'CC-1']);
});

test('a dry run says what would be written on either side and what is left, and writes nothing', async () => {
  world = await createWorld();
  const person = await world.hire();
  world.editPartner(person, fieldOf('city'), 'Köln');
  await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  await world.editHris(person, fieldOf('level'), 'Emperor');
  const plan = await planExchange(world.open(CALM), 'employees');
  expect(plan).toMatchObject({
    read: 1,
    records: [
      { record: person.employeeId, target: 'employee', changes: { city: { old: null, new: 'Köln' } } },
      { record: person.candidateId, target: 'candidate', changes: { costCentre: { old: null, new: 'CC-1' } } },
    ],
    notes: [{ record: person.employeeId, what: 'quarantined', reason: 'level VALUE_MISFIT' }],
  });
  expect(world.writes).toEqual({ partner: 0, hris: 0 });
});

/** Stands still once it has passed `after` and then so many of `next`. */
function createStandstill(after: string, next: string, times: number) {
  const [stood, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let left: number | undefined;
  const pause = async (point: string): Promise<void> => {
    if (point.endsWith(after)) left = times;
    else if (left !== undefined && point === next) left -= 1;
    if (left !== 0) return undefined;
    left = undefined;
    stood.resolve();
    return goesOn.promise;
  };
  return { pause, stood: stood.promise, goOn: goesOn.resolve };
}

const STANDSTILLS = { 'the partner answered': 0, 'it knew what both sides agreed on': 2 };
const DIRECTIONS = { hours: 'hris.update/after', costCentre: '/custom-field-values/bulk/after' };

test.each(
  Object.entries(STANDSTILLS).flatMap(([what, reads]) =>
    Object.entries(DIRECTIONS).map(([name, wrote]) => [what, name, reads, wrote] as const),
  ),
)(
  'a process that stood still after %s overwrites nothing that another one of its run wrote meanwhile: %s',
  async (_what, name, reads, wrote) => {
    world = await createWorld();
    const person = await world.hire();
    const field = fieldOf(name);
    const edit = async (nth: number): Promise<void> => {
      if (field.owner === 'hris') await world.editHris(person, field, `CC-${nth}`);
      else world.editPartner(person, field, nth);
    };
    await edit(1);
    await exchange();
    await edit(2);
    const older = createStandstill('/bulk-fetch/after', 'store.read/after', reads);
    const first = exchange({ pause: older.pause });
    await older.stood;
    await edit(3);
    // It dies once it knows that its write arrived, so that the run is not over.
    const newer = createStandstill(wrote, 'store.write/after', 2);
    void world.exchange(`run ${runs}`, { ...CALM, pause: newer.pause });
    await newer.stood;
    const newest = field.owner === 'hris' ? ['CC-3', 'CC-3'] : [3, 3];
    expect(await valuesOf(person, name)).toEqual(newest);
    older.goOn();
    await first;
    expect(await valuesOf(person, name)).toEqual(newest);
  },
);
