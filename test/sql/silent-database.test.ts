import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import { type Database, openDatabase } from '../../src/sql/open-database.ts';
import { openStore, storeTrouble } from '../../src/store/open-store.ts';
import { type FaultProxy, startFaultProxy } from '../harness/fault-proxy.ts';
import { patience, scaled } from '../harness/pace.ts';
import { createDatabase } from '../harness/postgres.ts';

type Tables = Record<'seen', { id: number }>;

/** Without the circuit, nothing would end a statement before this, or a test that waits for one. */
const ENDLESS = { statement_timeout: '600000' };
const SOON = { timeout: patience(60_000) };

async function behindProxy(
  settings: Record<string, string> = {},
  poolSize = 10,
): Promise<{ database: Database<Tables>; proxy: FaultProxy; direct: Database<Tables> }> {
  const { url } = await createDatabase();
  const there = new URL(url);
  const proxy = await startFaultProxy(Number(there.port));
  const here = Object.assign(new URL(url), { port: String(proxy.port) });
  for (const [name, value] of Object.entries(settings)) here.searchParams.set(name, value);
  const [database, direct] = [openDatabase<Tables>(here.href, { poolSize }), openDatabase<Tables>(url)];
  onTestFinished(async () => {
    await proxy.close();
    await Promise.all([database.close(), direct.close()]);
  });
  await sql`create table seen (id int primary key)`.execute(direct.kysely);
  return { database, proxy, direct };
}

function ask({ kysely }: Database<Tables>): Promise<unknown> {
  return sql`select 1`.execute(kysely);
}

/** Opens so many connections of the pool and leaves them idle. */
async function warm(database: Database<Tables>, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => sql`select pg_sleep(0.2)`.execute(database.kysely)));
}

test('what was asked on connections that fell silent ends, and what is asked next is answered', SOON, async () => {
  const { database, proxy } = await behindProxy(ENDLESS);
  await warm(database, 10);
  proxy.blackHole();

  const lost = await Promise.allSettled(Array.from({ length: 10 }, () => ask(database)));
  expect(lost.map(({ status }) => status)).toContain('rejected');

  await Promise.all(Array.from({ length: 15 }, () => ask(database)));
});

test('a transaction whose connection fell silent ends with what ended it, and holds no lock', SOON, async () => {
  const { database, proxy, direct } = await behindProxy({ ...ENDLESS, idle_in_transaction_session_timeout: '1000' });
  const work = database.kysely.transaction().execute(async (trx) => {
    await trx.insertInto('seen').values({ id: 1 }).execute();
    proxy.blackHole();
    await trx.insertInto('seen').values({ id: 2 }).execute();
  });
  await expect(work).rejects.toMatchObject({ code: 'DATABASE_SILENT' });

  // The server never heard of the end: its own timeout ends the transaction, so that this is not refused or kept.
  await direct.kysely.insertInto('seen').values({ id: 1 }).execute();
});

test('a statement that takes long is left alone', async () => {
  const { database } = await behindProxy(ENDLESS);
  const { rows } = await sql<{ one: number }>`select 1 as one from pg_sleep(7)`.execute(database.kysely);
  expect(rows).toEqual([{ one: 1 }]);
});

test('while nothing answers at all every statement ends, and all is well once it answers', async () => {
  const { database, proxy } = await behindProxy({ statement_timeout: '1000', connect_timeout: '1' }, 3);
  await warm(database, 3);
  proxy.fallSilent();
  const lost = await Promise.allSettled(Array.from({ length: 6 }, () => ask(database)));
  expect(lost.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'rejected'));

  proxy.speak();
  await ask(database);
});

test('connections to a server that only reads by now are not used again', async () => {
  const { database, direct } = await behindProxy(ENDLESS, 1);
  await ask(database);
  const before = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.kysely);
  await sql`select set_config('default_transaction_read_only', 'on', false)`.execute(database.kysely);
  await expect(database.kysely.insertInto('seen').values({ id: 1 }).execute()).rejects.toMatchObject({
    code: 'DATABASE_READ_ONLY',
    message: expect.stringContaining('(25006)'),
  });

  await database.kysely.insertInto('seen').values({ id: 1 }).execute();
  const after = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.kysely);
  expect(after.rows).not.toEqual(before.rows);
  expect(await direct.kysely.selectFrom('seen').selectAll().execute()).toEqual([{ id: 1 }]);
});

test.each([
  ['statement_timeout', '15s', { statement_timeout: '2000' }, '2s'],
  ['lock_timeout', '5s', { lock_timeout: '700' }, '700ms'],
  ['idle_in_transaction_session_timeout', '15s', { idle_in_transaction_session_timeout: '3000' }, '3s'],
  ['tcp_user_timeout', '10s', { tcp_user_timeout: '4000' }, '4s'],
])('the server bounds %s by itself, by %s unless the address says otherwise', async (name, usual, given, other) => {
  const show = async (settings: Record<string, string>) => {
    const { database } = await behindProxy(settings);
    // One that the server reads back from its socket is in milliseconds, without a unit.
    const { rows } = await sql<Record<string, string>>`show ${sql.raw(name)}`.execute(database.kysely);
    return rows[0]?.[name]?.replace(/000$/, 's');
  };
  expect(await show({})).toBe(usual);
  expect(await show(given)).toBe(other);
});

test('a bound that is no number is refused by its name', () => {
  const open = () => openDatabase('postgres://user@127.0.0.1/store?lock_timeout=soon');
  expect(open).toThrow('lock_timeout');
  expect(open).not.toThrow('soon');
});

test('a store whose database fell silent is not ready within a second, and is again once it answers', async () => {
  const { url } = await createDatabase();
  const proxy = await startFaultProxy(Number(new URL(url).port));
  const here = Object.assign(new URL(url), { port: String(proxy.port) });
  const store = await openStore(here.href);
  onTestFinished(async () => {
    await proxy.close();
    await store.close();
  });
  expect(await storeTrouble(store, undefined)).toBeUndefined();
  proxy.blackHole();
  const begin = performance.now();
  expect(await storeTrouble(store, undefined)).toBe('the database does not answer within a second');
  expect(performance.now() - begin).toBeLessThan(scaled(5_000));
  await expect.poll(() => storeTrouble(store, undefined), { timeout: patience(30_000) }).toBeUndefined();
});

test('a store whose database refuses connections says what it was told, and is ready once it takes them', async () => {
  const { url } = await createDatabase();
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const name = new URL(url).pathname.slice(1);
  const server = Object.assign(new URL(url), { pathname: '/postgres' }).href;
  await asAdmin(server, `alter database ${name} with allow_connections false`);
  await asAdmin(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await expect
    .poll(() => storeTrouble(store, undefined), { timeout: patience(30_000) })
    .toMatch(/the database cannot be used: .*55000: .*not currently accepting connections/);

  await asAdmin(server, `alter database ${name} with allow_connections true`);
  await expect.poll(() => storeTrouble(store, undefined), { timeout: patience(30_000) }).toBeUndefined();
});
