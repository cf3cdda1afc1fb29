import { type RawBuilder, sql } from 'kysely';
import type { SqlOptions } from './options.ts';

/** The column of a table made by us that says when a row was changed. */
export function changeColumn({ changes }: SqlOptions, type: keyof typeof NOW): RawBuilder<unknown> {
  return changes === undefined
    ? sql``
    : sql`${sql.ref(changes.column)} ${sql.raw(type)} not null default ${sql.raw(NOW[type])},`;
}

/** MariaDB updates the column itself. */
const NOW = {
  timestamptz: 'clock_timestamp()',
  real: "(unixepoch('subsec'))",
  'timestamp(6)': 'current_timestamp(6) on update current_timestamp(6)',
} as const;

/** Sets the column at every update that does not set it itself. */
export function sqliteChangeTrigger({ table, idColumn, changes }: SqlOptions): RawBuilder<unknown>[] {
  if (changes === undefined) return [];
  const [column, id] = [sql.ref(changes.column), sql.ref(idColumn)];
  return [
    sql`create trigger if not exists ${sql.table(`${table}_changed`)} after update on ${sql.table(table)}
      when new.${column} is old.${column}
      begin update ${sql.table(table)} set ${column} = unixepoch('subsec') where ${id} = new.${id}; end`,
  ];
}

export function postgresChangeTrigger({ table, changes }: SqlOptions): RawBuilder<unknown>[] {
  if (changes === undefined) return [];
  const name = sql.table(`${table}_changed`);
  const column = sql.ref(changes.column);
  return [
    sql`create or replace function ${name}() returns trigger language plpgsql as
      $$ begin new.${column} := clock_timestamp(); return new; end $$`,
    sql`create or replace trigger ${name} before update on ${sql.table(table)}
      for each row execute function ${name}()`,
  ];
}
