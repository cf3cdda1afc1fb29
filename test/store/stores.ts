import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, onTestFinished } from 'vitest';
import { type OpenStoreOptions, openStore, type Store } from '../../src/store/open-store.ts';
import { createDatabase } from '../harness/postgres.ts';

/** Both databases of the store; every store test runs on each. */
export const kinds = ['sqlite', 'postgres'] as const;

/** Address of a database without tables that is gone after the test: for tests of what makes them. */
export async function emptyStoreUrl(kind: (typeof kinds)[number]): Promise<string> {
  return kind === 'postgres' ? databaseOfTest() : `sqlite:${join(await directoryOfTest(), 'store.db')}`;
}

/** Address of a fresh store with today's tables that is gone after the test. */
export async function freshStoreUrl(kind: (typeof kinds)[number]): Promise<string> {
  return kind === 'postgres' ? databaseOfTest(await templateOf(kind)) : storeIn(await directoryOfTest());
}

/** A fresh store in SQLite, closed after the test. */
export async function sqliteStore(options: OpenStoreOptions = {}): Promise<Store> {
  const store = await openStore(await freshStoreUrl('sqlite'), { relaxed: true, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A fresh store; with a second opening of it, as another process would have. */
export async function freshStore(
  kind: (typeof kinds)[number],
  options: OpenStoreOptions = {},
): Promise<{ store: Store; other: Store }> {
  const opened = await openTwice(await freshStoreUrl(kind), options);
  onTestFinished(opened.close);
  return opened;
}

/** To be called once in a file: gives its tests one store of each kind, empty for each test. */
export function storesOfFile(): (kind: (typeof kinds)[number]) => Promise<{ store: Store; other: Store }> {
  const all: { [Kind in (typeof kinds)[number]]?: ReturnType<typeof openTwice> } = {};
  let dir: string | undefined;
  afterAll(async () => {
    for (const opened of Object.values(all)) await (await opened).close();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });
  return async (kind) => {
    dir ??= await directory();
    const opened = await (all[kind] ??= openTwice(await storeOf(kind, dir)));
    await emptyTables(opened.store);
    return opened;
  };
}

async function storeOf(kind: (typeof kinds)[number], dir: string): Promise<string> {
  return kind === 'postgres' ? (await createDatabase({ template: await templateOf(kind) })).url : storeIn(dir);
}

/** `relaxed`, because no test survives its machine, and waiting for the disk takes a third of most. */
async function openTwice(url: string, given: OpenStoreOptions = {}) {
  const options = { relaxed: true, ...given };
  // One after the other: SQLite waits for a lock without letting this thread's other connection go on.
  const store = await openStore(url, options);
  const other = await openStore(url, options);
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), other.close()]);
  };
  return { store, other, close };
}

async function emptyTables({ kysely, kind }: Store): Promise<void> {
  const tables = await kysely.introspection.getTables();
  await kysely.transaction().execute(async (trx) => {
    await unguardAudit(kind, trx, async () => void (await trx.deleteFrom('audit').execute()));
    for (const { name, isView } of tables)
      if (!isView && name !== 'installation') await sql`delete from ${sql.table(name)}`.execute(trx);
  });
}

/** What triggers refuse to whoever does not own the tables: somebody who tampers with the audit trail owns them. */
export async function unguardAudit(
  kind: Store['kind'],
  trx: Store['kysely'],
  does: () => Promise<void>,
): Promise<void> {
  if (kind === 'postgres') {
    await sql`alter table audit disable trigger user`.execute(trx);
    await does();
    await sql`alter table audit enable trigger user`.execute(trx);
    return;
  }
  const found = sql<{ name: string; sql: string }>`select name, sql from sqlite_master
    where type = 'trigger' and tbl_name = 'audit'`;
  const { rows } = await found.execute(trx);
  for (const { name } of rows) await sql`drop trigger ${sql.id(name)}`.execute(trx);
  await does();
  for (const one of rows) await sql.raw(one.sql).execute(trx);
}

function directory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'hirebridge-store-'));
}

async function directoryOfTest(): Promise<string> {
  const dir = await directory();
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Address of a new store in this folder with today's tables: they are made once a process, and copied from then on. */
export async function storeIn(dir: string): Promise<string> {
  const path = join(dir, 'store.db');
  await copyFile(await templateOf('sqlite'), path);
  return `sqlite:${path}`;
}

function templateOf(kind: (typeof kinds)[number]): Promise<string> {
  return (templates[kind] ??= kind === 'postgres' ? migratedDatabase() : migratedFile());
}

/** The cluster may be in memory: a database is dropped with its test. */
async function databaseOfTest(template?: string): Promise<string> {
  const { url, drop } = await createDatabase(template === undefined ? {} : { template });
  onTestFinished(drop);
  return url;
}

const templates: { [Kind in (typeof kinds)[number]]?: Promise<string> } = {};

/** Its name. */
async function migratedDatabase(): Promise<string> {
  const { url } = await createDatabase();
  await migrateOnly(url);
  return new URL(url).pathname.slice(1);
}

/** Its path. */
async function migratedFile(): Promise<string> {
  const dir = await directory();
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'template.db');
  await migrateOnly(`sqlite:${path}`);
  return path;
}

async function migrateOnly(url: string): Promise<void> {
  const store = await openStore(url);
  // Each copy is an installation of its own.
  await store.kysely.deleteFrom('installation').execute();
  await store.close();
}
