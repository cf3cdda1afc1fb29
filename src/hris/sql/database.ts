import type { Kysely, RawBuilder } from 'kysely';
import type { WriteOptions } from '../port.ts';
import type { SqlOptions } from './options.ts';

export type Row = Record<string, unknown>;
/** The customer's tables are known by configuration only. */
export type Tables = Record<string, Row>;

/**
 * Builds a write statement. It must carry the condition `guard`, false once the write's time is over by the database's
 * own clock.
 */
export type BuildWrite = (guard: RawBuilder<boolean>) => RawBuilder<unknown>;

/**
 * One database, by either driver. Reads go through `kysely`; a write is one statement, so it happens whole or not at
 * all.
 */
export interface SqlDatabase {
  readonly dialect: 'sqlite' | 'postgres';
  readonly kysely: Kysely<Tables>;
  /**
   * Runs one guarded statement. ConnectorError `unknown`: it was sent and no answer came; `retry`: nothing happened.
   */
  write(build: BuildWrite, options: WriteOptions): Promise<Row[]>;
  /** The same work; until it ends, the database is not idle. */
  whileUsed<T>(work: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** An open database and what the tenant file says of it. */
export interface SqlHris {
  database: SqlDatabase;
  options: SqlOptions;
}
