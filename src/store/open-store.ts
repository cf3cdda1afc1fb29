import { randomBytes } from 'node:crypto';
import {
  DeleteQueryNode,
  type DeleteResult,
  type Expression,
  type ExpressionBuilder,
  type FilterObject,
  type InsertObject,
  InsertQueryNode,
  type InsertResult,
  type JoinBuilder,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  type RawBuilder,
  RawNode,
  type RootOperationNode,
  type SelectQueryBuilder,
  type SqlBool,
  type StringReference,
  sql,
  type UnknownRow,
  UpdateQueryNode,
  type UpdateResult,
} from 'kysely';
import { ConnectorError, isConnectorError } from '../errors.ts';
import type { HireRef } from '../hire/hire.ts';
import { type Database, type OpenOptions, openDatabase } from '../sql/open-database.ts';
import { within } from '../within.ts';
import { bringUpToDate, type Migrate } from './migrate.ts';
import type { Tables } from './schema.ts';
import { openSealing, type Sealing, withoutKeys } from './sealed-values.ts';

/** The store's tables, migrated or not. */
export type StoreTables = Database<Tables>;

export interface Store extends StoreTables {
  /**
   * Prefix of every task queue, workflow id and schedule id, so that a worker with another store never receives our
   * tasks.
   */
  installationId: string;
  /** Encrypts and decrypts people's values; absent if they are stored in clear. */
  sealing?: Sealing;
}

export interface OpenStoreOptions extends OpenOptions {
  plugins?: KyselyPlugin[];
  migrate?: Migrate;
  /** The reference to the keys of people's values, if any. Without `keys`, do not read or write such values. */
  keys?: { ref: string | undefined };
}

/**
 * Opens the store at `sqlite:FILE` or `postgres://...` and updates its tables. Several processes may do so at once.
 * @throws ConnectorError STORE_UNREACHABLE, and those of `bringUpToDate` and `openSealing`
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { migrate = 'always', keys, ...rest } = options;
  const database = openDatabase<Tables>(url, { ...rest, ownerOnly: true });
  try {
    await bringUpToDate(url, database, migrate);
    const installationId = await readInstallationId(database);
    if (keys === undefined) return { ...database, installationId };
    const sealing = await openSealing(url, keys.ref);
    if (sealing === undefined) return { ...database, kysely: database.kysely.withPlugin(withoutKeys), installationId };
    const close = async (): Promise<void> => {
      await Promise.all([database.close(), sealing.database.close()]);
    };
    return { ...database, kysely: database.kysely.withPlugin(sealing.plugin), installationId, sealing, close };
  } catch (error) {
    await database.close();
    if (!isConnectorError(error)) throw storeUnreachable(database.kind, error);
    throw error.code === 'DATABASE_UNREACHABLE' ? storeUnreachable(database.kind, error.cause) : error;
  }
}

/** Opens the tables without reading any, for commands that must work while another process locks them. */
export function openTables(url: string): StoreTables {
  return openDatabase<Tables>(url, { ownerOnly: true, poolSize: 1 });
}

/**
 * The database's clock, read once for each statement. Postgres does not use an index for comparing with a clock that
 * may move between two rows, and would scan the whole index.
 */
export function onceNow({ now }: StoreTables): RawBuilder<number> {
  return sql<number>`(select ${now})`;
}

const ANSWERS_MS = 1_000;

/** For readiness: why the store is unusable now; undefined if it answers within a second and takes writes. */
export async function storeTrouble({ kysely }: Store, unwritten: string | undefined): Promise<string | undefined> {
  const asked = sql`select 1`.execute(kysely).then(() => 'it answers', describe);
  const said = await within(ANSWERS_MS, asked);
  if (said === undefined) return 'the database does not answer within a second';
  if (said !== 'it answers') return `the database cannot be used: ${said}`;
  return unwritten === undefined ? undefined : `the database answers, but its last write failed (${unwritten})`;
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

/** Locks only at the very first start, so that two processes agree on one id. */
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

/** Calls `pass` directly before and after every write to the store, with a name made of verb and table. */
export function writeFailpoints(pass: (point: string) => void): KyselyPlugin {
  const writing = new WeakMap<QueryId, string>();
  return {
    transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
      const name = nameOf(node);
      if (name !== undefined) {
        writing.set(queryId, name);
        pass(`${name}/before`);
      }
      return node;
    },
    async transformResult({ result, queryId }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
      const name = writing.get(queryId);
      if (name !== undefined) pass(`${name}/after`);
      return result;
    },
  };
}

function nameOf(node: RootOperationNode): string | undefined {
  if (InsertQueryNode.is(node)) return `store.insert.${tableOf(node.into)}`;
  if (UpdateQueryNode.is(node)) return `store.update.${tableOf(node.table)}`;
  if (DeleteQueryNode.is(node)) return `store.delete.${tableOf(node.from)}`;
  if (RawNode.is(node)) return nameOfText(node.sqlFragments.join(' '));
  return undefined;
}

/** Names a write given as text; if it begins with another one (`with`), the last one counts. */
function nameOfText(text: string): string | undefined {
  const [, verb, table] =
    /^\s*(?:with\b[^]*\)\s*)?(insert|update|delete)\b(?:\s+(?:into|from))?\s*"?(\w*)/i.exec(text) ?? [];
  return verb === undefined ? undefined : `store.${verb.toLowerCase()}.${table || 'unknown'}`;
}

/** Finds the table's name in a query node. */
function tableOf(node: unknown): string {
  if (typeof node !== 'object' || node === null) return 'unknown';
  if ('kind' in node && node.kind === 'IdentifierNode' && 'name' in node) return String(node.name);
  for (const key of ['table', 'identifier', 'node', 'froms'] as const) {
    const inner = (node as Record<string, unknown>)[key];
    if (inner !== undefined) return tableOf(Array.isArray(inner) ? inner[0] : inner);
  }
  return 'unknown';
}

/** Does the work in one transaction: the caller's, if there is one. */
export async function inTransaction<Of extends StoreTables, T>(store: Of, work: (store: Of) => Promise<T>): Promise<T> {
  if (store.kysely.isTransaction) return work(store);
  return store.kysely.transaction().execute((kysely) => work({ ...store, kysely }));
}

/** Milliseconds by the database's clock. */
export async function readClock(store: Store): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${store.now} as now`.execute(store.kysely);
  return Number(rows[0]?.now);
}

type Fits<Columns, DB, TB extends keyof DB> =
  keyof Columns extends StringReference<DB, TB> ? (Columns extends FilterObject<DB, TB> ? unknown : never) : never;

/**
 * For `where`: rows with these values in these columns. The type checker compares both with the query's tables, and
 * refuses a value that may be undefined, because Kysely would leave its condition out.
 */
export function has<const Columns extends object>(columns: Columns) {
  return <DB, TB extends keyof DB>(eb: ExpressionBuilder<DB, TB> & Fits<Columns, DB, TB>): Expression<SqlBool> =>
    eb.and(columns as never);
}

/**
 * For `$call`: like `has`, for a filter. It leaves out a column without a value, and takes any value of a list; without
 * any value the query stays as it is.
 */
export function given<const Columns extends object>(columns: Columns) {
  return <DB, TB extends keyof DB, O>(
    query: SelectQueryBuilder<DB, TB, O> & (keyof Columns extends StringReference<DB, TB> ? unknown : never),
  ): SelectQueryBuilder<DB, TB, O> => {
    let chosen: SelectQueryBuilder<DB, TB, O> = query;
    for (const [column, value] of Object.entries(columns) as [StringReference<DB, TB>, unknown][]) {
      const operator = Array.isArray(value) ? 'in' : value === null ? 'is' : '=';
      if (value !== undefined) chosen = chosen.where(column, operator, value as never);
    }
    return chosen;
  };
}

/** The columns that name a hire in every table, for `values` and `has`. */
export function hireColumns({ tenantId, jobCandidateId, period }: HireRef) {
  return { tenant_id: tenantId, job_candidate_id: jobCandidateId, period };
}

/** For `where`: rows of this hire. */
export function ofHire(hire: HireRef) {
  return has(hireColumns(hire));
}

/** The hire that a row names in these columns. */
export function hireOf(row: { tenant_id: string; job_candidate_id: string; period: number }): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

/** Rows or ids for one statement each: databases limit its parameters. */
export function batchesOf<T>(all: readonly T[], most = 1_000): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) => all.slice(n * most, (n + 1) * most));
}

/** All rows that `read` finds for some of the ids at a time. */
export async function readInBatches<Id, Found>(
  ids: readonly Id[],
  read: (some: Id[]) => Promise<Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const some of batchesOf(ids)) found.push(...(await read(some)));
  return found;
}

/** Inserts rows, the last one of each key. Of a row whose key is there already, only the columns in `set` change. */
export async function put<Table extends keyof Tables>(
  { kysely }: Pick<StoreTables, 'kysely'>,
  table: Table,
  rows: readonly InsertObject<Tables, Table>[],
  { key, set }: { key: readonly Column<Table>[]; set: readonly Column<Table>[] },
): Promise<void> {
  // One of the tables stands for all of them in the types.
  const own = table as 'hints';
  const all = rows as readonly InsertObject<Tables, 'hints'>[];
  const keys = key as readonly Column<'hints'>[];
  const changed = Object.fromEntries(set.map((column) => [column, sql.ref(`excluded.${column}`)]));
  // Postgres refuses a statement that writes one row twice.
  const once = new Map(all.map((row) => [JSON.stringify(keys.map((column) => row[column])), row]));
  for (const some of batchesOf([...once.values()]))
    await kysely
      .insertInto(own)
      .values(some)
      .onConflict((c) => (set.length === 0 ? c.columns(keys).doNothing() : c.columns(keys).doUpdateSet(changed)))
      .execute();
}

type Column<Table extends keyof Tables> = keyof Tables[Table] & string;

/** How many rows a query finds. */
export async function countOf<DB, TB extends keyof DB>(query: SelectQueryBuilder<DB, TB, object>): Promise<number> {
  const counted = query.select((eb) => eb.fn.countAll<number>().as('count'));
  return ((await counted.executeTakeFirstOrThrow()) as { count: number }).count;
}

/** Whether a query finds a row. */
export async function findsAny(query: { executeTakeFirst(): Promise<unknown> }): Promise<boolean> {
  return (await query.executeTakeFirst()) !== undefined;
}

/** The tenants of the rows that a query finds. */
export async function tenantsIn(query: { execute(): Promise<{ tenant_id: string }[]> }): Promise<Set<string>> {
  return new Set((await query.execute()).map((row) => row.tenant_id));
}

/** Runs an insert, an update or a deletion. Returns how many rows it changed. */
export async function changedRows(change: {
  executeTakeFirst(): Promise<InsertResult | UpdateResult | DeleteResult>;
}): Promise<number> {
  const result = await change.executeTakeFirst();
  if ('numInsertedOrUpdatedRows' in result) return Number(result.numInsertedOrUpdatedRows ?? 0n);
  return Number('numUpdatedRows' in result ? result.numUpdatedRows : result.numDeletedRows);
}

/** Runs an insert, an update or a deletion: whether it changed a row. */
export async function didChange(change: Parameters<typeof changedRows>[0]): Promise<boolean> {
  return (await changedRows(change)) > 0;
}

/** For joins: both rows, named by table or alias, are about the same hire. */
export function sameHire(one: string, other: string) {
  const columns = ['tenant_id', 'job_candidate_id', 'period'];
  const equal = columns.map((column) => sql`${sql.ref(`${one}.${column}`)} = ${sql.ref(`${other}.${column}`)}`);
  return <DB, TB extends keyof DB>(join: JoinBuilder<DB, TB>): JoinBuilder<DB, TB> =>
    join.on(sql<boolean>`${sql.join(equal, sql` and `)}`);
}

/** The rows of a query, locked until the transaction ends; SQLite's transactions exclude one another anyway. */
export function locked<Query extends { forUpdate(): Query }>({ kind }: StoreTables, query: Query): Query {
  return kind === 'postgres' ? query.forUpdate() : query;
}

/** What retention leaves in a JSON column; the ids in other columns stay. */
export const PURGED = '{}';

/** The content of a column, or `purged` once retention has cleared it. */
export function readKept<Kept>(column: string): Kept | 'purged' {
  return column === PURGED ? 'purged' : (JSON.parse(column) as Kept);
}

/**
 * Begins a statement: `known` lists the tenants that have rows in a table, and ends with a null. Each tenant costs one
 * step in an index that begins with the tenant, however many rows it has; `group by` would read all rows.
 */
export function withTenantsOf(table: 'inbox' | 'hints', where: RawBuilder<boolean>): RawBuilder<unknown> {
  const first = sql`select min(tenant_id) from ${sql.table(table)} as rest where ${where}`;
  return sql`with recursive known (tenant_id) as (
    ${first}
    union all
    select (${first} and rest.tenant_id > known.tenant_id) from known where known.tenant_id is not null
  )`;
}
