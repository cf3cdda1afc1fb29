import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { findHrisAdapter, openHris } from '../../src/hris/registry.ts';
import type { SqlOptionsInput } from '../../src/hris/sql/options.ts';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import { loadMapping, type Mapping } from '../../src/mapping/load-mapping.ts';
import { landings } from '../../src/streams/streams.ts';
import { createDatabase } from '../harness/postgres.ts';
import { created, signal, write } from '../hris/profile.ts';

const databases = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-values-'));
    return { url: `sqlite:${join(folder, 'hr.sqlite')}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
  Postgres: createDatabase,
};

const FIELDS: SqlOptionsInput['fields'] = {
  givenName: { column: 'given_name', required: true },
  familyName: { column: 'family_name', required: true },
  code: { column: 'code', maxLength: 20 },
  notes: { column: 'notes' },
  grade: { column: 'grade', type: 'number' },
  salary: { column: 'salary', type: 'number' },
  startDate: { column: 'start_date', type: 'date' },
};

const MAPPING = `fields:
  givenName: { from: candidate.firstName, transform: [trim], required: true }
  familyName: { from: candidate.lastName, transform: [trim], required: true }
  code: { from: "candidate.customFields[Code]" }
  notes: { from: candidate.summary }
  grade: { from: "candidate.customFields[Grade]", transform: [number] }
  salary: { from: "candidate.customFields[Salary]" }
  startDate: { from: "candidate.customFields[Start]", transform: [date] }
  email: { from: candidate.email }
`;

let people = 0;

/** What the partner has of one person; `Code`, `Grade` and `Start` are custom fields. */
function personOf({ custom = {}, ...fields }: { custom?: Record<string, unknown>; [field: string]: unknown }) {
  people += 1;
  const shown = Object.entries(custom).map(([label, value]) => [label, { label, value }]);
  const customFields = Object.fromEntries(shown) as Record<string, unknown>;
  const person = { firstName: 'Ana', lastName: 'Li', email: `p${people}@example.com` };
  return { candidate: { ...person, ...fields, customFields }, job: { title: 'Cook' } };
}

const TZ = process.env['TZ'];
afterEach(() => {
  if (TZ === undefined) delete process.env['TZ'];
  else process.env['TZ'] = TZ;
});

describe.each(Object.entries(databases))('through the mapping and %s', (_name, database) => {
  let hris: HrisConnection;
  let mapping: Mapping;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const made = await database();
    drop = made.drop;
    const options = { url: made.url, createTable: true, fields: FIELDS };
    hris = await openHris('sql', 'values', options, { landings });
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-values-'));
    const file = join(folder, 'a.yaml');
    await writeFile(file, MAPPING);
    const sql = findHrisAdapter('sql');
    const fields = sql?.employeeFields(sql.optionsSchema(landings).parse(options)) ?? [];
    mapping = await loadMapping({ kind: 'test', fields, file });
    await rm(folder, { recursive: true });
  });
  afterAll(async () => {
    await hris.close();
    await drop();
  });

  /** What the HR system holds of this field afterwards, or why the hire waits. */
  async function held(field: string, person: ReturnType<typeof personOf>): Promise<unknown> {
    const { fields, problems } = evaluateMapping(mapping, person);
    if (problems.length > 0) return problems.map(({ field: at, code }) => `${at} ${code}`).join();
    const employee = { startDate: '2027-01-11', ...fields };
    const ref = created(await hris.employees.create(employee, `values:${people}`, write));
    return (await hris.employees.read(ref.id, signal))?.fields[field];
  }

  test.each([
    ['diacritics', 'Nguyễn Văn Ánh'],
    ['letters that are composed', 'Jose\u0301'],
    ['right-to-left text', 'مُحَمَّد بن سلمان'],
    ['both directions in one name', 'שרה Cohen'],
    ['characters outside the first plane', '👩🏽‍🍳 𠮷野'],
    ['an apostrophe', 'O’Brien'],
    ['quotes and backslashes', `O'Neil \\"x\\"; drop table employees`],
  ])('a name stays what it is: %s', async (_what, lastName) => {
    expect(await held('familyName', personOf({ lastName }))).toBe(lastName);
  });

  test('a person with one name waits for somebody to say what the family name is', async () => {
    expect(await held('familyName', personOf({ firstName: 'Sukarno', lastName: '' }))).toBe('familyName MISSING');
  });

  test.each(['007', '0', '1e21', '12345678901234567890', '+49', '=1+1'])(
    'text of digits stays text: %s',
    async (Code) => {
      expect(await held('code', personOf({ custom: { Code } }))).toBe(Code);
    },
  );

  test('a description of 10,000 characters is held whole, and refused where the field is shorter', async () => {
    const summary = `${'Köchin 👩🏽‍🍳 '.repeat(900)}.`;
    expect((await held('notes', personOf({ summary }))) === summary).toBe(true);
    expect(await held('code', personOf({ custom: { Code: summary } }))).toBe('code TOO_LONG');
  });

  test('a text that was cut in the middle of a character is refused', async () => {
    expect(await held('notes', personOf({ summary: '👩'.slice(0, 1) }))).toBe('notes BROKEN_TEXT');
  });

  test.each<[unknown, unknown]>([
    [12.5, 12.5],
    ['12.50', 12.5],
    ['007', 7],
    [1e21, 'grade NOT_A_NUMBER'],
    ['1e21', 'grade NOT_A_NUMBER'],
    ['1234567890123456789', 'grade NOT_EXACT'],
  ])('a number keeps every digit, or is refused: %j gives %j', async (Grade, expected) => {
    expect(await held('grade', personOf({ custom: { Grade } }))).toBe(expected);
  });

  test.each<[unknown, unknown]>([
    ['4200.50', 4200.5],
    ['-0.10', -0.1],
    [4200.5, 4200.5],
    ['007', 'salary WRONG_TYPE'],
    ['4,200', 'salary WRONG_TYPE'],
  ])('money goes into a column of numbers as it is: %j gives %j', async (Salary, expected) => {
    expect(await held('salary', personOf({ custom: { Salary } }))).toBe(expected);
  });

  test('a number that text would write with an exponent is refused', async () => {
    expect(await held('code', personOf({ custom: { Code: 1e21 } }))).toBe('code WRONG_TYPE');
  });

  describe.each(['Pacific/Auckland', 'America/Los_Angeles'])('on a machine in %s', (zone) => {
    test.each([
      ['2027-01-11', '2027-01-11'],
      ['2027-01-11T00:30:00+13:00', '2027-01-11'],
      ['2027-01-11T23:30:00-08:00', '2027-01-11'],
      ['2026-09-27', '2026-09-27'],
      ['2027-03-14', '2027-03-14'],
      ['2027-02-29', 'startDate NOT_A_DATE'],
    ])('a day stays the day that was written: %s', async (Start, expected) => {
      process.env['TZ'] = zone;
      expect(await held('startDate', personOf({ custom: { Start } }))).toBe(expected);
    });
  });
});
