import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Migration, Migrator, sql } from 'kysely';
import { ConnectorError, rejected } from '../errors.ts';
import { type Database, openDatabase, sharesSessions, withBounds } from '../sql/open-database.ts';

/** `never` and `if-empty` are for commands that only read: they leave existing tables as they are. */
export type Migrate = 'always' | 'if-empty' | 'never';

/** A change of the tables that has not run yet. */
export interface PendingMigration {
  name: string;
  /** Processes of the previous version keep working with the changed tables, and can start on them. */
  isWidening: boolean;
}

interface Known extends PendingMigration {
  url: string;
}

/**
 * Files are loaded only if they have to run. Widening migrations, which only add what an earlier version ignores, have
 * their own folder and are recorded in their own table: an earlier version does not see them, so it can be started
 * again.
 */
const known: readonly Known[] = [...filesOf('migrations/', false), ...filesOf('migrations/widening/', true)].toSorted(
  (one, other) => (one.name < other.name ? -1 : 1),
);

function filesOf(folder: string, isWidening: boolean): Known[] {
  return readdirSync(new URL(folder, import.meta.url))
    .filter((file) => /^\d{4}-[\w-]+\.[jt]s$/.test(file))
    .map((file) => ({ name: file.slice(0, -3), isWidening, url: new URL(`${folder}${file}`, import.meta.url).href }));
}

const NARROWING_TABLE = 'kysely_migration';
const WIDENING_TABLE = 'kysely_widening';

/**
 * A migration may take any time, but waits for a lock only briefly, because everything queued behind it, webhooks
 * included, waits as long.
 */
const BOUNDS = { statement_timeout: 0, lock_timeout: 200, idle_in_transaction_session_timeout: 60_000 };
const PAUSE_MS = 500;
/** How long to wait for a lock, or for a process that may change the tables. */
const PATIENCE_MS = 60_000;

/**
 * Updates the tables if this process may, and otherwise waits for `hirebridge migrate`.
 * @throws ConnectorError STORE_TOO_NEW, STORE_TOO_OLD, STORE_MISSING, STORE_LOCKED, STORE_NOT_MIGRATED
 */
export async function bringUpToDate<T>(url: string, database: Database<T>, migrate: Migrate): Promise<void> {
  const compared = await compare(database).catch(unlessDenied);
  if (compared === undefined) return waitForMigration(database);
  const { pending, isEmpty } = compared;
  if (pending.length === 0) return;
  if (migrate === 'never' || (migrate === 'if-empty' && !isEmpty)) throw isEmpty ? storeEmpty() : storeTooOld();
  if (!(await mayMigrate(database)) || (await cannotLock(url, database))) return waitForMigration(database);
  await runAll(url, database);
}

/**
 * Updates the tables and grants these roles their rights; returns the migrations that were pending. With `isDry` it
 * changes nothing.
 * @throws ConnectorError as above, STORE_NOT_OURS if this role may not, and STORE_POOLED
 */
export async function migrateStore(url: string, roles: Roles, isDry: boolean): Promise<PendingMigration[]> {
  const database = openDatabase<never>(url, { ownerOnly: true, poolSize: 2 });
  try {
    const { pending } = await compare(database);
    if (isDry) return pending;
    if (!(await mayMigrate(database))) throw storeNotOurs();
    if (pending.length > 0 && (await cannotLock(url, database))) throw storePooled();
    if (pending.length > 0) await runAll(url, database);
    await grantRoles(database, roles);
    return pending;
  } finally {
    await database.close();
  }
}

async function compare<T>(database: Database<T>): Promise<{ pending: Known[]; isEmpty: boolean }> {
  const [narrowing, widening] = [
    await executedOf(database, NARROWING_TABLE),
    await executedOf(database, WIDENING_TABLE),
  ];
  const unknown = narrowing.filter((name) => !known.some((one) => one.name === name));
  if (unknown.length > 0) throw storeTooNew(unknown);
  const executed = new Set([...narrowing, ...widening]);
  return { pending: known.filter(({ name }) => !executed.has(name)), isEmpty: executed.size === 0 };
}

/** Empty if the store has no tables yet. */
async function executedOf<T>({ kysely, kind }: Database<T>, table: string): Promise<string[]> {
  const there =
    kind === 'sqlite'
      ? sql<{ one: number }>`select 1 as one from sqlite_master where name = ${table}`
      : sql<{ one: number }>`select 1 as one where to_regclass(${table}) is not null`;
  if ((await there.execute(kysely)).rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(kysely);
  return rows.map(({ name }) => name);
}

/** Whether this role owns the tables, or may create the first ones. */
async function mayMigrate<T>({ kysely, kind }: Database<T>): Promise<boolean> {
  if (kind === 'sqlite') return true;
  const { rows } = await sql<{ may: boolean }>`
    select coalesce(
      (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = to_regclass('installation')),
      has_schema_privilege(current_schema(), 'create')
    ) as may`.execute(kysely);
  return rows[0]?.may === true;
}

/**
 * Behind a pooler in transaction mode, a lock of the session is never given back, and processes that start together
 * wait for each other for ever.
 */
async function cannotLock<T>(url: string, { kind }: Database<T>): Promise<boolean> {
  return kind === 'postgres' && (await sharesSessions(url));
}

async function waitForMigration<T>(database: Database<T>): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await pause(PAUSE_MS))
    if ((await compare(database).catch(unlessDenied))?.pending.length === 0) return;
  throw new ConnectorError({
    code: 'STORE_NOT_MIGRATED',
    action: 'retry',
    message:
      'The tables of the store are older than this hirebridge, and this process may not change them: its role does ' +
      'not own them, or a pooler in transaction mode is in between. Run this version of `hirebridge migrate` with ' +
      "the role that owns them, at the server's own address.",
  });
}

/** A role has no rights before the tables are made. */
function unlessDenied(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== '42501') throw error;
}

async function runAll<T>(url: string, database: Database<T>): Promise<void> {
  if (database.kind === 'sqlite') return runPending(database);
  const patient = openDatabase<T>(withBounds(url, BOUNDS), { poolSize: 1 });
  try {
    for (const until = performance.now() + PATIENCE_MS; !(await ranWithoutWaiting(patient)); await pause(PAUSE_MS))
      if (performance.now() > until) throw storeLocked();
  } finally {
    await patient.close();
  }
}

/** Advisory lock of the one process that changes the tables. */
const LOCK_ID = 6_402_715;
/** Waiting for a lock timed out, or a deadlock (Postgres). */
const LOCKED = ['DATABASE_LOCKED', '40P01'];

/** False if another process holds a lock that this needs. */
async function ranWithoutWaiting<T>(database: Database<T>): Promise<boolean> {
  // Do not wait inside a statement: an index built outside transactions waits for all statements to end.
  const taken = sql<{ taken: boolean }>`select pg_try_advisory_lock(${LOCK_ID}) as taken`;
  const { rows } = await taken.execute(database.kysely);
  if (rows[0]?.taken !== true) return false;
  try {
    await runPending(database);
    return true;
  } catch (error) {
    if (LOCKED.includes(String((error as { code?: unknown }).code))) return false;
    throw error;
  } finally {
    await sql`select pg_advisory_unlock(${LOCK_ID})`.execute(database.kysely).catch(() => undefined);
  }
}

/** A migration file that also says how to run it. */
interface MigrationFile extends Migration {
  /** It uses statements that Postgres refuses in a transaction, and must cope with a half-done earlier try. */
  OUTSIDE_TRANSACTION?: boolean;
}

/**
 * Runs migrations in order, each in its own transaction, so that no migration's locks are held during the next. An
 * empty store runs neighbours together: nobody waits for its tables, and each run of Kysely's migrator first reads the
 * columns of all of them (130 ms of processor time for a new store; one by one, 300 ms).
 */
async function runPending<T>(database: Database<T>): Promise<void> {
  const { isEmpty } = await compare(database);
  for (;;) {
    const { pending } = await compare(database);
    if (pending.length === 0) return;
    const files = await Promise.all(pending.map(load));
    const other = isEmpty ? files.findIndex((file) => !runsWith(file, files[0])) : 1;
    try {
      await runTogether(database, files.slice(0, other < 0 ? files.length : Math.max(other, 1)));
    } catch (error) {
      // Another process may have migrated first: compare again.
      if ((await compare(database)).pending.length === pending.length) throw error;
    }
  }
}

interface Loaded extends Known {
  file: MigrationFile;
}

async function load(known: Known): Promise<Loaded> {
  return { ...known, file: (await import(known.url)) as MigrationFile };
}

/** Whether one transaction can run both, and one table takes their names. */
function runsWith(one: Loaded, first: Loaded | undefined): boolean {
  const isInTransaction = [one, first].every((loaded) => loaded?.file.OUTSIDE_TRANSACTION !== true);
  return isInTransaction && one.isWidening === first?.isWidening;
}

async function runTogether<T>(database: Database<T>, lot: readonly Loaded[]): Promise<void> {
  const table = lot[0]?.isWidening === true ? WIDENING_TABLE : NARROWING_TABLE;
  const executed = (await executedOf(database, table)).map((name) => [name, { up: async () => undefined }] as const);
  const files = lot.map(({ name, file }) => [name, file] as const);
  const all: Record<string, Migration> = Object.fromEntries([...executed, ...files]);
  const migrator = new Migrator({
    db: database.kysely,
    provider: { getMigrations: async () => all },
    migrationTableName: table,
    // Numbers are given when migrations are written, and they land in another order.
    allowUnorderedMigrations: true,
    disableTransactions: lot.some(({ file }) => file.OUTSIDE_TRANSACTION === true),
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

function storeLocked(): ConnectorError {
  return new ConnectorError({
    code: 'STORE_LOCKED',
    action: 'retry',
    message:
      `The tables of the store cannot be brought up to date: for ${PATIENCE_MS / 1_000} s another session ` +
      'has held a lock on one of them. Look for it in pg_stat_activity ("idle in transaction"), end it, ' +
      'and start again.',
  });
}

function storeNotOurs(): ConnectorError {
  return rejected(
    'STORE_NOT_OURS',
    'The role in HIREBRIDGE_STORE_URL may not change the tables of the store. Run this command with the address of ' +
      'the role that made them. If there are none yet, `grant create on schema SCHEMA to ROLE`, for the first schema ' +
      'of its search_path that exists.',
  );
}

function storePooled(): ConnectorError {
  return rejected(
    'STORE_POOLED',
    'HIREBRIDGE_STORE_URL names a pooler in transaction mode (PgBouncer, for example), and a change of the tables ' +
      'needs a session of its own. Run this command with the address of the Postgres server itself.',
  );
}

function storeTooNew(unknown: readonly string[]): ConnectorError {
  return rejected(
    'STORE_TOO_NEW',
    `The store was brought up to date by a newer hirebridge (${unknown.join(', ')}), which this one does not know. ` +
      'Run the newer version.',
  );
}

function storeEmpty(): ConnectorError {
  return rejected(
    'STORE_MISSING',
    'The database has no tables, so it is no store yet, or somebody emptied it. Name the right one with --data or ' +
      'HIREBRIDGE_STORE_URL, put a backup back with `hirebridge restore`, or begin a new one: hirebridge up',
  );
}

function storeTooOld(): ConnectorError {
  return rejected(
    'STORE_TOO_OLD',
    'The tables of the store are older than this hirebridge, and a command that only reads does not change ' +
      'them. Run `hirebridge migrate`, or start the worker of this version first.',
  );
}

/** Postgres roles that get the rights a process needs on the tables, and no more. */
interface Roles {
  /** Role of workers, consoles and commands: all rows. */
  worker?: string;
  /** Role of `serve`: stores deliveries and reads which tenants receive them. */
  receiver?: string;
}

/** The rights that the receiver needs on each table. `test/store/roles.test.ts` runs a receiver with nothing else. */
const RECEIVER_GRANTS = {
  installation: 'select',
  kysely_migration: 'select',
  kysely_widening: 'select',
  tenants: 'select',
  inbox: 'select, insert',
  webhook_refusals: 'select, insert, update',
  processes: 'select, insert, update, delete',
  answers: 'select, insert, update',
  calendar_events: 'select',
  calendar_feeds: 'select',
  resumes: 'select',
} as const;

/** Columns of an existing audit row that a worker writes: the seal, and what an erasure leaves. */
const SEALED = ['details', 'salt', 'chain', 'seq', 'details_hash', 'sealed', 'prev', 'hash'];

/** Runs after each migration: new tables belong to their maker only. */
async function grantRoles<T>({ kysely, kind }: Database<T>, { worker, receiver }: Roles): Promise<void> {
  if (kind === 'sqlite') return;
  await kysely.transaction().execute(async (trx) => {
    const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(trx);
    const schema = sql.id(rows[0]?.schema ?? 'public');
    for (const role of [worker, receiver])
      if (role !== undefined) await sql`grant usage on schema ${schema} to ${sql.id(role)}`.execute(trx);
    if (worker !== undefined) {
      const all = sql`grant select, insert, update, delete on all tables in schema ${schema} to ${sql.id(worker)}`;
      await all.execute(trx);
      // Triggers refuse it as well, and the role cannot drop those.
      await sql`revoke update, delete on audit from ${sql.id(worker)}`.execute(trx);
      const some = sql.join(SEALED.map((column) => sql.id(column)));
      await sql`grant update (${some}) on audit to ${sql.id(worker)}`.execute(trx);
    }
    if (receiver === undefined) return;
    for (const [table, rights] of Object.entries(RECEIVER_GRANTS))
      await sql`grant ${sql.raw(rights)} on ${sql.table(table)} to ${sql.id(receiver)}`.execute(trx);
  });
}
