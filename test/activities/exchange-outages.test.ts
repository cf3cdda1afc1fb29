import { afterEach, expect, test } from 'vitest';
import { readStreamState, resumeStream } from '../../src/store/streams.ts';
import { type StreamName, streamNames } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { CALM } from '../convergence/calm.ts';
import { type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import { type Asked, LIMITS } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, exchangedPositions, type World } from '../convergence/world.ts';
import { alarmsOf } from './alarms-of.ts';

/** More than any share of them may be missing without a question. */
const MANY = 24;
const HOURS = twoWayFields.find(({ name }) => name === 'hours') as TwoWayField;

let world: World;
let runs = 0;
afterEach(() => world.close());

const store = () => world.store.connect(async () => undefined);

async function exchange(asked: Asked = {}) {
  world.clock.advance(120_000);
  runs += 1;
  return world.exchange(`run ${runs}`, CALM, asked);
}

async function add(count: number): Promise<Person[]> {
  const made: Person[] = [];
  for (let n = 0; n < count; n += 1) made.push(await world.hire());
  return made;
}

/** After a round of chores. */
async function alarms(stream: StreamName): Promise<unknown[]> {
  const streams = { ...Object.fromEntries(streamNames.map((name) => [name, {}])), [stream]: { every: 3_600_000 } };
  return alarmsOf(store(), { tenant: 'acme', streams, policies: { reconcile: {} } } as unknown as Tenant);
}

test.each([exchanged, exchangedPositions])(
  'two outages of the HR system end the exchange of no $stream: the first holds it, alarms and names the cure',
  async (carried) => {
    world = await createWorld(undefined, carried);
    const { stream } = carried;
    const key = { tenantId: 'acme', stream };
    const all = await add(MANY);
    world.allowMany();
    await exchange();
    expect(await alarms(stream)).toEqual([]);
    all.forEach(world.removeEmployee);
    expect(await exchange()).toEqual(expect.objectContaining({ state: 'refused', code: 'MASS_DELETE' }));
    expect(await exchange()).toEqual(expect.objectContaining({ state: 'refused', code: 'MASS_DELETE' }));
    const cure = expect.stringContaining(`hirebridge resume acme ${stream}`) as string;
    expect(await alarms(stream)).toEqual([{ subject: `stream ${stream}`, reason: 'MASS_DELETE', message: cure }]);
    all.forEach(world.returnEmployee);
    await resumeStream(store(), key, 'jo');
    expect(await exchange()).toMatchObject({ state: 'done', counts: { read: MANY, unchanged: MANY } });
    expect(await readStreamState(store(), key)).toMatchObject({ held_code: null, allowed_code: null });
    all.forEach(world.removeEmployee);
    expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  },
);

test('candidates who vanish in masses hold the exchange; allowed by a person, they are left out', async () => {
  world = await createWorld();
  const all = await add(MANY);
  all.forEach(world.removeCandidate);
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_DELETE' });
  await resumeStream(store(), { tenantId: 'acme', stream: 'employees' }, 'jo');
  expect(await exchange()).toMatchObject({ state: 'partial', counts: { skipped: MANY } });
});

test('a list without any job holds the exchange of positions, however few are linked', async () => {
  world = await createWorld(undefined, exchangedPositions);
  const all = await add(2);
  await exchange();
  all.forEach(world.removeCandidate);
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'ZERO_ROWS' });
});

test('employees that were gone come back with a run by hand', async () => {
  world = await createWorld(undefined, exchanged);
  const [gone] = await add(3);
  world.removeEmployee(gone as Person);
  await exchange();
  await exchange();
  // Whoever is still gone is not left out each time anew.
  expect(await exchange({ full: true })).toMatchObject({ state: 'done', counts: { unchanged: 2, skipped: 0 } });
  world.returnEmployee(gone as Person);
  expect(await exchange()).toMatchObject({ counts: { read: 2 } });
  expect(await exchange({ full: true })).toMatchObject({ state: 'done', counts: { read: 3 } });
  expect(await exchange()).toMatchObject({ counts: { read: 3 } });
});

test.each([exchanged, exchangedPositions])(
  'values that vanish from most $stream at once are not emptied on the other side',
  async (carried) => {
    world = await createWorld(undefined, carried);
    const all = await add(12);
    for (const one of all) world.editPartner(one, HOURS, 40);
    await exchange();
    for (const one of all) world.editPartner(one, HOURS, null);
    expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
    expect((await world.read(all[0] as Person))?.hris['hours']).toBe(40);
  },
);

test('a write in doubt is looked up once its time is over, without waiting for the next scheduled run', async () => {
  world = await createWorld();
  const [person] = (await add(2)) as [Person];
  expect(await exchange()).not.toHaveProperty('againInMs');
  await world.editHris(person, HOURS, 31);
  world.clock.advance(120_000);
  const mishap: typeof CALM.mishap = (_method, path) => (path.endsWith('/bulk') ? 'lost-answer' : undefined);
  const lost = await world.exchange('lost', { ...CALM, mishap });
  expect(lost).toMatchObject({ state: 'partial', counts: { skipped: 1 } });
  expect(lost.againInMs).toBe(LIMITS.giveUpMs + LIMITS.partnerLagMs);
  world.clock.advance(Number(lost.againInMs) + 1);
  const next = await world.exchange('lost/1', CALM, { mode: 'incremental' });
  expect(next).toMatchObject({ state: 'done', counts: { read: 1, skipped: 0 } });
  expect(next).not.toHaveProperty('againInMs');
});
