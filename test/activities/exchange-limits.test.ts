import { afterEach, expect, test } from 'vitest';
import type { FieldValue } from '../../src/hire/hire.ts';
import { readStreamState, resumeStream } from '../../src/store/streams.ts';
import type { ExchangeStep } from '../../src/streams/stream-activities.ts';
import { type StreamName, streamNames } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { CALM } from '../convergence/calm.ts';
import { mappingText, type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import { type Asked, type Conditions, LIMITS } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { type Carried, createWorld, exchanged, exchangedPositions, type World } from '../convergence/world.ts';
import { alarmsOf } from './alarms-of.ts';

/** Two pages of pairs. */
const MANY = 120;
/** One page, and more than a few. */
const SOME = 50;
const A_MINUTE = 60_000;

let world: World;
let stream: StreamName;
let runs = 0;
afterEach(() => world.close());

const field = (name: string): TwoWayField => world.fields.find((one) => one.name === name) as TwoWayField;
const store = () => world.store.connect(async () => undefined);
const written = (): number => world.writes.hris + world.writes.partner;

/** In the order in which they are read. */
async function open(count: number, carried: Carried = exchanged, rules?: string): Promise<Person[]> {
  world = await createWorld(rules, carried);
  stream = carried.stream;
  const all: Person[] = [];
  for (let n = 0; n < count; n += 1) {
    const one = await world.hire();
    // As the partner shows it of whoever applies.
    if (carried === exchanged) await world.editHris(one, field('city'), 'Berlin');
    all.push(one);
  }
  return all.toSorted((one, other) => (one.employeeId < other.employeeId ? -1 : 1));
}

function exchange(asked: Asked = {}, conditions: Partial<Conditions> = {}): Promise<ExchangeStep> {
  world.clock.advance(2 * A_MINUTE);
  runs += 1;
  return world.exchange(`run ${runs}`, { ...CALM, ...conditions }, asked);
}

async function resume(): Promise<void> {
  await resumeStream(store(), { tenantId: 'acme', stream }, 'jo');
}

/** Both sides hold it, and agreed on it an hour and more ago. */
async function agreed(people: readonly Person[], name: string, value: FieldValue): Promise<void> {
  for (const one of people) {
    world.editPartner(one, field(name), value);
    await world.editHris(one, field(name), value);
  }
  expect(await exchange()).toMatchObject({ state: 'done', counts: { unchanged: people.length } });
  expect(written()).toBe(0);
  world.clock.advance(61 * A_MINUTE);
}

async function heldMessage(): Promise<string | undefined> {
  return (await readStreamState(store(), { tenantId: 'acme', stream }))?.held_message ?? undefined;
}

const editOn = {
  partner: async (one: Person, name: string, value: FieldValue) => world.editPartner(one, field(name), value),
  hris: (one: Person, name: string, value: FieldValue) => world.editHris(one, field(name), value),
} as const;

const KINDS = [exchanged, exchangedPositions] as const;

test.each(KINDS)(
  'when many $stream meet for the first time, a person is asked before anything is written',
  async (carried) => {
    const people = await open(MANY, carried);
    for (const one of people.slice(40)) await world.editHris(one, field('costCentre'), `CC-${one.employeeId}`);
    for (const one of people.slice(0, 30)) world.editPartner(one, field('hours'), 40);
    expect(await exchange()).toMatchObject({ state: 'refused', code: 'FIRST_MEETING' });
    expect(written()).toBe(0);
    expect(await heldMessage()).toContain(
      '30 of 120 pairs would get values in the HR system that were never compared before',
    );
    expect(await heldMessage()).toContain('(hours 30)');
    const streams = { ...Object.fromEntries(streamNames.map((name) => [name, {}])), [stream]: { every: 3_600_000 } };
    const alarms = await alarmsOf(store(), {
      tenant: 'acme',
      streams,
      policies: { reconcile: {} },
    } as unknown as Tenant);
    const cure = expect.stringContaining(`hirebridge resume acme ${stream}`) as string;
    expect(alarms).toEqual([{ subject: `stream ${stream}`, reason: 'FIRST_MEETING', message: cure }]);
    await resume();
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 110 } });
    expect(written()).toBe(80 + 30);
    // What was allowed is over, and what was written by it is no news.
    expect(await exchange()).toMatchObject({ state: 'done', counts: { read: MANY, unchanged: MANY } });
    expect(written()).toBe(110);
  },
);

test('a few pairs that meet for the first time are written without a question', async () => {
  const people = await open(20);
  for (const one of people) await world.editHris(one, field('costCentre'), 'CC-1');
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 20 } });
});

test('a field that a mapping adds is asked about where it would write to many', async () => {
  const others = twoWayFields.filter(({ name }) => name !== 'costCentre');
  const people = await open(MANY, exchanged, mappingText(others));
  for (const one of people.slice(0, 30)) await world.editHris(one, field('costCentre'), 'CC-1');
  expect(await exchange()).toMatchObject({ state: 'done' });
  await world.remap(mappingText(twoWayFields));
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'FIRST_MEETING' });
  expect(written()).toBe(0);
});

test.each([
  ['partner', 'city'],
  ['hris', 'costCentre'],
] as const)('values that vanish at the %s on every page are emptied on the other side on none', async (side, name) => {
  const people = await open(MANY);
  await agreed(people, name, 'Berlin');
  // Less than a quarter of each page.
  for (const [at, one] of people.entries()) if (at % 100 < 20) await editOn[side](one, name, null);
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
  expect(written()).toBe(0);
  expect(await heldMessage()).toContain('40 of 120 pairs would lose values');
  await resume();
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 40 } });
  expect(written()).toBe(40);
});

test.each([
  ['partner', 'city'],
  ['hris', 'costCentre'],
] as const)('where all are edited at the %s, a person is asked before the first is written', async (side, name) => {
  const people = await open(MANY);
  await agreed(people, name, 'Berlin');
  for (const one of people) await editOn[side](one, name, `of ${one.employeeId}`);
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  expect(written()).toBe(0);
  await resume();
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: MANY } });
  expect(written()).toBe(MANY);
});

test('what one page and the next would write is counted together; a share that is usual is written', async () => {
  const people = await open(MANY);
  await agreed(people, 'city', 'Berlin');
  for (const [at, one] of people.entries()) if (at % 5 === 0) world.editPartner(one, field('city'), 'Bonn');
  expect(await exchange()).toMatchObject({ state: 'done', counts: { read: MANY, updated: 24 } });
  world.clock.advance(61 * A_MINUTE);
  for (const [at, one] of people.entries()) if (at % 4 === 1) world.editPartner(one, field('city'), 'Rome');
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  expect(written()).toBe(24);
});

test('a field that few have, and that most of them lose, has vanished', async () => {
  const people = await open(SOME);
  const few = people.slice(30, 42);
  for (const one of few) {
    world.editPartner(one, field('hours'), 40);
    await world.editHris(one, field('hours'), 40);
  }
  await exchange();
  for (const one of few.slice(1)) world.editPartner(one, field('hours'), null);
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
  expect(written()).toBe(0);
});

test('hints that come one by one are counted over an hour', async () => {
  const people = await open(SOME);
  await agreed(people, 'city', 'Berlin');
  const trickle = async (one: Person): Promise<ExchangeStep> => {
    world.editPartner(one, field('city'), null);
    world.hint(one.candidateId);
    world.clock.advance(LIMITS.partnerLagMs);
    runs += 1;
    return world.exchange(`run ${runs}`, CALM, { mode: 'incremental' });
  };
  for (const one of people.slice(0, 10)) expect(await trickle(one)).toMatchObject({ state: 'done' });
  expect(await trickle(people[10] as Person)).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
  expect(written()).toBe(10);
  await resume();
  expect(await exchange()).toMatchObject({ state: 'done' });
  expect(written()).toBe(11);
  expect(await trickle(people[11] as Person)).toMatchObject({ state: 'done' });
});

test('over more than an hour the same hints are many days and no mass', async () => {
  const people = await open(40);
  await agreed(people, 'city', 'Berlin');
  for (const one of people.slice(0, 30)) {
    world.editPartner(one, field('city'), null);
    world.hint(one.candidateId);
    world.clock.advance(10 * A_MINUTE);
    runs += 1;
    expect(await world.exchange(`run ${runs}`, CALM, { mode: 'incremental' })).toMatchObject({ state: 'done' });
  }
  expect(written()).toBe(30);
});

test('many hints of one run are looked at together before the first is written', async () => {
  const people = await open(SOME);
  await agreed(people, 'city', 'Berlin');
  for (const [at, one] of people.entries()) {
    if (at % 2 === 0) world.editPartner(one, field('city'), 'Bonn');
    world.hint(one.candidateId);
  }
  expect(await exchange({ mode: 'incremental' })).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  expect(written()).toBe(0);
});

test('a run that dies while it looks ahead goes on looking, and writes nothing before it has', async () => {
  const people = await open(MANY);
  await agreed(people, 'city', 'Berlin');
  for (const one of people) world.editPartner(one, field('city'), 'Bonn');
  let calls = 0;
  const refuse = { mishap: () => ((calls += 1) > 3 ? ('lost-before' as const) : undefined) };
  await expect(world.exchange('dies', { ...CALM, ...refuse })).rejects.toThrow('ECONNRESET');
  expect(await world.exchange('dies', CALM)).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  expect(written()).toBe(0);
});

test('two limits that are exceeded are asked about one after the other, and both answers count', async () => {
  const people = await open(SOME);
  await agreed(people, 'city', 'Berlin');
  for (const [at, one] of people.entries()) world.editPartner(one, field('city'), at % 2 === 0 ? null : 'Bonn');
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
  await resume();
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  expect(written()).toBe(0);
  await resume();
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: SOME } });
});

test('who allows many changes has not allowed that values are emptied later', async () => {
  const people = await open(SOME);
  await agreed(people, 'city', 'Berlin');
  for (const one of people.slice(0, 8)) world.editPartner(one, field('city'), null);
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 8 } });
  for (const one of people.slice(8, 38)) world.editPartner(one, field('city'), 'Bonn');
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_CHANGE' });
  await resume();
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 30 } });
  for (const one of people.slice(38, 42)) world.editPartner(one, field('city'), null);
  expect(await exchange()).toMatchObject({ state: 'refused', code: 'MASS_EMPTIED' });
  expect(written()).toBe(38);
});

test('one person who is edited again and again is no mass', async () => {
  const [person] = await open(12);
  for (let n = 0; n < 22; n += 1) {
    world.editPartner(person as Person, field('city'), n % 2 === 0 ? null : 'Bonn');
    expect(await exchange({}, {})).toMatchObject({ state: 'done' });
  }
});
