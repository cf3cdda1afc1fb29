import { afterEach, expect, test } from 'vitest';
import type { Side } from '../../src/hire/hire.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { CALM } from '../convergence/calm.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';
import { sqliteHr } from './raw-hr.ts';

// A write whose answer was lost stays in doubt until its field is read again: only then it is known whether what that
// side shows is our own value or a person's.

let world: World;
afterEach(() => world.close());

const city = fieldOf('city');
const costCentre = fieldOf('costCentre');
const OTHERS = '  costCentre: { from: "candidate.customFields[Cost centre]", direction: both, owner: hris }\n';
const rulesOf = (keeps: Side): string =>
  `fields:\n${OTHERS}  city: { from: candidate.city, direction: both, owner: either, conflict: ${keeps} }\n`;

/** The answer to the next write is lost on its way back; the value has arrived. */
const lost: Record<Side, Partial<Conditions>> = {
  hris: { updateMishap: () => 'lost-answer' },
  partner: { mishap: (method) => (method === 'PATCH' ? 'lost-answer' : undefined) },
};

async function edit(person: Person, side: Side, value: string): Promise<void> {
  if (side === 'partner') world.editPartner(person, city, value);
  else await world.editHris(person, city, value);
}

/** Both sides hold Berlin; then one is edited, and whether that reached the other side is unknown. */
async function beginInDoubt(to: Side): Promise<{ person: Person; from: Side; run: (sql: string) => Promise<void> }> {
  const hr = await sqliteHr();
  world = await createWorld(rulesOf(to), { ...exchanged, fields: [city, costCentre] }, { url: hr.url });
  const person = await world.hire();
  world.editPartner(person, city, 'Berlin');
  await exchangeLater(world);
  await exchangeLater(world);
  const from = to === 'hris' ? 'partner' : 'hris';
  await edit(person, from, 'Bonn');
  await exchangeLater(world, lost[to]);
  expect(await bothValues(world, person, 'city')).toEqual(['Bonn', 'Bonn']);
  return { person, from, run: (sql) => hr.run(sql) };
}

const SIDES: Side[] = ['hris', 'partner'];

test.each(SIDES)('a value in doubt at the %s side is no edit once its rule, away for a while, is back', async (to) => {
  const { person, from } = await beginInDoubt(to);
  await world.remap(`fields:\n${OTHERS}`);
  await world.editHris(person, costCentre, 'CC-7');
  await exchangeLater(world);
  await exchangeLater(world);
  await edit(person, from, 'Rom');
  await world.remap(rulesOf(to));
  await exchangeLater(world);
  expect(await bothValues(world, person, 'city')).toEqual(['Rom', 'Rom']);
});

test.each(SIDES)('a value in doubt at the %s side is no edit after its field could not be read', async (to) => {
  const { person, from, run } = await beginInDoubt(to);
  await run(`update employees set city = city || char(65533)`);
  await exchangeLater(world);
  await run(`update employees set city = replace(city, char(65533), '')`);
  await edit(person, from, 'Rom');
  await exchangeLater(world);
  expect(await bothValues(world, person, 'city')).toEqual(['Rom', 'Rom']);
});

test('a write that was lost while its rule was away is sent once the rule is back', async () => {
  const { person } = await beginInDoubt('hris');
  await world.editHris(person, city, 'Berlin');
  await world.remap(`fields:\n${OTHERS}`);
  await exchangeLater(world);
  await world.remap(rulesOf('partner'));
  await exchangeLater(world);
  expect(await bothValues(world, person, 'city')).toEqual(['Bonn', 'Bonn']);
});

/** Both sides are edited, and the hiring platform's value stays. */
async function beginConflict(): Promise<Person> {
  world = await createWorld(rulesOf('partner'), { ...exchanged, fields: [city, costCentre] });
  const person = await world.hire();
  world.editPartner(person, city, 'Berlin');
  await exchangeLater(world);
  await exchangeLater(world);
  world.editPartner(person, city, 'Bonn');
  await world.editHris(person, city, 'Rom');
  return person;
}

async function overwritten(): Promise<unknown[]> {
  const store = world.store.connect(async () => undefined);
  const listed = await listConflicts(store, { tenantId: 'acme', all: true });
  return listed.filter(({ kind }) => kind === 'conflict').map(({ hris_value }) => hris_value);
}

test.each(['hris.update/before', 'hris.update/after', 'lost-answer'])(
  "a person's value that the rule overwrites is listed although the run ends in doubt: %s",
  async (point) => {
    const person = await beginConflict();
    const death = Promise.withResolvers<void>();
    const pause: Conditions['pause'] = async (at) => {
      if (at !== point) return undefined;
      death.resolve();
      return new Promise<never>(() => undefined);
    };
    const conditions = point === 'lost-answer' ? lost.hris : { pause };
    await Promise.race([exchangeLater(world, { ...CALM, ...conditions }), death.promise]);
    await exchangeLater(world);
    expect(await bothValues(world, person, 'city')).toEqual(['Bonn', 'Bonn']);
    expect(await overwritten()).toContain('"Rom"');
  },
);

test('a value that somebody edited before the write reached it is not listed as overwritten', async () => {
  const person = await beginConflict();
  let isEdited = false;
  const pause: Conditions['pause'] = async (at) => {
    if (at !== 'hris.update/before' || isEdited) return;
    isEdited = true;
    await world.editHris(person, city, 'Oslo');
  };
  await exchangeLater(world, { pause });
  expect(await bothValues(world, person, 'city')).toEqual(['Bonn', 'Oslo']);
  expect(await overwritten()).toEqual([]);
  await exchangeLater(world);
  expect(await bothValues(world, person, 'city')).toEqual(['Bonn', 'Bonn']);
  expect(await overwritten()).toEqual(['"Oslo"']);
});
