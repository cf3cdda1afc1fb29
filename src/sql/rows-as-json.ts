import { type RawBuilder, sql } from 'kysely';

type JsonDialect = 'sqlite' | 'postgres';

/**
 * Selects rows passed as one JSON parameter, each value in its column's type in `table`. A parameter for each value
 * would cost the client more than the write costs the database: a page of a hundred rows has over a thousand.
 */
export function selectRows(
  dialect: JsonDialect,
  table: string,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): RawBuilder<unknown> {
  return selectJson(dialect, table, columns, JSON.stringify(rows));
}

/** Like `selectRows`, for a list that is JSON already. */
export function selectJson(
  dialect: JsonDialect,
  table: string,
  columns: readonly string[],
  json: string,
): RawBuilder<unknown> {
  if (dialect === 'postgres') {
    const all = sql.join(columns.map((column) => sql.ref(column)));
    return sql`select ${all} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`;
  }
  const all = sql.join(columns.map((column) => sql`value ->> ${sql.lit(`$."${column}"`)} as ${sql.ref(column)}`));
  // Without a condition, SQLite would parse the `on` of `on conflict` as a join's.
  return sql`select ${all} from json_each(${json}) where true`;
}

/** A NUL character, or half of a surrogate pair: Postgres refuses either, and the whole statement with it. */
export function hasEscapeUnknownToPostgres(json: string): boolean {
  if (!json.includes('\\u')) return false;
  const escapes = json.replaceAll('\\\\', ' ').replaceAll(/\\ud[89ab]..\\ud[c-f]../gi, ' ');
  return /\\u(?:0000|d[89a-f])/i.test(escapes);
}

/** Whether a column holds one of these values, passed as one parameter. */
export function isAmong(dialect: JsonDialect, column: string, values: readonly string[]): RawBuilder<boolean> {
  return dialect === 'postgres'
    ? sql<boolean>`${sql.ref(column)} = any(${values})`
    : sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}
