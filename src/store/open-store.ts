import { randomBytes } from 'node:crypto';
import { type KyselyPlugin, type Migration, Migrator, sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { type Database, type OpenOptions, openDatabase } from '../sql/open-database.ts';
import * as tables from './migrations/0001-tables.ts';
import type { Tables } from './schema.ts';

const migrations: Record<string, Migration> = { '0001-tables': tables };

export interface Store extends Database<Tables> {
  /**
   * Begins every task queue, workflow id and schedule id, so that a worker with another store never receives our tasks.
   */
  installationId: string;
}

/**
 * Opens the store at `sqlite:FILE` or `postgres://...` and brings its tables up to date. Safe from several processes at
 * once.
 */
export async function openStore(url: string, options: OpenOptions & { plugins?: KyselyPlugin[] } = {}): Promise<Store> {
  const database = openDatabase<Tables>(url, options);
  try {
    await migrate(database);
    return { ...database, installationId: await readInstallationId(database) };
  } catch (error) {
    await database.close();
    throw new ConnectorError({
      code: 'STORE_UNREACHABLE',
      action: 'retry',
      message:
        `The store (${database.kind}) cannot be opened: ${describe(error)}. ` +
        'Check that the database runs and that this user may create tables.',
      cause: error,
    });
  }
}

async function migrate(database: Database<Tables>): Promise<void> {
  const migrator = new Migrator({ db: database.kysely, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function readInstallationId({ kysely, now, kind }: Database<Tables>): Promise<string> {
  await kysely.transaction().execute(async (trx) => {
    if (kind === 'postgres') await sql`lock table installation in exclusive mode`.execute(trx);
    const known = await trx.selectFrom('installation').select('id').executeTakeFirst();
    if (known !== undefined) return;
    const id = `hb${randomBytes(5).toString('hex')}`;
    await trx.insertInto('installation').values({ id, created_at: now }).execute();
  });
  return (await kysely.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ');
  return error instanceof Error ? error.message : 'unknown reason';
}
