import { afterEach, expect, test } from 'vitest';
import { readDefinitions } from '../../activities/fields/custom-fields.ts';
import type { FieldValue } from '../../src/hire/hire.ts';
import { planExchange } from '../../src/operator/plan-streams.ts';
import { decideConflicts, listConflicts } from '../../src/store/field-conflicts.ts';
import { listHolds } from '../../src/store/holds.ts';
import { linkRequisition } from '../../src/store/jobs.ts';
import { CALM } from '../convergence/calm.ts';
import { mappingText, positionFields, type TwoWayField } from '../convergence/fields.ts';
import type { Asked, Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchangedPositions, type World } from '../convergence/world.ts';

let world: World;
let runs = 0;
afterEach(() => world.close());

const fieldOf = (name: string): TwoWayField => positionFields.find((field) => field.name === name) as TwoWayField;
const open = (rules?: string): Promise<World> => createWorld(rules, exchangedPositions);
const store = () => world.store.connect(async () => undefined);

async function exchange(conditions: Partial<Conditions> = {}, asked: Asked = {}) {
  world.clock.advance(120_000);
  runs += 1;
  return world.exchange(`run ${runs}`, { ...CALM, ...conditions }, asked);
}

async function addPositions(count: number): Promise<Person[]> {
  const made: Person[] = [];
  for (let n = 0; n < count; n += 1) made.push(await world.hire());
  return made;
}

async function valuesOf(person: Person, name: string): Promise<FieldValue[]> {
  const held = await world.read(person);
  return [held?.partner[name] ?? null, held?.hris[name] ?? null];
}

test('120 positions that changed cost two readings of the list of jobs and two upserts', async () => {
  world = await open();
  const positions = await addPositions(120);
  for (const one of positions) await world.editHris(one, fieldOf('costCentre'), `CC-${one.employeeId}`);
  const calls: string[] = [];
  const mishap = (_method: string, path: string): undefined => void calls.push(path.replace('/v1/partner/', ''));
  world.allowMany();
  expect(await exchange({ mishap })).toMatchObject({ state: 'done', counts: { read: 120, updated: 120 } });
  const count = (path: string): number => calls.filter((one) => one.startsWith(path)).length;
  expect([count('jobs?'), count('custom-field-values/bulk')]).toEqual([4, 2]);
  expect(calls.length - 6).toBe(count('custom-fields'));
  const before = { ...world.writes };
  expect(await exchange()).toMatchObject({ state: 'done', counts: { unchanged: 120, updated: 0 } });
  expect(world.writes).toEqual(before);
});

test('an edit of the side that does not own a field is put back; a shared field keeps the named side', async () => {
  world = await open();
  const position = await world.hire();
  await world.editHris(position, fieldOf('costCentre'), 'CC-1');
  await world.editHris(position, fieldOf('shifts'), ['Early']);
  await exchange();
  world.editPartner(position, fieldOf('costCentre'), 'mine');
  world.editPartner(position, fieldOf('shifts'), ['Early', 'Late']);
  await world.editHris(position, fieldOf('shifts'), ['Night']);
  await exchange();
  expect(await valuesOf(position, 'costCentre')).toEqual(['CC-1', 'CC-1']);
  expect(await valuesOf(position, 'shifts')).toEqual([['Night'], ['Night']]);
  const recorded = await listConflicts(store(), { tenantId: 'acme', all: true });
  expect(recorded.map(({ stream, field, kind }) => [stream, field, kind]).sort()).toEqual([
    ['positions', 'costCentre', 'put-back'],
    ['positions', 'shifts', 'conflict'],
  ]);
});

test('with conflict: hold a person is asked about positions apart from employees, and the answer decides', async () => {
  world = await open(
    mappingText(positionFields, 'job').replace('owner: either, conflict: partner', 'owner: either, conflict: hold'),
  );
  const position = await world.hire();
  world.editPartner(position, fieldOf('level'), 'Junior');
  await exchange();
  world.editPartner(position, fieldOf('level'), 'Senior');
  await world.editHris(position, fieldOf('level'), 'Lead');
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect((await listHolds(store())).map(({ code }) => code)).toEqual(['POSITION_CONFLICTS']);
  await decideConflicts(
    store(),
    { tenantId: 'acme', stream: 'positions', keep: 'hris', askedAt: Date.now() + 60_000 },
    [],
  );
  expect(await exchange()).toMatchObject({ state: 'done' });
  expect(await valuesOf(position, 'level')).toEqual(['Lead', 'Lead']);
  expect(await listHolds(store())).toEqual([]);
});

test('a hint, by the id of job or position, has its pair alone exchanged; so does one record', async () => {
  world = await open();
  const positions = await addPositions(3);
  for (const one of positions) await world.editHris(one, fieldOf('costCentre'), 'CC-1');
  world.hint(positions[0]?.candidateId ?? '');
  expect(await exchange({}, { mode: 'incremental' })).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
  const one = (recordId: string) => exchange({}, { mode: 'one', recordId });
  expect(await one(positions[1]?.employeeId ?? '')).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
  expect(await one('nobody')).toMatchObject({ state: 'partial', counts: { skipped: 1 } });
  expect(await valuesOf(positions[2] as Person, 'costCentre')).toEqual([null, 'CC-1']);
});

test('a job or a position that is not there is believed gone after a second run', async () => {
  world = await open();
  const [deleted, filled, stays] = (await addPositions(3)) as [Person, Person, Person];
  for (const one of [deleted, filled, stays]) await world.editHris(one, fieldOf('costCentre'), 'CC-1');
  await exchange();
  world.removeCandidate(deleted);
  world.removeEmployee(filled);
  await world.editHris(stays, fieldOf('costCentre'), 'CC-2');
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { skipped: 2, updated: 1 } });
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { skipped: 2, unchanged: 1 } });
  expect(await exchange()).toMatchObject({ state: 'done', counts: { read: 1, unchanged: 1 } });
  expect(await valuesOf(stays, 'costCentre')).toEqual(['CC-2', 'CC-2']);
});

test.each([
  ['level', 'Lead', 'Lead'],
  ['probationEnd', '2026-02-28', null],
])(
  'a position linked to another job keeps its %s: nothing of it was agreed with that one',
  async (name, value, said) => {
    world = await open();
    const [position, other] = (await addPositions(2)) as [Person, Person];
    await world.editHris(position, fieldOf(name), value);
    world.editPartner(position, fieldOf(name), value);
    await exchange();
    world.store.all('delete from requisitions where requisition_id = ?', other.employeeId);
    await linkRequisition(store(), { tenant_id: 'acme', requisition_id: position.employeeId }, other.candidateId);
    await exchange();
    expect(await valuesOf({ ...position, candidateId: other.candidateId }, name)).toEqual([said, value]);
  },
);

test('a dry run names jobs and positions, and writes nothing', async () => {
  world = await open();
  const position = await world.hire();
  world.editPartner(position, fieldOf('city'), 'Köln');
  await world.editHris(position, fieldOf('costCentre'), 'CC-1');
  expect(await planExchange(world.open(CALM), 'positions')).toMatchObject({
    read: 1,
    records: [
      { record: position.employeeId, target: 'position', changes: { city: { new: 'Köln' } } },
      { record: position.candidateId, target: 'job', changes: { costCentre: { old: null, new: 'CC-1' } } },
    ],
  });
  expect(world.writes).toEqual({ partner: 0, hris: 0 });
});

test('a custom field that the stream requisitions writes is not written by this one, whatever its label', async () => {
  world = await open();
  await world.hire();
  const { connection, tenant } = world.open(CALM);
  const { fields } = await readDefinitions(connection);
  const id = fields.find(({ entity, label }) => entity === 'job' && label === 'Cost centre')?.id;
  Object.assign(tenant, { requisitions: { reference: id, values: [], atOnce: 20 } });
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'FIELD_WRITTEN_TWICE' });
  expect(world.writes).toEqual({ partner: 0, hris: 0 });
});

test('a position that was gone and is open again is exchanged by the next run', async () => {
  world = await open();
  const [position, stays] = (await addPositions(2)) as [Person, Person];
  for (const one of [position, stays]) await world.editHris(one, fieldOf('costCentre'), 'CC-1');
  await exchange();
  world.removeEmployee(position);
  await exchange();
  await exchange();
  world.editPartner(position, fieldOf('hours'), 30);
  expect(await exchange()).toMatchObject({ state: 'done', counts: { read: 1 } });
  world.returnEmployee(position);
  expect(await exchange()).toMatchObject({ state: 'done', counts: { read: 2, updated: 1 } });
  expect(await valuesOf(position, 'hours')).toEqual([30, 30]);
});
