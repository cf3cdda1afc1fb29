import { type KeyObject, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Kysely,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  type RootOperationNode,
  sql,
  type UnknownRow,
} from 'kysely';
import { ConnectorError } from '../errors.ts';
import { type Database, openDatabase } from '../sql/open-database.ts';
import { keyMissing, type MasterKeys, newKey, openKeys, seal, sealBroken, unseal } from '../vault/keys.ts';
import { up as makeTable } from './migrations/widening/0181-data-keys.ts';
import type { Tables } from './schema.ts';
import type { DataKeyTable } from './tenant-tables.ts';

// Values of people are encrypted with a data key of their tenant where HIREBRIDGE_KEYS is set. Whoever writes such a
// value gives it through `sealed`; whoever reads one finds it opened, because that happens where rows leave the
// database. Data keys stand outside a store in SQLite, so that no copy of the store has them.

/** Columns that hold people's values and are compared with nothing. */
export const SEALED = {
  exchange_pairs: ['bases', 'sent', 'echoes'],
  field_conflicts: ['partner_form', 'hris_form', 'partner_value', 'hris_value'],
  foreign_writes: ['changes'],
  intents: ['pinned'],
  jobs: ['record'],
  lookup_rows: ['fields'],
  plans: ['change'],
  saved_plan_records: ['change'],
} as const;

export type SealedColumn = {
  [Table in keyof typeof SEALED]: `${Table}.${(typeof SEALED)[Table][number]}`;
}[keyof typeof SEALED];

interface DataKey {
  keyId: string;
  tenantId: string;
  key: KeyObject;
}

/** What encrypts and opens the values of one store. */
export interface Sealing {
  keys: MasterKeys;
  /** Where the data keys stand: `keys.db` beside a store in SQLite, the store's own database in Postgres. */
  database: Database<Tables>;
  plugin: KyselyPlugin;
  /** The key that encrypts values of a tenant from now on; the first one is made here. */
  current(tenantId: string): Promise<DataKey>;
  /** @throws ConnectorError KEY_DESTROYED, KEY_MISSING, SEAL_BROKEN */
  open(text: string): Promise<{ column: string; tenantId: string; plain: string }>;
  /** Nothing of these keys is remembered any more. */
  forget(): void;
}

/** What an encrypted value begins with; behind it stand the ids of its key and column. */
const MARK = 'sealed:';
/** So long another process may go on encrypting with a key that was replaced. */
const CURRENT_MS = 5_000;
const WITHOUT_VALUE: ReadonlySet<string> = new Set(['{}', '[]', 'null', '""']);

/**
 * Undefined where nothing is encrypted.
 * @throws ConnectorError KEY_MISSING where values are, and this process has no key for them; KEYS_INVALID
 */
export async function openSealing(storeUrl: string, ref: string | undefined): Promise<Sealing | undefined> {
  const keys = openKeys(ref);
  const url = keysUrl(storeUrl);
  if (keys === undefined && url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length))) return undefined;
  const database = openDatabase<Tables>(url, { ownerOnly: true, poolSize: 1 });
  try {
    if (database.kind === 'sqlite') await makeTable(database.kysely as unknown as Kysely<unknown>);
    const used = await database.kysely
      .selectFrom('data_keys')
      .select(['master_key', ({ fn }) => fn.max('key_id').as('key_id')])
      .groupBy('master_key')
      .execute();
    const [first] = used;
    if (keys === undefined && first !== undefined) throw keyMissing(first.master_key);
    const sealing = keys === undefined ? undefined : sealingOf(database, keys);
    // Each master key that is needed is there, before anything begins.
    for (const { key_id: keyId } of used) await sealing?.key(keyId);
    if (sealing !== undefined) return sealing;
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}

function keysUrl(storeUrl: string): string {
  const [, file] = /^sqlite:(.+)$/.exec(storeUrl) ?? [];
  return file === undefined || file === ':memory:' ? storeUrl : `sqlite:${join(dirname(file), 'keys.db')}`;
}

function sealingOf(database: Sealing['database'], keys: MasterKeys): Sealing & { key(id: string): Promise<DataKey> } {
  const { kysely } = database;
  const known = new Map<string, DataKey>();
  const currents = new Map<string, { key: DataKey; until: number }>();
  const unwrapped = async (row: DataKeyTable): Promise<DataKey> => {
    const found = known.get(row.key_id);
    if (found !== undefined) return found;
    const wrapped = { keyId: row.master_key, bytes: Buffer.from(row.wrapped, 'base64') };
    const key = await keys.unwrap(wrapped, about(row));
    const made = { keyId: row.key_id, tenantId: row.tenant_id, key };
    known.set(row.key_id, made);
    return made;
  };
  const key = async (keyId: string): Promise<DataKey> => {
    const found = known.get(keyId);
    if (found !== undefined) return found;
    const row = await kysely.selectFrom('data_keys').selectAll().where('key_id', '=', keyId).executeTakeFirst();
    if (row === undefined) throw destroyed(keyId);
    return unwrapped(row);
  };
  const current = async (tenantId: string): Promise<DataKey> => {
    const recent = currents.get(tenantId);
    if (recent !== undefined && recent.until > performance.now()) return recent.key;
    const row = (await latest(database, tenantId)) ?? (await addDataKey({ database, keys }, tenantId));
    const found = await unwrapped(row);
    currents.set(tenantId, { key: found, until: performance.now() + CURRENT_MS });
    return found;
  };
  const open: Sealing['open'] = async (text) => {
    const [, keyId = '', column = '', value = ''] = text.split(':');
    const { tenantId, key: bytes } = await key(keyId);
    const plain = unseal(bytes, Buffer.from(value, 'base64'), aboutValue(column, tenantId));
    return { column, tenantId, plain: plain.toString() };
  };
  const forget = (): void => {
    known.clear();
    currents.clear();
  };
  return { keys, database, plugin: openingPlugin(open), key, current, open, forget };
}

/**
 * What is to be written in place of a value of a person: encrypted where keys are set, else as it is.
 */
export async function sealed<Text extends string | null>(
  { sealing }: { sealing?: Sealing | undefined },
  column: SealedColumn,
  tenantId: string,
  text: Text,
): Promise<Text | string> {
  if (sealing === undefined || text === null || WITHOUT_VALUE.has(text)) return text;
  const { keyId, key } = await sealing.current(tenantId);
  const value = seal(key, Buffer.from(text), aboutValue(column, tenantId));
  return `${MARK}${keyId}:${column}:${value.toString('base64')}`;
}

/** Opens values in the rows of every statement; one that stands in another column or tenant's row is refused. */
function openingPlugin(open: Sealing['open']): KyselyPlugin {
  const statements = new WeakMap<QueryId, RootOperationNode>();
  const openIn = async (row: UnknownRow, name: string, text: string, statement: unknown): Promise<void> => {
    const { column, tenantId, plain } = await open(text);
    const [table = '', own] = column.split('.');
    const isOfRow = row['tenant_id'] === undefined || row['tenant_id'] === tenantId;
    if (own !== name || !isOfRow || !namesTable(statement, table)) throw sealBroken(`${column} of ${tenantId}`);
    row[name] = plain;
  };
  return {
    transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
      statements.set(queryId, node);
      return node;
    },
    async transformResult({ result, queryId }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
      for (const row of result.rows)
        for (const name in row) {
          const text = row[name];
          if (typeof text === 'string' && text.startsWith(MARK)) await openIn(row, name, text, statements.get(queryId));
        }
      return result;
    },
  };
}

/** Whether a statement is about a table: built, as an identifier; spelt out, as a word. */
function namesTable(node: unknown, table: string): boolean {
  if (Array.isArray(node)) return node.some((one) => namesTable(one, table));
  if (typeof node !== 'object' || node === null) return false;
  if ('kind' in node && node.kind === 'IdentifierNode') return 'name' in node && node.name === table;
  if ('sqlFragments' in node && new RegExp(`\\b${table}\\b`).test(String(node.sqlFragments))) return true;
  return Object.values(node).some((one) => namesTable(one, table));
}

function latest({ kysely }: Sealing['database'], tenantId: string): Promise<DataKeyTable | undefined> {
  const own = kysely.selectFrom('data_keys').selectAll().where('tenant_id', '=', tenantId);
  return own.orderBy('nth', 'desc').limit(1).executeTakeFirst();
}

/** A new data key of a tenant, which encrypts from now on. Of two that are made at once the first counts. */
export async function addDataKey(
  { database, keys }: Pick<Sealing, 'database' | 'keys'>,
  tenantId: string,
): Promise<DataKeyTable> {
  const { kysely, now } = database;
  const nth = ((await latest(database, tenantId))?.nth ?? 0) + 1;
  const row = { key_id: randomBytes(8).toString('hex'), tenant_id: tenantId };
  const { keyId, bytes } = await keys.wrap(newKey(), about(row));
  await kysely
    .insertInto('data_keys')
    .values({ ...row, nth, wrapped: bytes.toString('base64'), master_key: keyId, made_at: now, swept_at: null })
    .onConflict((c) => c.columns(['tenant_id', 'nth']).doNothing())
    .execute();
  return (await latest(database, tenantId)) as DataKeyTable;
}

/** All data keys, or those of a tenant, the latest of each first. */
export function listDataKeys({ database }: Sealing, tenantId?: string): Promise<DataKeyTable[]> {
  const all = database.kysely.selectFrom('data_keys').selectAll().orderBy('tenant_id').orderBy('nth', 'desc');
  return (tenantId === undefined ? all : all.where('tenant_id', '=', tenantId)).execute();
}

/** Nothing of the tenant that stands encrypted anywhere, backups among it, can be read from now on. */
export async function destroyDataKeys(sealing: Sealing, tenantId: string): Promise<void> {
  const { kysely, kind } = sealing.database;
  await kysely.deleteFrom('data_keys').where('tenant_id', '=', tenantId).execute();
  if (kind === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(kysely);
  sealing.forget();
}

/** A process without the keys, such as one of the version before, may have written meanwhile: looked for again. */
const SWEPT_MS = 86_400_000;
/** Rows a transaction: nothing else waits long for one. */
const BATCH = 200;

type Sweepable = Pick<Database<Tables>, 'kysely' | 'kind' | 'now'> & { sealing?: Sealing | undefined };

/**
 * Brings a tenant's values up to date: data keys under the first master key, and values under the latest data key, also
 * those that were written before there was one. Gives how many values it encrypted. Repeating it is harmless, and what
 * is written meanwhile stays as it was written.
 */
export async function encryptTenant(store: Sweepable, tenantId: string, signal: AbortSignal): Promise<number> {
  const { sealing } = store;
  if (sealing === undefined) return 0;
  await sealing.current(tenantId);
  await rewrap(sealing, tenantId);
  const [newest] = await listDataKeys(sealing, tenantId);
  const now = await clockOf(sealing);
  if (newest === undefined || Number(newest.swept_at ?? 0) > now - SWEPT_MS) return 0;
  // Until then another process may go on with the key of before.
  if (Number(newest.made_at) > now - CURRENT_MS) return 0;
  sealing.forget();
  let count = 0;
  for (const [table, columns] of Object.entries(SEALED))
    for (const column of columns) {
      const place = { table, column, tenantId, keyId: newest.key_id };
      for (let after: string | undefined = ''; after !== undefined; ) {
        if (signal.aborted) return count;
        const some = await encryptSome({ ...store, sealing }, place, after);
        count += some.count;
        after = some.last;
      }
    }
  const { kysely, now: sweptAt } = sealing.database;
  await kysely.updateTable('data_keys').set({ swept_at: sweptAt }).where('key_id', '=', newest.key_id).execute();
  // Pages that were overwritten may stand in the log still.
  if (store.kind === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(store.kysely);
  return count;
}

/** Some values of one column that are not under this key, in the order of rows; `last` is missing at their end. */
async function encryptSome(
  { kysely, kind, sealing }: Sweepable & { sealing: Sealing },
  { table, column, tenantId, keyId }: { table: string; column: string; tenantId: string; keyId: string },
  after: string,
): Promise<{ count: number; last: string | undefined }> {
  const place = `${table}.${column}` as SealedColumn;
  const row = sql.ref(kind === 'postgres' ? 'ctid' : 'rowid');
  const own = table === 'saved_plan_records' ? sql`plan_hash in (${plansOf(tenantId)})` : sql`tenant_id = ${tenantId}`;
  const asText = kind === 'postgres' ? sql`${row}::text` : row;
  const isBehind = kind === 'postgres' ? sql`${row} > ${after || '(0,0)'}::tid` : sql`${row} > ${Number(after)}`;
  // Past the plugin, because what stands there is compared with when it is replaced.
  const raw = kysely.withoutPlugins();
  const { rows } = await sql<{ row: string; text: string }>`
    select ${asText} as row, ${sql.ref(column)} as text from ${sql.table(table)}
    where ${isBehind} and ${own} and ${sql.ref(column)} is not null
      and ${sql.ref(column)} not like ${`${MARK}${keyId}:%`}
      and ${sql.ref(column)} not in (${sql.join([...WITHOUT_VALUE])})
    order by ${row} limit ${sql.lit(BATCH)}`.execute(raw);
  const fresh = await Promise.all(
    rows.map(async ({ row: at, text }) => {
      const plain = text.startsWith(MARK) ? (await sealing.open(text)).plain : text;
      return { at, text, value: await sealed({ sealing }, place, tenantId, plain) };
    }),
  );
  await raw.transaction().execute(async (trx) => {
    for (const { at, text, value } of fresh) {
      const isRow = kind === 'postgres' ? sql`${row} = ${at}::tid` : sql`${row} = ${at}`;
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value}
        where ${isRow} and ${sql.ref(column)} = ${text}`.execute(trx);
    }
  });
  return { count: rows.length, last: rows.length < BATCH ? undefined : rows.at(-1)?.row };
}

function plansOf(tenantId: string) {
  return sql`select plan_hash from saved_plans where tenant_id = ${tenantId}`;
}

/** Data keys that another master key wraps are wrapped by the first one. */
async function rewrap(sealing: Sealing, tenantId: string): Promise<void> {
  const { keys, database } = sealing;
  for (const row of await listDataKeys(sealing, tenantId)) {
    if (row.master_key === keys.currentId()) continue;
    const bytes = Buffer.from(row.wrapped, 'base64');
    const again = await keys.wrap(await keys.unwrap({ keyId: row.master_key, bytes }, about(row)), about(row));
    await database.kysely
      .updateTable('data_keys')
      .set({ wrapped: again.bytes.toString('base64'), master_key: again.keyId })
      .where('key_id', '=', row.key_id)
      .where('wrapped', '=', row.wrapped)
      .execute();
  }
}

async function clockOf({ database: { kysely, now } }: Sealing): Promise<number> {
  const { at } = await kysely.selectNoFrom(now.as('at')).executeTakeFirstOrThrow();
  return Number(at);
}

function about({ key_id: keyId, tenant_id: tenantId }: Pick<DataKeyTable, 'key_id' | 'tenant_id'>): string {
  return `${keyId} of ${tenantId}`;
}

function aboutValue(column: string, tenantId: string): string {
  return `${column} of ${tenantId}`;
}

function destroyed(keyId: string): ConnectorError {
  return new ConnectorError({
    code: 'KEY_DESTROYED',
    action: 'reject',
    message:
      `A value is encrypted with data key ${keyId}, which is not there: its tenant was erased, or keys.db is missing ` +
      'beside the store. Put keys.db back from its copy; where the tenant was erased, the value is gone for good.',
  });
}
