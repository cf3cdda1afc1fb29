import { type RawBuilder, sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import { nearest } from '../../nearest.ts';
import type { DescribedField } from '../port.ts';
import type { SqlDatabase } from './database.ts';
import { describeTable } from './describe.ts';
import { openSqlDatabase } from './open-database.ts';
import { explainSqlError } from './sql-errors.ts';

/** A table as a database shows it to a first-time visitor. */
export interface OwnTable {
  name: string;
  columns: OwnColumn[];
}

export interface OwnColumn extends Pick<DescribedField, 'type' | 'required' | 'options' | 'maxLength'> {
  name: string;
  /** Part of the primary key. */
  isKey: boolean;
  /** Values of a few rows as text, because existing values show what a column means. Personal data. */
  samples: string[];
}

const MOST_TABLES = 100;
const SAMPLE_ROWS = 20;

/**
 * The tables of a database with their columns, or one table. Reads only.
 * @throws ConnectorError TABLE_UNKNOWN, TOO_MANY_TABLES, or why it cannot be reached
 */
export async function readOwnTables(url: string, only?: string): Promise<OwnTable[]> {
  const database = openSqlDatabase(url);
  try {
    return await database.whileUsed(readAll(database, only));
  } catch (error) {
    throw isConnectorError(error) ? error : explainSqlError(error, { sent: false });
  } finally {
    await database.close();
  }
}

async function readAll(database: SqlDatabase, only: string | undefined): Promise<OwnTable[]> {
  const names = (await tableNames(database)).toSorted();
  if (only !== undefined && !names.includes(only)) {
    const near = nearest(only, names);
    const meant =
      near === undefined ? `It shows: ${names.slice(0, MOST_TABLES).join(', ') || 'none'}.` : `Did you mean "${near}"?`;
    throw refused('TABLE_UNKNOWN', `The database shows no table ${only}. ${meant}`);
  }
  if (only === undefined && names.length > MOST_TABLES)
    throw refused(
      'TOO_MANY_TABLES',
      `This database shows ${names.length} tables. Name the one of employees with --table, or connect as a user who ` +
        'sees only that one.',
    );
  const tables: OwnTable[] = [];
  for (const name of only === undefined ? names : [only]) tables.push(await readTable(database, name));
  return tables;
}

function refused(code: string, message: string): ConnectorError {
  return new ConnectorError({ code, action: 'reject', message });
}

async function readTable(database: SqlDatabase, name: string): Promise<OwnTable> {
  const described = await describeTable(database, name, {});
  const keys = new Set(await keyColumns(database, name));
  const rows = await sampleRows(database, name);
  const columns = described.map(({ label, type, required, options, maxLength }) => ({
    name: label,
    type,
    required,
    ...(options === undefined ? {} : { options }),
    ...(maxLength === undefined ? {} : { maxLength }),
    isKey: keys.has(label),
    samples: rows.flatMap((row) => asText(row[label])),
  }));
  return { name, columns };
}

/** Binary values and documents reveal nothing about a column's meaning. */
function asText(value: unknown): string[] {
  if (value instanceof Date) return [value.toISOString()];
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? [String(value)] : [];
}

/** A user who may not read rows still gets the columns. */
async function sampleRows({ kysely }: SqlDatabase, table: string): Promise<Record<string, unknown>[]> {
  const query = sql<Record<string, unknown>>`select * from ${sql.table(table)} limit ${sql.lit(SAMPLE_ROWS)}`;
  return query.execute(kysely).then(
    ({ rows }) => rows,
    () => [],
  );
}

async function keyColumns({ dialect, kysely }: SqlDatabase, table: string): Promise<string[]> {
  const [name = table, schema = null] = table.split('.').toReversed();
  const queries: Record<SqlDatabase['dialect'], RawBuilder<{ name: string }>> = {
    postgres: sql`select a.attname as name from pg_index i
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
      where i.indisprimary and i.indrelid = to_regclass(${table
        .split('.')
        .map((part) => `"${part}"`)
        .join('.')})`,
    mariadb: sql`select column_name as name from information_schema.columns
      where table_schema = coalesce(${schema}, database()) and table_name = ${name} and column_key = 'PRI'`,
    sqlite: sql`select name from pragma_table_info(${name}) where pk > 0`,
  };
  return (await queries[dialect].execute(kysely)).rows.map((row) => row.name);
}

/** Tables and views that this user sees, with their schema if it is needed. */
export async function tableNames({ dialect, kysely }: SqlDatabase): Promise<string[]> {
  return (await TABLES[dialect].execute(kysely)).rows.map(({ name }) => name);
}

const TABLES: Record<SqlDatabase['dialect'], RawBuilder<{ name: string }>> = {
  postgres: sql`select case when n.nspname = any (current_schemas(false)) then c.relname
      else n.nspname || '.' || c.relname end as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')`,
  mariadb: sql`select table_name as name from information_schema.tables where table_schema = database()`,
  sqlite: sql`select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'`,
};
