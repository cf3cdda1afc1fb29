import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { WriteOptions } from '../port.ts';
import type { SqlOptions } from './options.ts';

export type Row = Record<string, unknown>;
/** The customer's tables are known only from the configuration. */
export type Tables = Record<string, Row>;

/** One statement that writes one row. */
export interface SqlWrite {
  table: string;
  /**
   * The statement, without `returning`. It must contain the condition `guard`, which is false once the write's time is
   * over by the database's own clock.
   */
  build(guard: RawBuilder<boolean>): RawBuilder<unknown>;
  /** Columns of the written row to return. */
  returned: readonly string[];
  /** For an insert: how to find its row if the database does not return it. */
  inserted?: { idColumn: string; reference?: { column: string; value: string } };
}

/**
 * One database through one of the drivers. Reads use `kysely`; a write is one statement, so it happens completely or
 * not at all.
 */
export interface SqlDatabase {
  readonly dialect: 'sqlite' | 'postgres' | 'mariadb';
  readonly kysely: Kysely<Tables>;
  /**
   * Runs one guarded statement and returns the rows it wrote. ConnectorError `unknown`: it was sent and no answer came;
   * `retry`: nothing happened.
   */
  write(one: SqlWrite, options: WriteOptions): Promise<Row[]>;
  /** Returns `work`; until it ends, the database does not count as idle. */
  whileUsed<T>(work: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** An open database and its options in the tenant file. */
export interface SqlHris {
  database: SqlDatabase;
  options: SqlOptions;
}

/** The whole statement, for databases that can return written rows. */
export function returning({ build, returned }: SqlWrite, guard: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`${build(guard)} returning ${sql.join(returned.map((column) => sql.ref(column)))}`;
}

/** A column as text, compared by its exact characters: keys are compared this way, whatever their type or collation. */
export function asText({ dialect }: Pick<SqlDatabase, 'dialect'>, column: string): RawBuilder<string> {
  return dialect === 'mariadb'
    ? sql<string>`cast(${sql.ref(column)} as char) collate utf8mb4_nopad_bin`
    : sql<string>`cast(${sql.ref(column)} as text)`;
}
