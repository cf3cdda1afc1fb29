import { copyFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { openStore } from '../../src/store/open-store.ts';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';
import { forgottenSession } from '../harness/forgotten-session.ts';
import { createDatabase } from '../harness/postgres.ts';
import { runCommand } from '../harness/run-command.ts';

/** A database with one table, of which somebody says that it is full or read-only. */
async function opened(url: string) {
  const database = openDatabase<Record<'seen', { text: string }>>(url, { poolSize: 1 });
  onTestFinished(database.close);
  await sql`create table seen (text text)`.execute(database.kysely);
  const write = () =>
    database.kysely
      .insertInto('seen')
      .values({ text: 'x'.repeat(100_000) })
      .execute();
  const inTransaction = () =>
    database.kysely.transaction().execute(async (trx) => {
      for (let row = 0; ; row += 1)
        await trx
          .insertInto('seen')
          .values({ text: String(row).repeat(5_000) })
          .execute();
    });
  return { write, inTransaction, run: (statement: string) => sql.raw(statement).execute(database.kysely) };
}

test.each([
  ['pragma query_only = on', 'DATABASE_READ_ONLY'],
  ['pragma max_page_count = 1', 'DATABASE_FULL'],
])('a SQLite file with %s says so: %s, with its path and the next step', async (statement, code) => {
  const file = join(await scratchDir(), 'some.db');
  const { write, inTransaction, run } = await opened(`sqlite:${file}`);
  await run(statement);
  const told = { code, action: 'retry', retryAfterMs: 3_000, message: expect.stringContaining(file) };
  await expect(write()).rejects.toMatchObject(told);
  await expect(inTransaction()).rejects.toMatchObject(told);
});

test.each(['deleted', 'replaced'])('a SQLite file that was %s meanwhile takes no write any more', async (how) => {
  const file = join(await scratchDir(), 'some.db');
  const { write, inTransaction } = await opened(`sqlite:${file}`);
  await write();
  await rename(file, `${file}.old`);
  if (how === 'replaced') await copyFile(`${file}.old`, file);
  const told = { code: 'DATABASE_MOVED', action: 'retry', message: expect.stringContaining(file) };
  await expect(write()).rejects.toMatchObject(told);
  await expect(inTransaction()).rejects.toMatchObject(told);
});

const raising = (state: string) => `create function refuse() returns trigger language plpgsql as
  $$ begin raise exception 'no' using errcode = '${state}'; end $$;
  create trigger refuse before insert on seen execute function refuse()`;

test.each([
  ['set default_transaction_read_only = on', 'DATABASE_READ_ONLY'],
  [raising('53100'), 'DATABASE_FULL'],
  [raising('57P03'), 'DATABASE_UNREACHABLE'],
])('Postgres after %s', async (statement, code) => {
  const { write, run } = await opened((await createDatabase()).url);
  await run(statement);
  // As soon as after any other trouble: otherwise the last hires wait a minute after it is over.
  await expect(write()).rejects.toMatchObject({ code, action: 'retry', retryAfterMs: 3_000 });
});

test('a row that others changed meanwhile can be changed, whatever isolation the database has by default', async () => {
  const { url } = await createDatabase();
  await asAdmin(
    url,
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = serializable`,
  );
  const { kysely, close } = openDatabase<Record<'seen', { text: string }>>(url);
  onTestFinished(close);
  await sql`create table seen (text text)`.execute(kysely);
  await kysely.insertInto('seen').values({ text: 'first' }).execute();
  await kysely.transaction().execute(async (trx) => {
    await trx.selectFrom('seen').selectAll().execute();
    await kysely.updateTable('seen').set({ text: 'second' }).execute();
    await trx.updateTable('seen').set({ text: 'third' }).execute();
  });
  expect(await kysely.selectFrom('seen').selectAll().execute()).toEqual([{ text: 'third' }]);
});

test('every verb says that a store in Postgres is read-only', async () => {
  const { url } = await createDatabase();
  const env = { HIREBRIDGE_STORE_URL: url };
  const applied = await runCommand(['tenant', 'apply', await tenantDir(), '--unchecked', '--yes'], env);
  expect(applied).toMatchObject({ code: 0 });
  await asAdmin(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  for (const verb of [['pause', 'acme'], ['freeze'], ['tenant', 'remove', 'acme']]) {
    const { code, stderr } = await runCommand(verb, env);
    expect({ verb, code, stderr }).toEqual({ verb, code: 1, stderr: expect.stringContaining('[DATABASE_READ_ONLY]') });
  }
});

test.each([
  ['lock_timeout=300', 'DATABASE_LOCKED'],
  ['lock_timeout=0&statement_timeout=300', 'DATABASE_SLOW'],
])('every verb says what it waited for while somebody locks a table: %s', async (bounds, code) => {
  const { url } = await createDatabase();
  const env = { HIREBRIDGE_STORE_URL: url };
  const applied = await runCommand(['tenant', 'apply', await tenantDir(), '--unchecked', '--yes'], env);
  expect(applied).toMatchObject({ code: 0 });
  const session = await forgottenSession(url, 'lock table hires, tenants in access exclusive mode');
  onTestFinished(() => session.end());
  for (const verb of [['status'], ['pause', 'acme'], ['hire', 'list', '--tenant', 'acme']]) {
    const { stderr } = await runCommand(verb, { HIREBRIDGE_STORE_URL: `${url}?${bounds}` });
    expect({ verb, stderr }).toEqual({ verb, stderr: expect.stringContaining(`[${code}]`) });
  }
});

test.each([
  ['some other file', (file: string) => writeFile(file, 'no database\n'), 'is not a SQLite database'],
  ['half a store', (file: string) => truncate(file, 500_000), 'is damaged'],
])('%s is named as what it is', async (_, spoil, words) => {
  const data = await scratchDir();
  const file = join(data, 'store.db');
  await (await openStore(`sqlite:${file}`)).close();
  await spoil(file);
  for (const verb of [['hold', 'list'], ['pause', 'acme'], ['freeze'], ['migrate']]) {
    const { stderr } = await runCommand([...verb, '--data', data]);
    expect(stderr).toContain(file);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('unexpected');
  }
});

test('an address with a # in its password is refused with how to write it, and not shown', () => {
  const open = () => openDatabase('postgres://hr:hun#ter2@127.0.0.1/people');
  expect(open).toThrow(expect.objectContaining({ code: 'DATABASE_URL', action: 'reject' }));
  expect(open).toThrow(/# as %23/);
  expect(open).not.toThrow(/hun|ter2/);
});
