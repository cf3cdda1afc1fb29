import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { type Database, openDatabase } from '../sql/open-database.ts';
import { up as makeTable } from './migrations/widening/0181-data-keys.ts';
import type { Tables } from './schema.ts';

// Where the data keys of a store are, and which of those that its values need are not there. With SQLite they are
// outside the store, in a file that may be lost, or be another one's.

/** Columns that hold people's values, or words of an HR system that may, and are never compared. */
export const SEALED = {
  exchange_pairs: ['bases', 'sent', 'echoes'],
  field_conflicts: ['partner_form', 'hris_form', 'partner_value', 'hris_value'],
  foreign_writes: ['changes'],
  hire_documents: ['reason'],
  hire_steps: ['reason'],
  holds: ['message'],
  intents: ['pinned'],
  jobs: ['record'],
  lookup_rows: ['fields'],
  plans: ['change'],
  quarantine: ['reason'],
  refusals: ['message'],
  saved_plan_records: ['change'],
} as const;

/** Every encrypted value begins with this, followed by the ids of its key and column. */
export const MARK = 'sealed:';

/** The database that has the data keys of the store at this address. */
export async function openDataKeys(storeUrl: string): Promise<Database<Tables>> {
  const database = openDatabase<Tables>(dataKeysUrl(storeUrl), { ownerOnly: true, poolSize: 1 });
  if (database.kind === 'sqlite') await makeTable(database.kysely as unknown as Kysely<unknown>);
  return database;
}

/** Whether the file of data keys is not there. */
export function hasNoKeys(storeUrl: string): boolean {
  return isAbsent(dataKeysUrl(storeUrl));
}

function isAbsent(url: string): boolean {
  return url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length));
}

function dataKeysUrl(storeUrl: string): string {
  const [, file] = /^sqlite:(.+)$/.exec(storeUrl) ?? [];
  return file === undefined || file === ':memory:' ? storeUrl : `sqlite:${join(dirname(file), 'keys.db')}`;
}

interface UsedKey {
  tenantId: string;
  keyId: string;
}

/** Data keys that values in the store are encrypted with, and that are not where the store at this address looks. */
export async function listLostKeys(storeUrl: string): Promise<UsedKey[]> {
  const database = await openDataKeys(hasNoKeys(storeUrl) ? 'sqlite::memory:' : storeUrl);
  try {
    return await findLostKeys(storeUrl, database, sql`true`);
  } finally {
    await database.close();
  }
}

/** @throws ConnectorError DATA_KEY_MISSING if any value of the tenant is encrypted with a key that is not there */
export async function assertNoneLost(storeUrl: string, database: Database<Tables>, tenantId: string): Promise<void> {
  const [lost] = await findLostKeys(storeUrl, database, sql`tenant_id = ${tenantId}`);
  if (lost !== undefined) throw lostKey(lost);
}

/**
 * Looks at one value of the tenant: that is quick, and finds keys of another store, and an old copy of the right ones.
 * @throws ConnectorError DATA_KEY_MISSING if it is encrypted with a key that is not there
 */
export async function assertKeysFit(storeUrl: string, database: Database<Tables>, tenantId: string): Promise<void> {
  for (const column of SEALED_COLUMNS) {
    const some = await usedKeys(storeUrl, database, column, sql`tenant_id = ${tenantId}`, sql`limit 1`);
    const [lost] = await withoutKnown(database, some);
    if (lost !== undefined) throw lostKey(lost);
    if (some.length > 0) return;
  }
}

async function findLostKeys(
  storeUrl: string,
  database: Database<Tables>,
  where: RawBuilder<unknown>,
): Promise<UsedKey[]> {
  const used: UsedKey[] = [];
  // One column at a time: a statement has a time limit, and SQLite's block this process.
  for (const column of SEALED_COLUMNS) used.push(...(await usedKeys(storeUrl, database, column, where, sql``)));
  return withoutKnown(database, used);
}

const SEALED_COLUMNS = Object.entries(SEALED).flatMap(([table, own]) => own.map((column) => [table, column] as const));

/** Keys that values in one column are encrypted with. */
async function usedKeys(
  storeUrl: string,
  { kysely, kind }: Database<Tables>,
  [table, column]: (typeof SEALED_COLUMNS)[number],
  where: RawBuilder<unknown>,
  most: RawBuilder<unknown>,
): Promise<UsedKey[]> {
  const from = table === 'saved_plan_records' ? sql`saved_plan_records natural join saved_plans` : sql.table(table);
  const at = sql.ref(column);
  const key = sql<UsedKey>`tenant_id as "tenantId", substr(${at}, 8, 16) as "keyId"`;
  const rows = sql`select ${key} from ${from} where ${where} and substr(${at}, 1, 7) = ${MARK} ${most}`;
  const used = sql<UsedKey>`select distinct "tenantId", "keyId" from (${rows}) as used`;
  return kind === 'postgres' ? (await used.execute(kysely)).rows : readAside(storeUrl, used.compile(kysely));
}

/** Reads the known keys after the used ones: another process may just have made a key, and written with it. */
async function withoutKnown({ kysely }: Database<Tables>, used: readonly UsedKey[]): Promise<UsedKey[]> {
  if (used.length === 0) return [];
  const known = new Set((await kysely.selectFrom('data_keys').select('key_id').execute()).map((row) => row.key_id));
  return [...new Map(used.map((one) => [one.keyId, one])).values()].filter(({ keyId }) => !known.has(keyId));
}

/** On a connection of its own, because the caller may be in a transaction of the store. */
function readAside<Found>(storeUrl: string, { sql: text, parameters }: CompiledQuery<Found>): Found[] {
  if (isAbsent(storeUrl)) return [];
  const store = new DatabaseSync(storeUrl.slice('sqlite:'.length), { readOnly: true });
  try {
    return store.prepare(text).all(...(parameters as string[])) as Found[];
  } finally {
    store.close();
  }
}

function lostKey({ tenantId, keyId }: UsedKey): ConnectorError {
  return new ConnectorError({
    code: 'DATA_KEY_MISSING',
    action: 'retry',
    message:
      `Values of ${tenantId} are encrypted with data key ${keyId}, which is not there: keys.db was lost, is an ` +
      'old copy or of another installation, or the rows of data_keys were not restored (Postgres). Nothing of the ' +
      'tenant is encrypted with another key, because it would be lost once the right ones are back. End hirebridge, ' +
      'put keys.db or these rows back from their copy, and start it again. If there is no copy: ' +
      `hirebridge tenant remove ${tenantId} --erase`,
  });
}
