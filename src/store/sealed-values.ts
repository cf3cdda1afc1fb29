import { type KeyObject, randomBytes } from 'node:crypto';
import {
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  type RawBuilder,
  type RootOperationNode,
  sql,
  type UnknownRow,
} from 'kysely';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import type { Database } from '../sql/open-database.ts';
import { keyMissing, type MasterKeys, newKey, openKeys, seal, sealBroken, unseal } from '../vault/keys.ts';
import { assertKeysFit, assertNoneLost, hasNoKeys, MARK, openDataKeys, SEALED } from './data-keys.ts';
import type { Row, Tables } from './schema.ts';

// If HIREBRIDGE_KEYS is set, values of people are encrypted with a data key of their tenant. Writers pass such a value
// through `sealed`; readers get it decrypted, because a plugin does so as rows leave the database. With SQLite the data
// keys are outside the store, so that no copy of the store contains them.

type SealedColumn = {
  [Table in keyof typeof SEALED]: `${Table}.${(typeof SEALED)[Table][number]}`;
}[keyof typeof SEALED];

interface DataKey {
  keyId: string;
  tenantId: string;
  key: KeyObject;
}

/** Encrypts and decrypts the values of one store. */
export interface Sealing {
  keys: MasterKeys;
  storeUrl: string;
  /** Where the data keys are: `keys.db` beside a SQLite store, or the Postgres store itself. */
  database: Database<Tables>;
  plugin: KyselyPlugin;
  /**
   * The key that encrypts a tenant's values from now on; makes the first one.
   * @throws ConnectorError DATA_KEY_MISSING
   */
  current(tenantId: string): Promise<DataKey>;
  /** @throws ConnectorError KEY_DESTROYED, KEY_MISSING, SEAL_BROKEN */
  open(text: string): Promise<{ column: string; tenantId: string; plain: string }>;
  /** Forgets all data keys held in memory. */
  forget(): void;
}

/** How long another process may continue to encrypt with a replaced key. */
const CURRENT_MS = 5_000;
/** What stands for the text of a question that nobody can read any more. */
export const UNREADABLE = 'The data key of this text is gone, so that nobody can read it any more.';
const WITHOUT_VALUE: ReadonlySet<string> = new Set(['{}', '[]', 'null', '""', UNREADABLE]);

/**
 * Undefined if nothing is encrypted.
 * @throws ConnectorError KEY_MISSING if values are encrypted and this process lacks the key; KEYS_INVALID
 */
export async function openSealing(storeUrl: string, ref: string | undefined): Promise<Sealing | undefined> {
  const keys = openKeys(ref);
  if (keys === undefined && hasNoKeys(storeUrl)) return undefined;
  const database = await openDataKeys(storeUrl);
  try {
    await writeOut(database);
    const used = await database.kysely
      .selectFrom('data_keys')
      .select(['master_key', ({ fn }) => fn.max('key_id').as('key_id')])
      .groupBy('master_key')
      .execute();
    const [first] = used;
    if (keys === undefined && first !== undefined) throw keyMissing(first.master_key);
    const sealing = keys === undefined ? undefined : sealingOf(storeUrl, database, keys);
    // Check that each needed master key is available before anything begins.
    for (const { key_id: keyId } of used) await sealing?.key(keyId);
    if (sealing !== undefined) return sealing;
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}

/**
 * For a store that is being put back, whose data keys may still be elsewhere: undefined if they are.
 * @throws ConnectorError KEY_MISSING, KEYS_INVALID
 */
export async function openRestored(storeUrl: string, ref: string | undefined): Promise<Sealing | undefined> {
  return hasNoKeys(storeUrl) ? undefined : openSealing(storeUrl, ref);
}

/**
 * A question with its text opened, where the store is read as it stands. A text that no key opens is lost to whoever
 * changes the question: it may name the person who is taken out of it.
 */
export async function openedQuestion<Row extends Record<string, unknown>>(
  { sealing }: { sealing?: Sealing | undefined },
  question: Row,
): Promise<Row> {
  const text = String(question['message']);
  if (!text.startsWith(MARK)) return question;
  const opened = await sealing?.open(text).catch((error: unknown) => {
    if (!isConnectorError(error, 'KEY_DESTROYED')) throw error;
    return undefined;
  });
  return { ...question, message: opened?.plain ?? UNREADABLE };
}

function sealingOf(
  storeUrl: string,
  database: Sealing['database'],
  keys: MasterKeys,
): Sealing & { key(id: string): Promise<DataKey> } {
  const { kysely } = database;
  const known = new Map<string, DataKey>();
  const currents = new Map<string, { key: DataKey; until: number }>();
  const unwrapped = async (row: Row<'data_keys'>): Promise<DataKey> => {
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
    const made = await latest(database, tenantId);
    if (made !== undefined && recent === undefined) await assertKeysFit(storeUrl, database, tenantId);
    const found = await unwrapped(made ?? (await addDataKey({ storeUrl, database, keys }, tenantId)));
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
  return { keys, storeUrl, database, plugin: openingPlugin(open), key, current, open, forget };
}

/** What to store for a value of a person: encrypted if keys are set, otherwise unchanged. */
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

/** What an update of a tenant's row sets: columns that are sealed are encrypted if keys are set. */
export async function sealedSet(
  store: Parameters<typeof sealed>[0],
  table: string,
  tenantId: unknown,
  columns: Readonly<Record<string, unknown>>,
): Promise<RawBuilder<unknown>> {
  const own: readonly string[] = SEALED[table as keyof typeof SEALED] ?? [];
  const sets = Object.entries(columns).map(async ([column, value]) => {
    const isSealed = own.includes(column) && typeof value === 'string';
    const place = `${table}.${column}` as SealedColumn;
    return sql`${sql.ref(column)} = ${isSealed ? await sealed(store, place, String(tenantId), value) : value}`;
  });
  return sql.join(await Promise.all(sets));
}

/** Decrypts values in the rows of every statement; refuses one that belongs to another column or tenant. */
function openingPlugin(open: Sealing['open']): KyselyPlugin {
  const statements = new WeakMap<QueryId, RootOperationNode>();
  const openIn = async (row: UnknownRow, name: string, text: string, statement: unknown): Promise<void> => {
    const opened = await open(text).catch((error: unknown) => {
      // Questions of all tenants are read in one statement: the lost key of one must not hide everybody's.
      if (!isConnectorError(error, 'KEY_DESTROYED') || !isQuestion(statement, name)) throw error;
      return undefined;
    });
    if (opened === undefined) {
      row[name] = UNREADABLE;
      return;
    }
    const { column, tenantId, plain } = opened;
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

/** For a process without keys: refuses encrypted values, which would otherwise count as what a person wrote. */
export const withoutKeys: KyselyPlugin = openingPlugin((text) => {
  const [, keyId = ''] = text.split(':');
  return Promise.reject(keyMissing(keyId));
});

function isQuestion(statement: unknown, column: string): boolean {
  return column === 'message' && namesTable(statement, 'holds');
}

/** Whether a statement names a table: as an identifier if built, as a word if written as text. */
function namesTable(node: unknown, table: string): boolean {
  if (Array.isArray(node)) return node.some((one) => namesTable(one, table));
  if (typeof node !== 'object' || node === null) return false;
  if ('kind' in node && node.kind === 'IdentifierNode') return 'name' in node && node.name === table;
  if ('sqlFragments' in node && new RegExp(`\\b${table}\\b`).test(String(node.sqlFragments))) return true;
  return Object.values(node).some((one) => namesTable(one, table));
}

function latest({ kysely }: Sealing['database'], tenantId: string): Promise<Row<'data_keys'> | undefined> {
  const own = kysely.selectFrom('data_keys').selectAll().where('tenant_id', '=', tenantId);
  return own.orderBy('nth', 'desc').limit(1).executeTakeFirst();
}

/**
 * Adds a tenant's data key, which encrypts from now on. If two are made at once, the first one counts. `note` is called
 * before, with the key's id: the key may be in another file than what is noted, so no transaction has both.
 * @throws ConnectorError DATA_KEY_MISSING if an earlier one is not there: nobody could put it back beside the new one
 */
export async function addDataKey(
  { storeUrl, database, keys }: Pick<Sealing, 'storeUrl' | 'database' | 'keys'>,
  tenantId: string,
  note?: (keyId: string) => Promise<void>,
): Promise<Row<'data_keys'>> {
  await assertNoneLost(storeUrl, database, tenantId);
  const { kysely, now } = database;
  const nth = ((await latest(database, tenantId))?.nth ?? 0) + 1;
  const row = { key_id: randomBytes(8).toString('hex'), tenant_id: tenantId };
  const { keyId, bytes } = await keys.wrap(newKey(), about(row));
  await note?.(row.key_id);
  await kysely
    .insertInto('data_keys')
    .values({ ...row, nth, wrapped: bytes.toString('base64'), master_key: keyId, made_at: now, swept_at: null })
    .onConflict((c) => c.columns(['tenant_id', 'nth']).doNothing())
    .execute();
  await writeOut(database);
  return (await latest(database, tenantId)) as Row<'data_keys'>;
}

/** All data keys, or those of one tenant; the latest of each tenant comes first. */
export function listDataKeys({ database }: Sealing, tenantId?: string): Promise<Row<'data_keys'>[]> {
  const all = database.kysely.selectFrom('data_keys').selectAll().orderBy('tenant_id').orderBy('nth', 'desc');
  return (tenantId === undefined ? all : all.where('tenant_id', '=', tenantId)).execute();
}

/** Makes all encrypted values of the tenant unreadable from now on, including those in backups. */
export async function destroyDataKeys(sealing: Sealing, tenantId: string): Promise<void> {
  await sealing.database.kysely.deleteFrom('data_keys').where('tenant_id', '=', tenantId).execute();
  await writeOut(sealing.database);
  sealing.forget();
}

/** Empties SQLite's log into its file, so that a copy of the file has every key, and none that was destroyed. */
async function writeOut({ kysely, kind }: Sealing['database']): Promise<void> {
  if (kind === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(kysely);
}

/** Look again after this long: a process without the keys, such as one of the previous version, may have written. */
const SWEPT_MS = 86_400_000;
/** Rows in one transaction, so that nothing waits long for it. */
const BATCH = 200;

type Sweepable = Pick<Database<Tables>, 'kysely' | 'kind' | 'now'> & { sealing?: Sealing | undefined };

/**
 * Brings a tenant's encryption up to date: wraps data keys with the first master key, and encrypts values with the
 * latest data key, including values stored before there was a key. Returns how many values it encrypted. Repeating it
 * is harmless; values written in the meantime stay as written.
 */
export async function encryptTenant(store: Sweepable, tenantId: string, signal: AbortSignal): Promise<number> {
  const { sealing } = store;
  if (sealing === undefined) return 0;
  await sealing.current(tenantId);
  await rewrap(sealing, tenantId);
  const [newest] = await listDataKeys(sealing, tenantId);
  const now = await clockOf(sealing);
  if (newest === undefined || Number(newest.swept_at ?? 0) > now - SWEPT_MS) return 0;
  // Until then another process may still use the previous key.
  if (newest.made_at > now - CURRENT_MS) return 0;
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
  // Overwritten pages may still be in the log.
  if (store.kind === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(store.kysely);
  return count;
}

/** Encrypts some values of one column that are not under this key, in row order; `last` is undefined at the end. */
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
  // Bypasses the plugin, because the replacement is conditional on the stored text.
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

/** Rewraps data keys that another master key wraps with the first one. */
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
  return at;
}

function about({ key_id: keyId, tenant_id: tenantId }: Pick<Row<'data_keys'>, 'key_id' | 'tenant_id'>): string {
  return `${keyId} of ${tenantId}`;
}

function aboutValue(column: string, tenantId: string): string {
  return `${column} of ${tenantId}`;
}

function destroyed(keyId: string): ConnectorError {
  return rejected(
    'KEY_DESTROYED',
    `A value is encrypted with data key ${keyId}, which is not there: its tenant was erased, or keys.db is missing ` +
      'beside the store. Put keys.db back from its copy; where the tenant was erased, the value is gone for good.',
  );
}
