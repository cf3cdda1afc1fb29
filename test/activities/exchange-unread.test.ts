import { afterEach, expect, test } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import { readFailed } from '../../src/operator/failed.ts';
import { readHints } from '../../src/store/hints.ts';
import { createWorld, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';

// The HR system shows one record to nobody, for a while or for good.

let world: World;
afterEach(() => world.close());

test.each([
  [301, 'reject', 'HRIS_UNEXPECTED_REDIRECT'],
  [422, 'reject', 'INVALID_VALUE'],
  [403, 'reauthorize', 'HRIS_FORBIDDEN'],
  [500, 'retry', 'SERVER_ERROR'],
] as const)('a record that is answered %i is named, and stops nobody', async (status, action, code) => {
  world = await createWorld();
  const people = [await world.hire(), await world.hire(), await world.hire()];
  const [odd, ...others] = people as [(typeof people)[0], ...typeof people];
  await exchangeLater(world);
  for (const one of people) await world.editHris(one, fieldOf('costCentre'), `CC-${one.employeeId}`);
  const { employees } = world.hris;
  const { read } = employees;
  employees.read = async (id, signal) => {
    if (id !== odd.employeeId) return read(id, signal);
    throw new ConnectorError({ code, action, status, message: `It was answered ${status}.` });
  };
  world.allowMany();
  expect(await exchangeLater(world)).toMatchObject({ state: 'partial', counts: { read: 3, quarantined: 1 } });
  for (const one of others)
    expect(await bothValues(world, one, 'costCentre')).toEqual([`CC-${one.employeeId}`, `CC-${one.employeeId}`]);
  const store = world.store.connect(async () => undefined);
  expect(await readFailed(store, 'acme')).toEqual([
    {
      where: 'employees',
      what: odd.employeeId,
      since: expect.any(String),
      reason: expect.stringContaining(`shows others, but not this record (status ${status})`),
    },
  ]);
  // Who fails for a while is read again soon.
  expect((await readHints(store, 'acme', 'employees')).length).toBe(action === 'retry' ? 1 : 0);
  employees.read = read;
  expect(await exchangeLater(world)).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  expect(await readFailed(store, 'acme')).toEqual([]);
  expect(await bothValues(world, odd, 'costCentre')).toEqual([`CC-${odd.employeeId}`, `CC-${odd.employeeId}`]);
});

test('an HR system that shows nobody stops the run', async () => {
  world = await createWorld();
  for (let n = 0; n < 3; n += 1) await world.hire();
  await exchangeLater(world);
  const { employees } = world.hris;
  employees.read = async () => {
    throw new ConnectorError({ code: 'INVALID_VALUE', action: 'reject', status: 422, message: 'No.' });
  };
  expect(await exchangeLater(world)).toMatchObject({ state: 'refused', code: 'INVALID_VALUE' });
});
