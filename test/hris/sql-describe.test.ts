import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { DescribedField } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { createDatabase } from '../harness/postgres.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

const FIELDS = {
  givenName: { column: 'given_name' },
  title: { column: 'title' },
  site: { column: 'site' },
  pay: { column: 'pay', type: 'number' },
  startDate: { column: 'start_date', type: 'date' },
};

const POSTGRES = `create type site as enum ('BER', 'MUC');
  create table employees (id bigint generated always as identity primary key, employee_number text not null,
    external_ref text, given_name varchar(40) not null, title text check (title in ('Cook', 'Chef''s cook')), site site,
    pay numeric(8,2), start_date date not null default current_date, cost_centre char(4) not null,
    nick text check (char_length(nick) <= 12), stamped timestamptz not null)`;
const SQLITE = `create table employees (id integer primary key, employee_number text, external_ref text,
    given_name varchar(40) not null, title text check (title in ('Cook', 'Chef''s cook')),
    site text check ("site" in ('BER', 'MUC')), pay numeric(8,2), start_date date not null default '2027-01-01',
    cost_centre char(4) not null, nick text check (length(nick) <= 12), stamped timestamp not null)`;

const databases = {
  Postgres: async () => ({ url: (await createDatabase()).url, tables: POSTGRES }),
  SQLite: async () => ({ url: `sqlite:${join(await scratchFolder(), 'hr.db')}`, tables: SQLITE }),
};

async function described(kind: keyof typeof databases, more = ''): Promise<Record<string, DescribedField>> {
  const { url, tables } = await databases[kind]();
  const database = openSqlDatabase(url, { create: true });
  for (const statement of `${tables};${more}`.split(';').filter((one) => one.trim() !== ''))
    await sql.raw(statement.replaceAll('%', ';')).execute(database.kysely);
  await database.close();
  const hris = await openHris('sql', 'test-hr', { url, fields: FIELDS });
  onTestFinished(() => hris.close());
  const fields = (await hris.describe?.('employee', AbortSignal.timeout(120_000))) ?? [];
  return Object.fromEntries(fields.map((field) => [field.key, field]));
}

test.each(['SQLite', 'Postgres'] as const)('%s says of each column what it takes', async (kind) => {
  const fields = await described(kind);
  expect(Object.keys(fields)).toEqual([
    'givenName',
    'title',
    'site',
    'pay',
    'startDate',
    'cost_centre',
    'nick',
    'stamped',
  ]);
  expect(fields).toMatchObject({
    givenName: { label: 'given_name', isField: true, type: 'text', required: true, maxLength: 40 },
    title: { type: 'text', required: false, options: ['Cook', "Chef's cook"] },
    site: { type: 'text', options: ['BER', 'MUC'] },
    pay: { type: 'number', decimals: 2 },
    startDate: { type: 'date', required: false },
    cost_centre: { isField: false, required: true, maxLength: 4 },
    nick: { maxLength: 12 },
    stamped: { type: 'date', required: true },
  });
});

test('what a trigger may fill is not required', async () => {
  const fields = await described(
    'Postgres',
    `create function fill() returns trigger language plpgsql as $$ begin new.stamped := now()% return new% end $$;
     create trigger fill before insert on employees for each row execute function fill()`,
  );
  expect(Object.values(fields).filter(({ required }) => required)).toEqual([]);
});
