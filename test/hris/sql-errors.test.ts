import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openHris } from '../../src/hris/registry.ts';
import { explainSqlError } from '../../src/hris/sql/database.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { createDatabase } from '../harness/postgres.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { employee, signal, write } from './profile.ts';

const DATABASES = {
  SQLite: async () => `sqlite:${join(await scratchFolder(), 'hr.db')}`,
  Postgres: async () => {
    const { url, drop } = await createDatabase();
    onTestFinished(drop);
    return url;
  },
};

async function probe(url: string, options: Record<string, unknown>): Promise<string> {
  const hris = await openHris('sql', 'hr', { url, ...options });
  const result = await hris.probe(signal);
  await hris.close();
  return result.ok ? 'ok' : result.error.message;
}

describe.each(Object.entries(DATABASES))('%s', (_name, database) => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a table', { table: 'employes' }, /no table or view employes .*Did you mean "employees" instead of "employes"\?/],
    [
      'a column',
      { fields: { title: { column: 'titel' } } },
      /The HRIS table employees has no column titel.*Did you mean "title" instead of "titel"\?.*hirebridge ddl TENANT/,
    ],
    [
      'the reference',
      { referenceColumn: 'our_ref' },
      /has no column our_ref.*or set the field to null.*hirebridge ddl TENANT prints the statements/,
    ],
  ])('%s that is not there is named, with what is like it', async (_what, options, says) => {
    const url = await database();
    await ensureHrisSchema(url);
    expect(await probe(url, options)).toMatch(says);
  });
});

test('Postgres: a right that is missing is named as the statement that grants it', async () => {
  const url = await DATABASES.Postgres();
  await ensureHrisSchema(url);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `clerk_${process.pid}_${Date.now()}`;
  const as = Object.assign(new URL(url), { username: role }).href;
  const told: string[] = [];
  await admin.query(`create role ${role} login`);
  try {
    told.push(await probe(as, {}));
    await admin.query(`grant select on employees to ${role}; revoke select on employees from ${role};
      grant select (id, employee_number) on employees to ${role}`);
    told.push(await probe(as, {}));
    await admin.query(`grant select on employees to ${role}`);
    told.push(await probe(as, {}));
    await admin.query(`grant insert on employees to ${role}`);
    const hris = await openHris('sql', 'hr', { url: as });
    told.push(
      await hris.employees.create(employee('x'), '17:1', write).then(
        () => 'made',
        (error: Error) => error.message,
      ),
    );
    await hris.close();
  } finally {
    await admin.query(`drop owned by ${role}; drop role ${role}`);
    await admin.end();
  }
  expect(told).toEqual([
    expect.stringContaining(
      `may not read employees. Have its owner run: grant select, insert on employees to ${role};`,
    ),
    expect.stringMatching(
      /may not read external_ref.* of employees\. .*grant select \(external_ref, .* on employees to/,
    ),
    expect.stringContaining(`grant select, insert on employees to ${role};`),
    expect.stringContaining(`grant usage on sequence employees_number_seq to ${role};`),
  ]);
});

test.each<[string, object, string]>([
  [
    'MariaDB, a table',
    { code: 'ER_NO_SUCH_TABLE', errno: 1146, sqlState: '42S02', message: "Table 'hr.personal' doesn't exist" },
    'There is no table hr.personal.',
  ],
  [
    'MariaDB, a column',
    { code: 'ER_BAD_FIELD_ERROR', errno: 1054, sqlState: '42S22', message: "Unknown column 't.mail' in 'SELECT'" },
    'There is no column t.mail.',
  ],
  [
    'MariaDB, a right',
    {
      code: 'ER_TABLEACCESS_DENIED_ERROR',
      errno: 1142,
      sqlState: '42000',
      message: "INSERT command denied to user 'clerk'@'10.0.0.7' for table `hr`.`personal`",
    },
    "Have its owner run: grant insert on hr.personal to 'clerk'@'%';",
  ],
  [
    'MariaDB, a right on a column',
    {
      code: 'ER_COLUMNACCESS_DENIED_ERROR',
      errno: 1143,
      sqlState: '42000',
      message: "SELECT command denied to user 'clerk'@'localhost' for column 'mail' in table 'personal'",
    },
    "Have its owner run: grant select (mail) on personal to 'clerk'@'%';",
  ],
])('%s that the server names is passed on', (_what, error, says) => {
  const { message } = explainSqlError(Object.assign(new Error('x'), error), { sent: true });
  expect(message).toContain(says);
});

test('nothing but names is taken from what a database says', () => {
  const told = { code: '42703', message: 'column "Ana Reyes, 1990" does not exist; value secret' };
  const { message } = explainSqlError(Object.assign(new Error('x'), told), { sent: true });
  expect(message).not.toMatch(/Ana|1990|secret/);
});
