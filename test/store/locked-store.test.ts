import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { systemUser } from '../../src/places.ts';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { assertMayWrite, freeze, listFreezes, thaw } from '../../src/store/freezes.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { forgottenSession } from '../harness/forgotten-session.ts';
import { createDatabase } from '../harness/postgres.ts';
import { runCommand } from '../harness/run-command.ts';

/** Shorter than usual, so that a test that fails ends. */
const BOUNDS = '?lock_timeout=1500';

/** Until the test has ended. */
async function leaveOpen(url: string, ...statements: string[]): Promise<pg.Client> {
  const session = await forgottenSession(url, ...statements);
  onTestFinished(() => session.end());
  return session;
}

async function storeWithTenant(): Promise<{ url: string; store: Store }> {
  const { url } = await createDatabase();
  const store = await openStore(url + BOUNDS);
  onTestFinished(() => store.close());
  const receives = { webhookKeys: [] };
  await applyDefinitions(
    store,
    [{ tenantId: 'acme', file: '/acme.yaml', files: {}, receives, limits: undefined } as never],
    'ada',
  );
  return { url, store };
}

test('a store opens and is read while somebody holds every lock that ordinary work takes', async () => {
  const { url, store } = await storeWithTenant();
  await leaveOpen(url, ...(await lockAll(url, 'exclusive')));

  const other = await openStore(url + BOUNDS);
  onTestFinished(() => other.close());
  expect(other.installationId).toBe(store.installationId);
  expect(await listFreezes(other)).toEqual([]);
  await expect(assertMayWrite(other, 'acme')).resolves.toBeUndefined();
});

test('a freeze takes effect while every other table is locked, and a thaw once none is', async () => {
  const { url, store } = await storeWithTenant();
  const session = await leaveOpen(url, ...(await lockAll(url, 'exclusive', 'freezes')));

  expect(await freeze(store, 'ada')).toBe(true);
  expect(await freeze(store, 'bob', 'acme')).toBe(true);
  await expect(assertMayWrite(store, 'other')).rejects.toThrow('All tenants are frozen by ada');
  expect(await listFreezes(store)).toMatchObject([{ by: 'ada' }, { by: 'bob', tenantId: 'acme' }]);
  expect(await freeze(store, 'ada')).toBe(false);

  await session.query('rollback');
  expect(await thaw(store, 'ada')).toBe(true);
  await expect(assertMayWrite(store, 'acme')).rejects.toThrow('Tenant acme is frozen by bob');
  expect(await thaw(store, 'bob', 'acme')).toBe(true);
  await expect(assertMayWrite(store, 'acme')).resolves.toBeUndefined();
  expect(await thaw(store, 'bob', 'acme')).toBe(false);
});

test('the command freezes while nobody can even read another table', async () => {
  const { url, store } = await storeWithTenant();
  const session = await leaveOpen(url, ...(await lockAll(url, 'access exclusive', 'freezes')));
  const env = { HIREBRIDGE_STORE_URL: url + BOUNDS };
  for (const whose of [[], ['acme']]) {
    const { code, stderr } = await runCommand(['freeze', ...whose, '--as', 'ada'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
  await session.query('rollback');
  const by = `${systemUser()} for ada`;
  expect(await listFreezes(store)).toMatchObject([{ by }, { by, tenantId: 'acme' }]);
});

test('a freeze of the version before counts, and a thaw ends it', async () => {
  const { store } = await storeWithTenant();
  await store.kysely.updateTable('installation').set({ frozen_at: 1, frozen_by: 'ada' }).execute();
  await expect(assertMayWrite(store, 'acme')).rejects.toThrow('All tenants are frozen by ada');
  expect(await listFreezes(store)).toEqual([{ since: 1, by: 'ada' }]);
  expect(await thaw(store, 'bob')).toBe(true);
  await expect(assertMayWrite(store, 'acme')).resolves.toBeUndefined();
});

test('the tables of a new store are made although a session holds a lock for a while', async () => {
  const { url } = await createDatabase();
  const session = await leaveOpen(url, 'create table kysely_migration (name text primary key, timestamp text)');
  const opening = openStore(url + BOUNDS);
  await session.query('select pg_sleep(2)');
  await session.query('rollback');
  const store = await opening;
  onTestFinished(() => store.close());
  expect(await listFreezes(store)).toEqual([]);
});

async function lockAll(url: string, mode: string, ...but: string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> all ($1)`,
    [but],
  );
  await client.end();
  return rows.map(({ name }) => `lock table ${name} in ${mode} mode`);
}
