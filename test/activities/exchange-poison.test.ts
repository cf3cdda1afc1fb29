import { afterEach, expect, test } from 'vitest';
import type { FieldValue } from '../../src/hire/hire.ts';
import { readFailed } from '../../src/operator/failed.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { mappingText } from '../convergence/fields.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { exchangeLater, fieldOf } from './in-exchange.ts';
import { type RawHr, sqliteHr } from './raw-hr.ts';

// One person each holds one value that cannot be exchanged, and edits of both sides beside it that can.

let world: World;
afterEach(() => world.close());

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Cells of the HR system, as SQL. */
const cells: [what: string, field: string, cell: string][] = [
  ['a list that is none', 'shifts', `'Early, Late'`],
  ['an object for a list', 'shifts', `'{"a":1}'`],
  ['a list in a list', 'shifts', `'[["Early"]]'`],
  ['a list that is cut', 'shifts', `'["Early"'`],
  ['JSON 100,000 levels deep', 'shifts', `'${deep(100_000)}'`],
  ['no option', 'shifts', `'["Tuesday"]'`],
  ['a list of 1 MB', 'shifts', `'["Early"${',"Night and day"'.repeat(65_000)}]'`],
  ['nothing in a list', 'shifts', `'["Early",null]'`],
  ['an object that is a prototype', 'shifts', `'{"__proto__":["Early"]}'`],
  ['1e400 in a list', 'shifts', `'[1e400]'`],
  ['bytes for a list', 'shifts', `x'5b5d'`],
  ['infinity', 'hours', '9e999'],
  ['1e400 as text', 'hours', `'1e400'`],
  ['2^63', 'hours', '9223372036854775808'],
  ['the smallest number', 'hours', '5e-324'],
  ['a number of another base', 'hours', `'0x10'`],
  ['digits of another script', 'hours', `'١٢'`],
  ['minus infinity', 'hours', '-9e999'],
  ['NaN as text', 'hours', `'NaN'`],
  ['a word for a number', 'hours', `'many'`],
  ['bytes for a number', 'hours', `x'00ff'`],
  ['2^53 + 1', 'hours', '9007199254740993'],
  ['2^63 - 1', 'hours', '9223372036854775807'],
  ['a comma in a number', 'hours', `'1,5'`],
  ['neither true nor false', 'badge', '2'],
  ['perhaps', 'badge', `'perhaps'`],
  ['the year 10000', 'probationEnd', `'10000-01-01'`],
  ['the day zero', 'probationEnd', `'0000-00-00'`],
  ['a year before the first', 'probationEnd', `'-0001-01-01'`],
  ['seconds for a day', 'probationEnd', '1767603853'],
  ['bytes for a day', 'probationEnd', `x'00'`],
  ['the 30th of February', 'probationEnd', `'2026-02-30'`],
  ['a day that never ends', 'probationEnd', `'infinity'`],
  ['bytes for a text', 'notes', `x'00ff'`],
  ['a NUL character', 'notes', `'a' || char(0) || 'b'`],
  ['nothing but a NUL character', 'notes', 'char(0)'],
  ['half a character', 'notes', `cast(x'eda080' as text)`],
  ['2 MB of text', 'notes', `printf('%.*c', 2000000, 'x')`],
  ['no option at all', 'level', `'Emperor'`],
  ['an option behind a mark of direction', 'level', `char(8238) || 'Senior'`],
  ['an option and a line break', 'level', `'Senior' || char(10)`],
  ['bytes for an option', 'level', `x'53656e696f72'`],
];

/** Values of the partner, as its database holds them. */
const stored: [what: string, field: string, value: string][] = [
  ['NaN at the partner', 'hours', '"NaN"'],
  ['infinity at the partner', 'hours', '"Infinity"'],
  ['an object for a number at the partner', 'hours', '{"a":1}'],
  ['1e999 at the partner', 'hours', '"1e999"'],
  ['a number in words at the partner', 'hours', '"many"'],
  ['a list that is none at the partner', 'shifts', '"Early, Late"'],
  ['an object at the partner', 'shifts', '"{\\"a\\":1}"'],
  ['deep JSON at the partner', 'shifts', JSON.stringify(deep(10_000))],
  ['the year 10000 at the partner', 'probationEnd', '"10000-01-01"'],
  ['the day zero at the partner', 'probationEnd', '"0000-00-00"'],
  ['no day at the partner', 'probationEnd', '"soon"'],
  ['a NUL character at the partner', 'notes', '"a\\u0000b"'],
  ['half a character at the partner', 'notes', '"a\\ud800b"'],
  ['an object for a text at the partner', 'notes', '{"a":1}'],
  ['a list for a text at the partner', 'notes', '["a"]'],
  ['lists in lists for a text at the partner', 'notes', deep(50)],
  ['2 MB of text at the partner', 'notes', JSON.stringify('x'.repeat(2_000_000))],
  ['what stood for a broken letter at the partner', 'notes', '"a\ufffdb"'],
  ['an object for an option at the partner', 'level', '{"a":1}'],
  ['nothing in a list at the partner', 'shifts', '["Early",null]'],
  ['a list in a list at the partner', 'shifts', '[["Early"]]'],
];

/** What both sides hold of a field before it is poisoned. */
const VALID: Readonly<Record<string, FieldValue>> = {
  hours: 1,
  shifts: ['Early'],
  probationEnd: '2026-03-01',
  notes: 'x',
  level: 'Junior',
  badge: true,
};

test(`each of ${cells.length + stored.length} poisonous values sets one field of one pair apart by name`, async () => {
  const hr = await sqliteHr();
  world = await createWorld(mappingText(), exchanged, { url: hr.url });
  const people: Array<{ person: Person; what: string; field: string; poison: (of: Person) => unknown }> = [];
  const add = async (what: string, field: string, poison: (of: Person) => unknown): Promise<void> => {
    const person = await world.hire();
    people.push({ person, what, field, poison });
    if (fieldOf(field).owner === 'hris') await world.editHris(person, fieldOf(field), VALID[field] ?? null);
    else world.editPartner(person, fieldOf(field), VALID[field] ?? null);
  };
  for (const [what, field, cell] of cells)
    await add(what, field, ({ employeeId }) =>
      hr.run(`update employees set ${fieldOf(field).column} = ${cell} where id = ${employeeId}`),
    );
  for (const [what, field, value] of stored)
    await add(what, field, ({ candidateId }) =>
      world.state.run(
        'update custom_field_values set value = ? where custom_field_id = ? and entity_id = ?',
        value,
        world.ids.get(field) ?? '',
        candidateId,
      ),
    );
  world.allowMany();
  expect(await exchangeLater(world)).toMatchObject({ state: 'done', counts: { read: people.length } });
  await exchangeLater(world);
  for (const { person, poison } of people) {
    await world.editHris(person, fieldOf('costCentre'), `CC-${person.employeeId}`);
    world.editPartner(person, fieldOf('city'), `City ${person.employeeId}`);
    await poison(person);
  }
  world.allowMany();
  const written = await held(people.map(({ person }) => person));
  expect(await exchangeLater(world)).toMatchObject({
    state: 'partial',
    counts: { read: people.length, quarantined: people.length },
  });
  const store = world.store.connect(async () => undefined);
  const open = await listConflicts(store, { tenantId: 'acme', all: false });
  const apart = Map.groupBy(open, ({ pair_id }) => pair_id);
  const found = people.map(({ person, what }) => {
    const rows = (apart.get(person.employeeId) ?? []).map(({ field, kind }) => (kind === 'quarantined' ? field : kind));
    return `${what}: ${rows.join()}`;
  });
  expect(found).toEqual(people.map(({ what, field }) => `${what}: ${field}`));
  // Whichever side was poisoned: what the other one holds stays.
  expect(await held(people.map(({ person }) => person))).toEqual(written);
  for (const { person } of people)
    expect(await bothCities(hr, person)).toEqual([`City ${person.employeeId}`, `CC-${person.employeeId}`]);
  // Reasons are words, and no value is among them.
  for (const { reason } of await readFailed(store, 'acme'))
    expect(reason).toMatch(/^[a-zA-Z]+: [a-zA-Z ,]{12,}; [A-Z_]+; each is listed by hirebridge conflicts$/);
  const before = { ...world.writes };
  await exchangeLater(world);
  expect(world.writes).toEqual(before);

  /** The fields that were poisoned, as either side holds them. */
  async function held(all: readonly Person[]): Promise<unknown[]> {
    const rows = all.map(async ({ employeeId, candidateId }, at) => {
      const { name, column } = fieldOf(people[at]?.field ?? '');
      const value = world.state.all(
        'select value from custom_field_values where custom_field_id = ? and entity_id = ?',
        world.ids.get(name) ?? '',
        candidateId,
      );
      return [value, await hr.cell(`select hex(${column}) from employees where id = ${employeeId}`)];
    });
    return Promise.all(rows);
  }
});

/** What the partner's edit came to in the HR system, and the other way. */
async function bothCities(hr: RawHr, { employeeId, candidateId }: Person): Promise<unknown[]> {
  const [costCentre] = world.state.all<{ value: string }>(
    'select value from custom_field_values where custom_field_id = ? and entity_id = ?',
    world.ids.get('costCentre') ?? '',
    candidateId,
  );
  const city = await hr.cell(`select city from employees where id = ${employeeId}`);
  return [city, JSON.parse(costCentre?.value ?? 'null')];
}

/** Odd, and a value of its type all the same. */
const odd: [what: string, field: string, cell: string, shown: FieldValue][] = [
  ['negative zero', 'hours', '-0.0', 0],
  ['zero with a sign', 'hours', `'-0'`, 0],
  ['entries that stand twice', 'shifts', `'["Early","Early","Late"]'`, ['Early', 'Early', 'Late']],
  ['marks of direction', 'notes', `'a' || char(8238) || 'b' || char(8236)|| 'c'`, 'a\u202eb\u202cc'],
  ['a number for a text', 'notes', '42', '42'],
  ['a formula', 'notes', `'=cmd|calc'`, '=cmd|calc'],
  ['a byte for yes', 'badge', `x'01'`, true],
];

test('odd values arrive as they are, once', async () => {
  const hr = await sqliteHr();
  world = await createWorld(mappingText(), exchanged, { url: hr.url });
  const people: Person[] = [];
  for (const [, field, cell] of odd) {
    const person = await world.hire();
    people.push(person);
    await hr.run(`update employees set ${fieldOf(field).column} = ${cell} where id = ${person.employeeId}`);
  }
  expect(await exchangeLater(world)).toMatchObject({ state: 'done', counts: { updated: odd.length } });
  const before = { ...world.writes };
  expect(await exchangeLater(world)).toMatchObject({ state: 'done', counts: { unchanged: odd.length } });
  expect(world.writes).toEqual(before);
  for (const [at, [what, field, , shown]] of odd.entries()) {
    const read = await world.read(people[at] as Person);
    expect([what, read?.partner[field]]).toEqual([what, shown]);
  }
});
