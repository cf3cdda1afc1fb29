import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type KyselyPlugin, type Migration, Migrator, sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { type Database, type OpenOptions, openDatabase } from '../sql/open-database.ts';
import { withBounds } from '../sql/postgres-pool.ts';
import { within } from '../within.ts';
import type { Tables } from './schema.ts';

/** Files of `migrations/` by their names; one is loaded where it is still to run. */
const migrations: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(new URL('migrations/', import.meta.url))
    .filter((file) => /^\d{4}-[\w-]+\.[jt]s$/.test(file))
    .toSorted()
    .map((file) => [file.slice(0, -3), new URL(`migrations/${file}`, import.meta.url).href]),
);

export interface Store extends Database<Tables> {
  /**
   * Begins every task queue, workflow id and schedule id, so that a worker with another store never receives our tasks.
   */
  installationId: string;
}

/**
 * A change of tables takes as long as it takes, but queues for a lock only briefly: whoever comes behind it in that
 * queue, webhooks as well, waits for as long.
 */
const MIGRATION_BOUNDS = { statement_timeout: 0, lock_timeout: 200, idle_in_transaction_session_timeout: 60_000 };
const MIGRATION_PAUSE_MS = 500;
const MIGRATION_PATIENCE_MS = 60_000;

/** `never` and `if-empty` for commands that only look: they leave tables that are there as they are. */
export type Migrate = 'always' | 'if-empty' | 'never';

export interface OpenStoreOptions extends OpenOptions {
  plugins?: KyselyPlugin[];
  migrate?: Migrate;
}

/**
 * Opens the store at `sqlite:FILE` or `postgres://...` and brings its tables up to date. Safe from several processes at
 * once. @throws ConnectorError STORE_UNREACHABLE, STORE_TOO_NEW, and unless it migrates `always` STORE_TOO_OLD
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { migrate = 'always', ...rest } = options;
  const database = openDatabase<Tables>(url, { ...rest, ownerOnly: true });
  try {
    await bringUpToDate(url, database, migrate);
    return { ...database, installationId: await readInstallationId(database) };
  } catch (error) {
    await database.close();
    if (!isConnectorError(error)) throw storeUnreachable(database.kind, error);
    throw error.code === 'DATABASE_UNREACHABLE' ? storeUnreachable(database.kind, error.cause) : error;
  }
}

const ANSWERS_MS = 1_000;

/** For readiness: why the store is of no use now; undefined where it answers within a second and takes writes. */
export async function storeTrouble(store: Store, unwritten: string | undefined): Promise<string | undefined> {
  if (!(await storeAnswers(store))) return 'the database does not answer within a second';
  return unwritten === undefined ? undefined : `the database answers, but its last write failed (${unwritten})`;
}

/** Whether the database answers within a second. */
export async function storeAnswers({ kysely }: Store): Promise<boolean> {
  const asked = sql`select 1`.execute(kysely).then(
    () => true,
    () => false,
  );
  return (await within(ANSWERS_MS, asked)) === true;
}

function storeUnreachable(kind: string, cause: unknown): ConnectorError {
  return new ConnectorError({
    code: 'STORE_UNREACHABLE',
    action: 'retry',
    message:
      `The store (${kind}) cannot be opened: ${describe(cause)}. ` +
      'Check that the database runs and that this user may create tables.',
    cause,
  });
}

async function bringUpToDate(url: string, database: Database<Tables>, migrate: Migrate): Promise<void> {
  const executed = await executedMigrations(database);
  const unknown = executed.filter((name) => !(name in migrations));
  if (unknown.length > 0) throw storeTooNew(unknown);
  if (executed.length === Object.keys(migrations).length) return;
  if (migrate === 'never' || (migrate === 'if-empty' && executed.length > 0)) throw storeTooOld();
  if (database.kind === 'sqlite') return migrateTables(database);
  const patient = openDatabase<Tables>(withBounds(url, MIGRATION_BOUNDS), { poolSize: 1 });
  try {
    const until = performance.now() + MIGRATION_PATIENCE_MS;
    while (!(await migratedWithoutWaiting(patient))) {
      if (performance.now() > until) throw storeLocked();
      await pause(MIGRATION_PAUSE_MS);
    }
  } finally {
    await patient.close();
  }
}

/** False where somebody holds a lock that it needs. */
async function migratedWithoutWaiting(database: Database<Tables>): Promise<boolean> {
  try {
    await migrateTables(database);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === '55P03') return false;
    throw error;
  }
}

async function migrateTables({ kysely }: Database<Tables>): Promise<void> {
  // Migrations are numbered by who writes them, and land in another order.
  const provider = { getMigrations: loadMigrations };
  const migrator = new Migrator({ db: kysely, provider, allowUnorderedMigrations: true });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function loadMigrations(): Promise<Record<string, Migration>> {
  const loading = Object.entries(migrations).map(
    async ([name, url]) => [name, (await import(url)) as Migration] as const,
  );
  return Object.fromEntries(await Promise.all(loading));
}

/** In their own order; none where the store has no tables yet. */
async function executedMigrations({ kysely, kind }: Database<Tables>): Promise<string[]> {
  const tables =
    kind === 'sqlite'
      ? sql<{ one: number }>`select 1 as one from sqlite_master where name = 'kysely_migration'`
      : sql<{ one: number }>`select 1 as one where to_regclass('kysely_migration') is not null`;
  if ((await tables.execute(kysely)).rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(kysely);
  return rows.map(({ name }) => name);
}

function storeLocked(): ConnectorError {
  return new ConnectorError({
    code: 'STORE_LOCKED',
    action: 'retry',
    message:
      `The tables of the store cannot be brought up to date: for ${MIGRATION_PATIENCE_MS / 1_000} s another session ` +
      'has held a lock on one of them. Look for it in pg_stat_activity ("idle in transaction"), end it, ' +
      'and start again.',
  });
}

function storeTooNew(unknown: readonly string[]): ConnectorError {
  return new ConnectorError({
    code: 'STORE_TOO_NEW',
    action: 'reject',
    message:
      `The store was brought up to date by a newer hirebridge (${unknown.join(', ')}), which this one does not know. ` +
      'Run the newer version.',
  });
}

function storeTooOld(): ConnectorError {
  return new ConnectorError({
    code: 'STORE_TOO_OLD',
    action: 'reject',
    message:
      'The tables of the store are older than this hirebridge, and a command that only looks does not change them. ' +
      'Start the worker of this version first.',
  });
}

/** Only the very first start takes a lock, so that two of them give the store one id. */
async function readInstallationId({ kysely, now, kind }: Database<Tables>): Promise<string> {
  const known = await kysely.selectFrom('installation').select('id').executeTakeFirst();
  if (known !== undefined) return known.id;
  await kysely.transaction().execute(async (trx) => {
    if (kind === 'postgres') await sql`lock table installation in exclusive mode`.execute(trx);
    const first = await trx.selectFrom('installation').select('id').executeTakeFirst();
    if (first !== undefined) return;
    const id = `hb${randomBytes(5).toString('hex')}`;
    await trx.insertInto('installation').values({ id, created_at: now, tenants_version: 0 }).execute();
  });
  return (await kysely.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ');
  return error instanceof Error ? error.message : 'unknown reason';
}
