import { afterEach, expect, test } from 'vitest';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { CALM } from '../convergence/calm.ts';
import { mappingText } from '../convergence/fields.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { fieldOf } from './in-exchange.ts';
import { sqliteHr } from './raw-hr.ts';

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
  ['infinity', 'hours', '9e999'],
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
  ['the 30th of February', 'probationEnd', `'2026-02-30'`],
  ['a day that never ends', 'probationEnd', `'infinity'`],
  ['bytes for a text', 'notes', `x'00ff'`],
  ['a zero character', 'notes', `'a' || char(0) || 'b'`],
  ['half a character', 'notes', `cast(x'eda080' as text)`],
  ['2 MB of text', 'notes', `printf('%.*c', 2000000, 'x')`],
  ['no option at all', 'level', `'Emperor'`],
];

/** Values of the partner, as its database holds them. */
const stored: [what: string, field: string, value: string][] = [
  ['NaN at the partner', 'hours', '"NaN"'],
  ['1e999 at the partner', 'hours', '"1e999"'],
  ['a number in words at the partner', 'hours', '"many"'],
  ['a list that is none at the partner', 'shifts', '"Early, Late"'],
  ['an object at the partner', 'shifts', '"{\\"a\\":1}"'],
  ['deep JSON at the partner', 'shifts', JSON.stringify(deep(10_000))],
  ['the year 10000 at the partner', 'probationEnd', '"10000-01-01"'],
  ['no day at the partner', 'probationEnd', '"soon"'],
  ['a zero character at the partner', 'notes', '"a\\u0000b"'],
  ['half a character at the partner', 'notes', '"a\\ud800b"'],
];

test('each of 34 poisonous values sets one field of one pair apart by name, and everything else flows', async () => {
  const hr = await sqliteHr();
  world = await createWorld(mappingText(), exchanged, { url: hr.url });
  const expected = new Map<string, string>();
  const people: Person[] = [];
  const poisoned = async (what: string, field: string): Promise<Person> => {
    const person = await world.hire();
    people.push(person);
    expected.set(person.employeeId, `${what}: ${field}`);
    await world.editHris(person, fieldOf('costCentre'), `CC-${person.employeeId}`);
    world.editPartner(person, fieldOf('city'), `City ${person.employeeId}`);
    return person;
  };
  for (const [what, field, cell] of cells) {
    const { employeeId } = await poisoned(what, field);
    await hr.run(`update employees set ${fieldOf(field).column} = ${cell} where id = ${employeeId}`);
  }
  const valid = { hours: 1, shifts: ['Early'], probationEnd: '2026-03-01', notes: 'x' };
  for (const [what, field, value] of stored) {
    const person = await poisoned(what, field);
    world.editPartner(person, fieldOf(field), valid[field as keyof typeof valid]);
    const id = world.ids.get(field) ?? '';
    world.state.run(
      'update custom_field_values set value = ? where custom_field_id = ? and entity_id = ?',
      value,
      id,
      person.candidateId,
    );
  }
  world.clock.advance(120_000);
  expect(await world.exchange('poisoned', CALM)).toMatchObject({
    state: 'partial',
    counts: { read: people.length, quarantined: people.length },
  });
  const store = world.store.connect(async () => undefined);
  const open = await listConflicts(store, { tenantId: 'acme', all: false });
  const said = Map.groupBy(open, ({ pair_id }) => pair_id);
  const what = (id: string): string => String(expected.get(id)).split(': ')[0] ?? '';
  const found = new Map(
    [...expected.keys()].map((id) => [
      id,
      `${what(id)}: ${(said.get(id) ?? []).map(({ field, kind }) => (kind === 'quarantined' ? field : kind)).join()}`,
    ]),
  );
  expect(found).toEqual(expected);
  expect(open.every(({ code }) => code !== null && /^[A-Z_]+$/.test(code))).toBe(true);
  for (const { employeeId, candidateId } of people) {
    expect(await hr.cell(`select city from employees where id = ${employeeId}`)).toBe(`City ${employeeId}`);
    const values = world.call('GET', `/custom-field-values?entityType=candidate&entityId=${candidateId}`);
    const shown = (values as unknown as { customFieldId: string; value: unknown }[]).find(
      ({ customFieldId }) => customFieldId === world.ids.get('costCentre'),
    );
    expect(shown?.value).toBe(`CC-${employeeId}`);
  }
});
