import { type RawBuilder, sql } from 'kysely';
import type { SqlDatabase } from './database.ts';
import type { SqlOptions } from './options.ts';

/**
 * Whether a new row gets an employee number, as far as the table shows: the column is the key, has a default, is
 * generated, or a trigger runs on insert. Assumed true for a view, and for MariaDB, which hides triggers from most
 * users.
 */
export async function givesNumber({ kysely, dialect }: SqlDatabase, options: SqlOptions): Promise<boolean> {
  const { table, idColumn, numberColumn, job } = options;
  if (dialect === 'mariadb' || job !== undefined || numberColumn === idColumn) return true;
  const { rows } = await QUERIES[dialect](table, numberColumn).execute(kysely);
  const [row] = rows;
  return row === undefined || Number(row.filled) === 1;
}

type Query = RawBuilder<{ filled: number | boolean }>;

const QUERIES: Record<Exclude<SqlDatabase['dialect'], 'mariadb'>, (table: string, column: string) => Query> = {
  postgres: (table, column) => {
    const quoted = table
      .split('.')
      .map((part) => `"${part}"`)
      .join('.');
    return sql`
      select case when a.atthasdef or a.attidentity <> '' or exists (
        select 1 from pg_trigger where tgrelid = c.oid and not tgisinternal and tgtype & 4 = 4
      ) then 1 else 0 end as filled
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.oid = to_regclass(${quoted}) and c.relkind in ('r', 'p') and a.attname = ${column}`;
  },
  sqlite: (table, column) => {
    const name = table.split('.').at(-1) ?? table;
    return sql`
      select case when x.dflt_value is not null or x.hidden <> 0 or x.pk = 1 or exists (
        select 1 from sqlite_master where type = 'trigger' and tbl_name = ${name} and lower(sql) like '% insert on %'
      ) then 1 else 0 end as filled
      from pragma_table_xinfo(${name}) x join sqlite_master m on m.type = 'table' and m.name = ${name}
      where x.name = ${column}`;
  },
};
