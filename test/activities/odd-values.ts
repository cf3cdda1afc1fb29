import { afterEach, describe, expect, test } from 'vitest';
import type { FieldValue } from '../../src/hire/hire.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { mappingText } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';
import type { RawHr } from './raw-hr.ts';

let world: World;
let hr: RawHr;

const exchange = (conditions: Partial<Conditions> = {}) => exchangeLater(world, conditions);
const valuesOf = (person: Person, name: string) => bothValues(world, person, name);

/** What is set apart, by the employee's id. */
async function setApart(): Promise<Map<string, string[]>> {
  const store = world.store.connect(async () => undefined);
  const open = await listConflicts(store, { tenantId: 'acme', all: false });
  const apart = open.filter(({ kind }) => kind === 'quarantined');
  const said = Map.groupBy(apart, (one) => one.pair_id);
  return new Map([...said].map(([id, rows]) => [id, rows.map(({ field, code }) => `${field} ${code}`)]));
}

/** Lists in a column of its own type, as customers have them. */
const AS_JSON: Readonly<Record<Database, readonly string[]>> = {
  SQLite: [],
  PostgreSQL: [
    'drop view if exists employees_directory',
    'alter table employees alter column shifts type jsonb using shifts::jsonb',
  ],
  MariaDB: ['alter table employees modify shifts json'],
};

/** A column of the demonstration's table holds fourteen digits there. */
const WIDE_NUMBERS: Readonly<Record<Database, readonly string[]>> = {
  SQLite: [],
  PostgreSQL: [],
  MariaDB: ['alter table employees modify hours decimal(30, 6)'],
};

type Database = 'SQLite' | 'PostgreSQL' | 'MariaDB';

const of = ({ employeeId }: Person): string => `where id = ${employeeId}`;

/** A value that one side cannot show, or the other cannot hold, sets one field of one pair apart, with its reason. */
export function describeOddValues(kind: Database, open: () => Promise<RawHr>): void {
  describe(`odd values in ${kind}`, () => {
    const begin: Begin = async (rules = mappingText()) => {
      hr = await open();
      world = await createWorld(rules, exchanged, { url: hr.url });
      await world.hris.probe(AbortSignal.timeout(120_000));
      await hr.run(...WIDE_NUMBERS[kind]);
    };
    afterEach(() => world.close());
    testLists(begin);
    testNumbers(kind, begin);
    testEditsMeanwhile(kind, begin);
  });
}

type Begin = (rules?: string) => Promise<void>;

function testLists(begin: Begin): void {
  test('an empty list cell is no value, and one that is no list stops nobody else', async () => {
    await begin();
    const [empty, odd, other] = [await world.hire(), await world.hire(), await world.hire()];
    await hr.run(
      `update employees set shifts = '' ${of(empty)}`,
      `update employees set shifts = 'Early, Late' ${of(odd)}`,
      `update employees set shifts = '["Late"]', cost_centre = 'CC-1'`.concat(` ${of(other)}`),
    );
    expect(await exchange()).toMatchObject({ state: 'partial', counts: { read: 3, quarantined: 1 } });
    expect(await setApart()).toEqual(new Map([[odd.employeeId, ['shifts NOT_A_LIST']]]));
    expect(await valuesOf(other, 'shifts')).toEqual([['Late'], ['Late']]);
    await hr.run(`update employees set shifts = '["Early"]' ${of(odd)}`);
    world.editPartner(empty, fieldOf('shifts'), ['Night']);
    expect(await exchange()).toMatchObject({ state: 'done' });
    expect(await valuesOf(odd, 'shifts')).toEqual([['Early'], ['Early']]);
    expect(await valuesOf(empty, 'shifts')).toEqual([['Night'], ['Night']]);
  });

  test('a cell that is no list any more takes the value that the partner had all the time', async () => {
    await begin();
    const person = await world.hire();
    world.editPartner(person, fieldOf('shifts'), ['Night']);
    await hr.run(`update employees set shifts = 'Early, Late' ${of(person)}`);
    expect(await exchange()).toMatchObject({ state: 'partial' });
    await hr.run(`update employees set shifts = null ${of(person)}`);
    expect(await exchange()).toMatchObject({ state: 'done' });
    expect(await setApart()).toEqual(new Map());
    expect(await valuesOf(person, 'shifts')).toEqual([['Night'], ['Night']]);
  });
}

function testNumbers(kind: Database, begin: Begin): void {
  test('an integer that no number holds is not rounded on its way, in either direction', async () => {
    await begin();
    const [person, other] = [await world.hire(), await world.hire()];
    await hr.run(
      `update employees set hours = 1234567890123456789, cost_centre = 'CC-1' ${of(person)}`,
      `update employees set hours = 9007199254740991 ${of(other)}`,
    );
    expect(await exchange()).toMatchObject({ state: 'partial', counts: { updated: 1, quarantined: 1 } });
    expect(await setApart()).toEqual(new Map([[person.employeeId, ['hours VALUE_MISFIT']]]));
    expect(await valuesOf(person, 'hours')).toEqual([null, '1234567890123456789']);
    expect(await valuesOf(person, 'costCentre')).toEqual(['CC-1', 'CC-1']);
    expect(await valuesOf(other, 'hours')).toEqual([9_007_199_254_740_991, 9_007_199_254_740_991]);
  });

  test('a number that the partner stores and no number holds arrives digit by digit', async () => {
    await begin();
    const person = await world.hire();
    world.editPartner(person, fieldOf('hours'), 5);
    world.state.run(`update custom_field_values set value = '"1234567890123456789"'`);
    await exchange();
    expect(String(await hr.cell(`select hours from employees ${of(person)}`))).toMatch(/^1234567890123456789(\.0+)?$/);
    expect(await exchange()).toMatchObject({ counts: { unchanged: 1 } });
  });

  test('an emptied numeric cell is no zero', async () => {
    await begin();
    const person = await world.hire();
    await world.editHris(person, fieldOf('hours'), 12);
    await exchange();
    await hr.run(`update employees set hours = ${kind === 'SQLite' ? "''" : 'null'} ${of(person)}`);
    await exchange();
    expect((await world.read(person))?.partner['hours'] ?? null).toBeNull();
    world.editPartner(person, fieldOf('hours'), 3);
    await exchange();
    expect(await valuesOf(person, 'hours')).toEqual([3, 3]);
  });

  test.each(['1200.50', '1200.55', '1200.00', '0.10'])('money, %s, fits a field of numbers', async (amount) => {
    const line = `  notes: { from: "candidate.customFields[Hours]", direction: both, owner: hris${
      amount === '1200.55' ? '' : ', transform: [{ money: { currency: EUR } }]'
    } }`;
    await begin(`fields:\n${line}\n`);
    const person = await world.hire();
    await world.editHris(person, fieldOf('notes'), amount);
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 1 } });
    expect((await world.read(person))?.partner['hours']).toBe(Number(amount));
    const before = { ...world.writes };
    expect(await exchange()).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
    expect(world.writes).toEqual(before);
  });

  test('money without a rule for it is compared as the number that the partner keeps', async () => {
    await begin(
      'fields:\n  notes: { from: "candidate.customFields[Hours]", direction: both, owner: either, conflict: hris }\n',
    );
    const person = await world.hire();
    await world.editHris(person, fieldOf('notes'), '1200.50');
    await exchange();
    const before = { ...world.writes };
    await exchange();
    expect(world.writes).toEqual(before);
    expect((await world.read(person))?.hris['notes']).toBe('1200.50');
    expect((await world.read(person))?.partner['hours']).toBe(1200.5);
  });
}

function testEditsMeanwhile(kind: Database, begin: Begin): void {
  const edits: [field: string, cell: string, value: FieldValue][] = [
    ['level', "'Fellow'", 'Fellow'],
    ['hours', '7.25', 7.25],
    ['shifts', `'["Night"]'`, ['Night']],
    ['notes', "'by HR'", 'by HR'],
  ];
  test.each(edits)(
    '%s, edited in the HR system while a call to the partner is slow, is not overwritten',
    async (name, cell, value) => {
      await begin(mappingText().replaceAll('conflict: partner', 'conflict: hris'));
      const person = await world.hire();
      await hr.run(...AS_JSON[kind]);
      const [first, second] = { level: ['Junior', 'Lead'], hours: [1, 2], shifts: [['Early'], ['Late']] }[name] ?? [
        'a',
        'b',
      ];
      world.editPartner(person, fieldOf(name), first ?? null);
      await exchange();
      world.editPartner(person, fieldOf(name), second ?? null);
      await world.editHris(person, fieldOf('costCentre'), 'CC-2');
      let edited: Promise<void> | undefined;
      const column = fieldOf(name).column;
      const mishap = (_method: string, asked: string): undefined => {
        if (asked.endsWith('/custom-field-values/bulk'))
          edited ??= hr.run(`update employees set ${column} = ${cell} ${of(person)}`);
      };
      const later = async (): Promise<void> => edited;
      await exchange({ mishap, pause: later });
      expect(edited).toBeDefined();
      expect((await valuesOf(person, name))[1]).toEqual(value);
      await exchange();
      expect(await exchange()).toMatchObject({ state: 'done' });
      expect(await valuesOf(person, name)).toEqual([value, value]);
    },
  );

  test.each([
    ['filled', null, ['Late']],
    ['changed', ['Early'], ['Late']],
    ['emptied', ['Early'], null],
  ])('a list that would be %s is left where somebody typed an odd one meanwhile', async (_how, first, second) => {
    await begin();
    const person = await world.hire();
    const shifts = fieldOf('shifts');
    if (first !== null) world.editPartner(person, shifts, first);
    await world.editHris(person, fieldOf('costCentre'), 'CC-1');
    await exchange();
    world.editPartner(person, shifts, second);
    let edited: Promise<void> | undefined;
    const pause = async (point: string): Promise<void> => {
      if (point === 'hris.update/before')
        edited ??= hr.run(`update employees set shifts = 'Early, Late' ${of(person)}`);
      await edited;
    };
    await exchange({ pause });
    expect(edited).toBeDefined();
    expect(await exchange()).toMatchObject({ state: 'partial' });
    expect(await hr.cell(`select shifts from employees ${of(person)}`)).toBe('Early, Late');
    expect(await setApart()).toEqual(new Map([[person.employeeId, ['shifts NOT_A_LIST']]]));
    await hr.run(`update employees set shifts = '["Night"]' ${of(person)}`);
    expect(await exchange()).toMatchObject({ state: 'done' });
    expect(await valuesOf(person, 'shifts')).toEqual([['Night'], ['Night']]);
  });
}
