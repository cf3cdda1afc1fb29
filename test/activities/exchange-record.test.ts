import { afterEach, expect, test } from 'vitest';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { mappingText } from '../convergence/fields.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';
import { sqliteHr } from './raw-hr.ts';

// An id of the HR system is somebody else after a restore there, or with the credentials of another account.

let world: World;
afterEach(() => world.close());

test.each([
  ['no reference', 'null'],
  ["another customer's reference", "'99:5001'"],
])('a record that became a stranger with %s is neither written to nor read from', async (_what, reference) => {
  const hr = await sqliteHr();
  const rules = mappingText().replace(/(city: .*)owner: either, conflict: \w+/, '$1owner: partner');
  world = await createWorld(rules, exchanged, { url: hr.url });
  const person = await world.hire();
  const own = `'1:${person.candidateId}'`;
  await hr.run(`update employees set external_ref = ${own} where id = ${person.employeeId}`);
  world.editPartner(person, fieldOf('city'), 'Graz');
  await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  await exchangeLater(world);
  expect(await bothValues(world, person, 'city')).toEqual(['Graz', 'Graz']);
  await hr.run(
    `update employees set external_ref = ${reference}, city = 'Oslo', cost_centre = 'SECRET' ` +
      `where id = ${person.employeeId}`,
  );
  world.editPartner(person, fieldOf('notes'), 'of ours');
  const before = { ...world.writes };
  for (const _run of [1, 2]) expect(await exchangeLater(world)).toMatchObject({ counts: { quarantined: 1 } });
  expect(world.writes).toEqual(before);
  expect(await bothValues(world, person, 'city')).toEqual(['Graz', 'Oslo']);
  expect(await bothValues(world, person, 'costCentre')).toEqual(['CC-1', 'SECRET']);
  const store = world.store.connect(async () => undefined);
  const open = await listConflicts(store, { tenantId: 'acme', all: false });
  expect(new Set(open.map(({ code }) => code))).toEqual(new Set(['RECORD_OF_ANOTHER']));
  // Whoever puts the record back has the exchange go on.
  await hr.run(`update employees set external_ref = ${own}, cost_centre = 'CC-2' where id = ${person.employeeId}`);
  await exchangeLater(world);
  expect(await bothValues(world, person, 'costCentre')).toEqual(['CC-2', 'CC-2']);
  expect(await bothValues(world, person, 'notes')).toEqual(['of ours', 'of ours']);
  expect(await bothValues(world, person, 'city')).toEqual(['Graz', 'Graz']);
});

test.each([
  ['no reference', 'null'],
  ["another customer's reference", "'99:5001'"],
])('a record that became a stranger with %s before the first exchange is not exchanged', async (_what, reference) => {
  const hr = await sqliteHr();
  world = await createWorld(mappingText(), exchanged, { url: hr.url });
  const person = await world.hire();
  await hr.run(
    `update employees set external_ref = ${reference}, cost_centre = 'SECRET' where id = ${person.employeeId}`,
  );
  world.editPartner(person, fieldOf('city'), 'Graz');
  const before = { ...world.writes };
  for (const _run of [1, 2]) expect(await exchangeLater(world)).toMatchObject({ counts: { quarantined: 1 } });
  expect(world.writes).toEqual(before);
  // Whoever puts the record back has the exchange begin.
  await hr.run(`update employees set external_ref = '1:${person.candidateId}' where id = ${person.employeeId}`);
  expect(await exchangeLater(world)).toMatchObject({ counts: { quarantined: 0 } });
  expect(world.writes).not.toEqual(before);
});

test('an employee that was there before the hire needs no reference', async () => {
  const hr = await sqliteHr();
  world = await createWorld(mappingText(), exchanged, { url: hr.url });
  const person = await world.hire();
  world.store.all(`update person_keys set how = 'linked' where kind = 'employee'`);
  await hr.run(`update employees set external_ref = null where id = ${person.employeeId}`);
  expect(await exchangeLater(world)).toMatchObject({ counts: { quarantined: 0 } });
});
