import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { createDatabase } from '../harness/postgres.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { created, refusal, signal, write } from './profile.ts';

const FIELDS = {
  givenName: 'Ana',
  familyName: 'Reyes',
  email: 'ana@example.org',
  title: 'Cook',
  startDate: '2027-01-01',
};
const COLUMNS = `external_ref text unique, given_name text, family_name text, email text, phone text, title text,
  department text, location text, city text, country text, employment_type text, start_date date, birth_date date,
  last_day date`;

const databases = {
  Postgres: async () => {
    const { url, drop } = await createDatabase();
    onTestFinished(drop);
    return url;
  },
  SQLite: async () => `sqlite:${join(await scratchFolder(), 'hr.db')}`,
};

/** A customer's database after these statements, and our connection to one of its tables. */
async function open(url: string, statements: readonly string[], options: object = {}): Promise<HrisConnection> {
  const database = openSqlDatabase(url, { create: true });
  for (const statement of statements) await sql.raw(statement).execute(database.kysely);
  await database.close();
  const hris = await openHris('sql', 'test-hr', { url, endColumn: 'last_day', ...options });
  onTestFinished(() => hris.close());
  return hris;
}

describe('Postgres', () => {
  test('columns padded with blanks hold the same person', async () => {
    const keys = "id char(12) primary key default 'E17', employee_number char(10) default '000123'";
    const hris = await open(await databases.Postgres(), [
      `create table employees (${keys}, ${COLUMNS.replaceAll('text', 'char(40)')})`,
    ]);
    const ref = { id: 'E17', number: '000123' };
    expect(created(await hris.employees.create({ ...FIELDS }, '17:1', write))).toEqual(ref);
    for (const key of [{ by: 'reference', value: '17:1' } as const, { by: 'number', value: '000123' } as const])
      expect(await hris.employees.find(key, signal)).toMatchObject({ kind: 'one', ref });
    expect(await hris.employees.read('E17', signal)).toMatchObject({
      ref,
      reference: '17:1',
      fields: { title: 'Cook' },
    });
  });

  test('a role that writes days in another style still shows who has left', async () => {
    const url = await databases.Postgres();
    const role = `german_${process.pid}_${Date.now()}`;
    const hris = await open(
      url,
      [
        `create table employees (id serial primary key, employee_number text, ${COLUMNS})`,
        `create role ${role} login`,
        `alter role ${role} set datestyle = 'German, DMY'`,
        `grant all on all tables in schema public to ${role}`,
        `grant all on all sequences in schema public to ${role}`,
      ],
      { url: Object.assign(new URL(url), { username: role }).href },
    );
    onTestFinished(async () => {
      const database = openSqlDatabase(url);
      await sql.raw(`drop owned by ${role}`).execute(database.kysely);
      await sql.raw(`drop role ${role}`).execute(database.kysely);
      await database.close();
    });
    const { id } = created(await hris.employees.create({ ...FIELDS }, '17:1', write));
    await hris.employees.terminate?.(id, '2020-02-03', write);
    const read = await hris.employees.read(id, signal);
    expect(read).toMatchObject({ former: true, fields: { startDate: '2027-01-01' } });
    expect(read).not.toHaveProperty('unreadable');
  });

  test('a number column that takes only digits has nobody with another number', async () => {
    const hris = await open(await databases.Postgres(), [
      `create table employees (id serial primary key, employee_number int default 17, ${COLUMNS})`,
    ]);
    await hris.employees.create({ ...FIELDS }, '17:1', write);
    expect(await hris.employees.find({ by: 'number', value: 'E17' }, signal)).toEqual({ kind: 'none', trusted: true });
    expect(await hris.employees.find({ by: 'number', value: '17' }, signal)).toMatchObject({ kind: 'one' });
  });
});

const VIEWS = {
  Postgres: [
    `create function add_one() returns trigger language plpgsql as $$ begin
      insert into people (external_ref, given_name) values (new.external_ref, new.given_name); return new; end $$`,
    'create trigger added instead of insert on employees for each row execute function add_one()',
  ],
  SQLite: [
    `create trigger added instead of insert on employees begin
      insert into people (external_ref, given_name) values (new.external_ref, new.given_name); end`,
  ],
};
const KEYS = { Postgres: 'serial', SQLite: 'integer' };

describe.each(['Postgres', 'SQLite'] as const)('%s', (kind) => {
  const people = `create table people (id ${KEYS[kind]} primary key, employee_number text, ${COLUMNS})`;

  test('a view whose trigger makes the row: the outcome is unknown, and the employee is found', async () => {
    const view = [people, 'create view employees as select * from people', ...VIEWS[kind]];
    const hris = await open(await databases[kind](), view);
    expect(await refusal(hris.employees.create({ ...FIELDS }, '17:1', write))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      action: 'unknown',
      message: expect.stringContaining('The insert into employees gave no id.'),
    });
    expect(await hris.employees.find({ by: 'reference', value: '17:1' }, signal)).toMatchObject({
      kind: 'one',
      ref: { id: '1' },
    });
  });

  test('a view that shows an employee twice, and computes number and day, has one employee', async () => {
    const computed = `select id + 0 as id, 1000 + people.id as employee_number, external_ref, given_name, family_name,
      email, phone, title, department, location, city, country, employment_type, start_date, last_day,
      ${kind === 'SQLite' ? "birth_date || ' 12:00:00'" : "birth_date + interval '12 hours'"} as birth_date
      from people cross join (select 1 as one union all select 2) as twice`;
    const hris = await open(await databases[kind](), [people, `create view shown as ${computed}`], {
      table: 'people',
      readFrom: 'shown',
    });
    await hris.employees.create({ ...FIELDS, birthDate: '1990-02-03' }, '17:1', write);
    const name = { givenName: 'Ana', familyName: 'Reyes', birthDate: '1990-02-03' };
    for (const key of [
      { by: 'reference', value: '17:1' } as const,
      { by: 'number', value: '1001' } as const,
      { by: 'person', ...name } as const,
    ])
      expect(await hris.employees.find(key, signal)).toMatchObject({ kind: 'one', ref: { id: '1', number: '1001' } });
  });

  test('an id in another form than the table’s own changes nobody', async () => {
    const hris = await open(await databases[kind](), [people], { table: 'people' });
    const { id } = created(await hris.employees.create({ ...FIELDS }, '17:1', write));
    const { update, terminate } = hris.employees;
    const expected = { code: 'EMPLOYEE_NOT_FOUND', action: 'reject' };
    for (const other of [`0${id}`, ` ${id}`]) {
      expect(await refusal(update(other, { title: 'Chef' }, write))).toMatchObject(expected);
      expect(await refusal(terminate?.(other, '2027-02-01', write) ?? Promise.resolve())).toMatchObject(expected);
    }
    expect(await hris.employees.read(id, signal)).toMatchObject({ fields: { title: 'Cook' }, former: false });
  });

  test('a value for a column that the database makes itself is refused by its field', async () => {
    const made = `create table employees (id ${KEYS[kind]} primary key, employee_number text,
      full_name text generated always as (given_name || ' ' || family_name) stored, ${COLUMNS})`;
    const hris = await open(await databases[kind](), [made], { fields: { fullName: { column: 'full_name' } } });
    const expected = {
      code: 'INVALID_VALUE',
      action: 'reject',
      message: expect.stringContaining('full_name'),
      details: { fullName: expect.stringContaining('Set its field to null in the mapping') },
    };
    expect(await refusal(hris.employees.create({ ...FIELDS, fullName: 'x' }, '17:1', write))).toMatchObject(expected);
    const { id } = created(await hris.employees.create({ ...FIELDS }, '17:1', write));
    expect(await refusal(hris.employees.update(id, { fullName: 'x' }, write))).toMatchObject(expected);
  });
});
