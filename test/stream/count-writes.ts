import { DatabaseSync } from 'node:sqlite';

/** Rows written to a SQLite file by whichever process, counted by triggers in the file itself. */
export interface WriteCounter {
  /** By table, since the last call. */
  take(): Record<string, number>;
}

/** Puts a trigger on every table that is there; `only` names some of them. */
export function countWrites(file: string, only?: readonly string[]): WriteCounter {
  const database = open(file);
  database.exec('create table if not exists row_writes (name text primary key, n integer not null)');
  const tables = database
    .prepare(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name <> 'row_writes'",
    )
    .all()
    .map((row) => String(row['name']))
    .filter((name) => only === undefined || only.includes(name));
  for (const table of tables)
    for (const verb of ['insert', 'update', 'delete'])
      database.exec(
        `create trigger if not exists count_${verb}_${table} after ${verb} on "${table}" begin
           insert into row_writes values ('${table}', 1) on conflict (name) do update set n = n + 1;
         end`,
      );
  database.close();
  return {
    take() {
      const reader = open(file);
      const rows = reader.prepare('delete from row_writes returning name, n').all();
      reader.close();
      return Object.fromEntries(rows.map((row) => [String(row['name']), Number(row['n'])]));
    },
  };
}

/** Of all tables. */
export function sumOfRows(byTable: Readonly<Record<string, number>>): number {
  return Object.values(byTable).reduce((sum, count) => sum + count, 0);
}

function open(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec('pragma busy_timeout = 10000');
  return database;
}
