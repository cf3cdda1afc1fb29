import { type RawBuilder, sql } from 'kysely';
import type { IdsOptions, RemoveOptions } from '../port.ts';
import { asText, type SqlDatabase } from './database.ts';
import { describeTable } from './describe.ts';
import { GONE_AT, landingKeys as key, type LandingTable } from './landing-options.ts';

/** Ids in one statement. */
const MOST_IDS = 500;

/** Whether rows can be marked as gone: a customer's table may be older than that column. */
export async function hasMarks(database: SqlDatabase, { table }: LandingTable): Promise<boolean> {
  return (await describeTable(database, table, {})).some(({ label }) => label === GONE_AT);
}

/** Ids of a tenant's rows; a row marked as gone has no hash. */
export async function readIds(
  { kysely, dialect }: Pick<SqlDatabase, 'kysely' | 'dialect'>,
  { table, columns }: LandingTable,
  { tenant, after, most, withGone = false, naming }: Omit<IdsOptions, 'signal'>,
): Promise<string[]> {
  const isBehind = after === undefined ? sql`` : sql`and ${sql.ref(key.id)} > ${after}`;
  const isThere = withGone ? sql`` : sql`and ${sql.ref(key.hash)} <> ''`;
  const { rows } = await sql<{ id: string }>`select ${sql.ref(key.id)} as id from ${sql.table(table)}
    where ${sql.ref(key.tenant)} = ${tenant} ${isThere} ${isBehind} ${doesName(dialect, columns, naming)}
    order by ${sql.ref(key.id)} limit ${sql.lit(most)}`.execute(kysely);
  return rows.map(({ id }) => id);
}

/** A column that is not text may show a value in another form, so every row might match then. */
function doesName(
  dialect: SqlDatabase['dialect'],
  columns: LandingTable['columns'],
  naming: IdsOptions['naming'],
): RawBuilder<unknown> {
  if (naming === undefined) return sql``;
  const named = naming.fields.flatMap((field) => columns[field] ?? []);
  if (named.some(({ type }) => type !== 'text')) return sql``;
  if (named.length === 0 || naming.values.length === 0) return sql`and 1 = 0`;
  const holds = named.map(({ column }) => sql`${asText({ dialect }, column)} in (${sql.join(naming.values)})`);
  return sql`and (${sql.join(holds, sql` or `)})`;
}

/** Removes the marks of rows that are back. */
export async function unmarkRows(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  { table }: LandingTable,
  ids: readonly string[],
  tenant: string,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`update ${sql.table(table)} set ${sql.ref(GONE_AT)} = null
    where ${sql.ref(key.tenant)} = ${tenant} and ${sql.ref(key.id)} in (${sql.join(ids)})`.execute(kysely);
}

/** A marked row loses its hash, so that it is written again when its record is back. */
export async function removeRows(
  { kysely }: SqlDatabase,
  { table }: LandingTable,
  ids: readonly string[],
  { tenant, mark }: Omit<RemoveOptions, 'signal'>,
): Promise<void> {
  const verb = mark
    ? sql`update ${sql.table(table)} set ${sql.ref(GONE_AT)} = current_timestamp, ${sql.ref(key.hash)} = ''`
    : sql`delete from ${sql.table(table)}`;
  for (let from = 0; from < ids.length; from += MOST_IDS) {
    const some = sql.join(ids.slice(from, from + MOST_IDS));
    await sql`${verb} where ${sql.ref(key.tenant)} = ${tenant} and ${sql.ref(key.id)} in (${some})`.execute(kysely);
  }
}
