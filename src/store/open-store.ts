import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type KyselyPlugin, type Migration, Migrator, sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { type Database, type OpenOptions, openDatabase } from '../sql/open-database.ts';
import { withBounds } from '../sql/postgres-pool.ts';
import { within } from '../within.ts';
import * as tables from './migrations/0001-tables.ts';
import * as reconciles from './migrations/0002-reconciles.ts';
import * as observedHires from './migrations/0003-observed-hires.ts';
import * as alarms from './migrations/0004-alarms.ts';
import * as fields from './migrations/0006-fields.ts';
import * as foreignWrites from './migrations/0007-foreign-writes.ts';
import * as indexes from './migrations/0008-indexes.ts';
import * as exchange from './migrations/0010-exchange.ts';
import * as streamStates from './migrations/0011-stream-states.ts';
import * as pushed from './migrations/0012-pushed.ts';
import * as lookupRows from './migrations/0015-lookup-rows.ts';
import * as hireDocuments from './migrations/0016-hire-documents.ts';
import * as knownRecords from './migrations/0018-known-records.ts';
import * as hireCounts from './migrations/0019-hire-counts.ts';
import * as requisitionJobs from './migrations/0020-requisition-jobs.ts';
import * as employeeConnections from './migrations/0022-employee-connections.ts';
import * as identityLeases from './migrations/0024-identity-leases.ts';
import * as leaseHolders from './migrations/0025-lease-holders.ts';
import * as openBatches from './migrations/0026-open-batches.ts';
import * as fieldIdentities from './migrations/0031-field-identities.ts';
import * as holdHistory from './migrations/0032-hold-history.ts';
import * as processes from './migrations/0033-processes.ts';
import * as recordedPeople from './migrations/0034-recorded-people.ts';
import * as freezes from './migrations/0035-freezes.ts';
import * as echoes from './migrations/0040-echoes.ts';
import * as oldestHints from './migrations/0070-oldest-hints.ts';
import * as leases from './migrations/0071-leases.ts';
import * as purgedWrites from './migrations/0072-purged-writes.ts';
import * as exchangeTallies from './migrations/0090-exchange-tallies.ts';
import * as processTrouble from './migrations/0105-process-trouble.ts';
import type { Tables } from './schema.ts';

const migrations: Record<string, Migration> = {
  '0001-tables': tables,
  '0002-reconciles': reconciles,
  '0003-observed-hires': observedHires,
  '0004-alarms': alarms,
  '0006-fields': fields,
  '0007-foreign-writes': foreignWrites,
  '0008-indexes': indexes,
  '0010-exchange': exchange,
  '0011-stream-states': streamStates,
  '0012-pushed': pushed,
  '0015-lookup-rows': lookupRows,
  '0016-hire-documents': hireDocuments,
  '0018-known-records': knownRecords,
  '0019-hire-counts': hireCounts,
  '0020-requisition-jobs': requisitionJobs,
  '0022-employee-connections': employeeConnections,
  '0024-identity-leases': identityLeases,
  '0025-lease-holders': leaseHolders,
  '0026-open-batches': openBatches,
  '0031-field-identities': fieldIdentities,
  '0032-hold-history': holdHistory,
  '0033-processes': processes,
  '0034-recorded-people': recordedPeople,
  '0035-freezes': freezes,
  '0040-echoes': echoes,
  '0070-oldest-hints': oldestHints,
  '0071-leases': leases,
  '0072-purged-writes': purgedWrites,
  '0090-exchange-tallies': exchangeTallies,
  '0105-process-trouble': processTrouble,
};

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
    throw isConnectorError(error) && error.code !== 'DATABASE_UNREACHABLE'
      ? error
      : storeUnreachable(database.kind, error);
  }
}

const ANSWERS_MS = 1_000;

/** Whether the database answers within a second; for readiness. */
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
  const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
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
