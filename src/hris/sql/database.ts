import { type Kysely, type RawBuilder, sql } from 'kysely';
import { ConnectorError, type ErrorAction } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../hire/hire.ts';
import type { Column } from '../option-types.ts';
import type { WriteOptions } from '../port.ts';
import { cellText, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { refOf, refuseFields } from '../records.ts';
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

/** Runs work on the open database until the signal aborts; every failure is a ConnectorError. */
export type Reach = <T>(signal: AbortSignal, work: (database: SqlDatabase) => Promise<T>) => Promise<T>;

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

/** Converts field values to column values; first refuses, by field name, values that no column can hold. */
export function toColumns(
  fields: EmployeeFields,
  options: { columns: Record<string, Column> },
): [column: string, value: unknown][] {
  assertHeld(fields, options);
  return Object.entries(fields).map(([key, value]) => [options.columns[key]?.column ?? key, cellOf(value)]);
}

/** A list is stored as JSON text. */
export function cellOf(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

/** @throws ConnectorError INVALID_VALUE, by the names of the fields that no column can hold */
export function assertHeld(fields: EmployeeFields, { columns }: { columns: Record<string, Column> }): void {
  const problems = Object.entries(fields).flatMap(([key, value]) => {
    // Postgres refuses a NUL character in text; in SQLite most readers would cut the text there.
    if (typeof value === 'string' && value.includes('\0')) return [[key, 'holds a NUL character']];
    return Object.hasOwn(columns, key) ? [] : [[key, 'is not a field of this HR system']];
  });
  if (problems.length > 0)
    throw refuseFields('INVALID_VALUE', 'The HRIS does not accept', Object.fromEntries(problems));
}

/** Converts a row's columns to field values; reports invalid values, and still reads the others. */
export function toFields(row: Row, options: { columns: Record<string, Column> }): ReadFields {
  return readFields(
    Object.entries(options.columns).map(([key, { column, type }]) => [key, readCell(type, row[column])]),
  );
}

export function toRef(row: Row, options: SqlOptions): EmployeeRef {
  return refOf(cellText(row[options.idColumn]), cellText(row[options.numberColumn]));
}

export const WRITE_MS = 15_000;

/** Half of the time that a write has left: until its latest start, and again for the statement itself. */
export function halfOf({ remainingMs }: WriteOptions): number {
  const half = Math.floor(Math.min(remainingMs?.() ?? WRITE_MS, WRITE_MS) / 2);
  if (half >= 1) return half;
  throw new ConnectorError({
    code: 'DEADLINE_PASSED',
    action: 'retry',
    message: 'The deadline of this write passed before it was sent; nothing was written.',
  });
}

/** `schema.table` as Postgres reads a name from a text: `"schema"."table"`. */
export function quotedName(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}

interface Meaning {
  code: string;
  action: ErrorAction;
  text: string;
}

const UNREACHABLE: Meaning = {
  code: 'HRIS_UNREACHABLE',
  action: 'retry',
  text: 'The HRIS database cannot be reached. Check that it runs and that hris.url names it',
};
/** The database works: our code cannot handle a value from it or for it. */
const FAULT: Meaning = {
  code: 'HRIS_ADAPTER_FAULT',
  action: 'retry',
  text: 'hirebridge could not handle a value of the HRIS database. The database works; report this fault',
};
const STOPPED: Meaning = {
  code: 'STOPPED',
  action: 'retry',
  text: 'The call to the HRIS database was stopped by the caller; nothing was written',
};
const BUSY: Meaning = { code: 'HRIS_BUSY', action: 'retry', text: 'The HRIS database was busy; nothing was written' };
const AUTH: Meaning = {
  code: 'HRIS_AUTH',
  action: 'reauthorize',
  text: 'The HRIS database refuses this user or its password. Check the secret behind hris.url',
};
const FORBIDDEN: Meaning = {
  code: 'HRIS_FORBIDDEN',
  action: 'reauthorize',
  text: 'The HRIS database user may not do this',
};
const MISCONFIGURED: Meaning = {
  code: 'HRIS_MISCONFIGURED',
  action: 'reject',
  text: 'The HRIS database has no such database, table or column',
};
const DUPLICATE: Meaning = {
  code: 'DUPLICATE_VALUE',
  action: 'reject',
  text: 'The HRIS already has a record with a value that must be unique',
};
const REQUIRED: Meaning = { code: 'MISSING_FIELD', action: 'reject', text: 'The HRIS requires a field that is empty' };
const GENERATED: Meaning = {
  code: 'INVALID_VALUE',
  action: 'reject',
  text: 'The HRIS database makes the value of a column itself. Set its field to null in the mapping',
};
const INVALID: Meaning = { code: 'INVALID_VALUE', action: 'reject', text: 'The HRIS does not accept a value' };

type Meanings = readonly (readonly [Meaning, ...codes: readonly (string | number)[]])[];

/** By SQLSTATE, or else by its class: its first two characters (Postgres, appendix A). */
const BY_SQLSTATE: Meanings = [
  [DUPLICATE, '23505'],
  [REQUIRED, '23502'],
  [FORBIDDEN, '42501'],
  [GENERATED, '428C9'],
  [AUTH, '28'],
  [BUSY, '57014', '25', '40', '53', '55'],
  [MISCONFIGURED, '3D000', '0A', '42'],
  // P0: a trigger in the HRIS raised an exception: treated like a violated constraint.
  [INVALID, '22', '23', '44', '54', 'P0'],
];

/** By SQLite's primary result code, or the extended one if it says more. */
const BY_SQLITE: Meanings = [
  [DUPLICATE, 1555, 2067],
  [REQUIRED, 1299],
  [INVALID, 19],
  [BUSY, 5, 6, 10, 13],
  [FORBIDDEN, 3, 8],
  [UNREACHABLE, 14],
  [MISCONFIGURED, 1, 26],
];

/** By MariaDB's error number, if its SQLSTATE says too little. */
const BY_MARIADB: Meanings = [
  [DUPLICATE, 1062],
  [REQUIRED, 1048, 1364],
  [INVALID, 1265, 1366, 1644],
  [GENERATED, 1906],
  [FORBIDDEN, 1044, 1142, 1143, 1370],
  [AUTH, 1130, 1820, 1862, 4151],
  [BUSY, 1040, 1203, 1205, 1226, 1290, 1317, 1836, 1969],
];

function meant(meanings: Meanings, ...codes: (string | number)[]): Meaning | undefined {
  const found = codes.map((code) => meanings.find(([, ...known]) => known.includes(code)));
  return found.find((row) => row !== undefined)?.[0];
}

/** Properties of drivers' errors; each driver sets some. */
interface DriverFacts {
  code?: unknown;
  errcode?: unknown;
  errno?: unknown;
  sqlState?: unknown;
  address?: unknown;
  hostname?: unknown;
  port?: unknown;
  column?: unknown;
  columns?: readonly string[];
  detail?: unknown;
  message?: unknown;
}

interface SqlErrorState {
  /** The write had left, so an end without the database's own verdict is `unknown`. */
  sent: boolean;
  /** Our user name, for the statement that grants a right. */
  user?: string | undefined;
}

/**
 * Translates a driver's error for the caller. Drops its text, because databases quote values; keeps codes, and names of
 * tables and columns.
 */
export function explainSqlError(error: unknown, state: SqlErrorState): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const facts = (error ?? {}) as DriverFacts;
  const meaning = meaningOf(facts);
  if (!meaning && state.sent)
    return new ConnectorError({
      code: 'OUTCOME_UNKNOWN',
      action: 'unknown',
      message: 'The write was sent to the HRIS database and no answer came. Check before writing again.',
    });
  const { code, action, text } =
    meaning ??
    (isOwnFault(error) ? FAULT : error instanceof Error && error.name === 'AbortError' ? STOPPED : UNREACHABLE);
  const columns = columnsOf(facts);
  const source =
    typeof facts.code === 'string' && facts.code !== 'ERR_SQLITE_ERROR'
      ? facts.code
      : typeof facts.errcode === 'number'
        ? `SQLite ${facts.errcode}`
        : 'no code';
  return new ConnectorError({
    code,
    action,
    message: `${text} (${[source, ...placeOf(facts), ...columns].join(', ')}).${nextStep(code, facts, state.user)}`,
    ...(columns.length === 0 ? {} : { details: Object.fromEntries(columns.map((column) => [column, text])) }),
  });
}

/** The address that failed, if the network error names it. */
function placeOf({ address, hostname, port }: DriverFacts): string[] {
  const host = address ?? hostname;
  if (typeof host !== 'string') return [];
  return [typeof port === 'number' ? `${host}:${port}` : host];
}

/** A name of a table or column, with its schema; nothing else of a message is repeated. */
const QUOTE = '[`"\']?';
const NAME = `${QUOTE}(?:\\w+${QUOTE}\\.${QUOTE})?[A-Za-z_]\\w*${QUOTE}`;

interface Missed {
  pattern: RegExp;
  what: (name: string, of?: string) => string;
}

/** Messages about missing things; specific ones first. */
const MISSED: readonly Missed[] = [
  { pattern: new RegExp(`column (${NAME}) of relation (${NAME}) does not exist`), what: columnOf },
  { pattern: new RegExp(`^column (${NAME}) does not exist`), what: (name) => `column ${name}` },
  { pattern: new RegExp(`relation (${NAME}) does not exist`), what: (name) => `table ${name}` },
  { pattern: new RegExp(`database (${NAME}) does not exist`), what: (name) => `database ${name}` },
  { pattern: new RegExp(`^Table (${NAME}) doesn't exist`), what: (name) => `table ${name}` },
  { pattern: new RegExp(`^Unknown column (${NAME})`), what: (name) => `column ${name}` },
  { pattern: new RegExp(`^Unknown database (${NAME})`), what: (name) => `database ${name}` },
  { pattern: new RegExp(`no such table: (${NAME})`), what: (name) => `table ${name}` },
  { pattern: new RegExp(`no such column: (${NAME})`), what: (name) => `column ${name}` },
  {
    pattern: new RegExp(`table (${NAME}) has no column named (${NAME})`),
    what: (table, name = '') => columnOf(name, table),
  },
];

function columnOf(name: string, table = ''): string {
  return `column ${name} of table ${table}`;
}

/** The next step for a missing name or right; empty if the server names neither. */
function nextStep(code: string, facts: DriverFacts, user: string | undefined): string {
  const message = typeof facts.message === 'string' ? facts.message : '';
  if (code === 'HRIS_FORBIDDEN') return rightStep(message, user);
  if (code !== 'HRIS_MISCONFIGURED') return '';
  for (const { pattern, what } of MISSED) {
    const [, name, of] = pattern.exec(message) ?? [];
    if (name === undefined) continue;
    const missing = what(plain(name), of === undefined ? undefined : plain(of));
    return ` There is no ${missing}. Compare the names under hris; hirebridge ddl TENANT prints what is missing.`;
  }
  return ' Compare hris.table, referenceColumn and fields with it.';
}

function rightStep(message: string, user = 'USER'): string {
  const [, kind = '', name] = new RegExp(`permission denied for (table|view|sequence|schema|column) (${NAME})`).exec(
    message,
  ) ?? [undefined, ''];
  if (name !== undefined) return ` ${grant(RIGHTS[kind] ?? 'select', `${ON[kind] ?? ''}${plain(name)}`, user)}`;
  const denied = new RegExp(
    `^([A-Z, ]+) command denied to user '([^']*)'@'([^']*)' for (?:table|column) (${NAME})(?: in table (${NAME}))?`,
  ).exec(message);
  if (denied === null) return ' It needs select and insert on the employees table, and update on its columns.';
  const [, right = '', who = '', , first = '', table] = denied;
  const of = table === undefined ? right.toLowerCase() : `${right.toLowerCase()} (${plain(first)})`;
  return ` ${grant(of, plain(table ?? first), `'${who}'@'%'`)}`;
}

const RIGHTS: Readonly<Record<string, string>> = {
  table: 'select, insert, update',
  view: 'select',
  sequence: 'usage',
  schema: 'usage',
};
const ON: Readonly<Record<string, string>> = { sequence: 'sequence ', schema: 'schema ' };

/** A statement to copy. */
export function grant(rights: string, on: string, user: string): string {
  return `Have its owner run: grant ${rights} on ${on} to ${user};`;
}

function plain(name: string): string {
  return name.replaceAll(/[`"']/g, '');
}

/** An error of our own code is not an outage. An invalid address is the tenant file's fault. */
function isOwnFault(error: unknown): boolean {
  const kinds = [TypeError, RangeError, SyntaxError, ReferenceError];
  return kinds.some((kind) => error instanceof kind) && (error as DriverFacts).code !== 'ERR_INVALID_URL';
}

/** Only the server's verdict on the statement counts: 57P0x and 08 end the connection and say nothing about it. */
function meaningOf(facts: DriverFacts): Meaning | undefined {
  if (/^cannot (INSERT into|UPDATE) generated column/.test(String(facts.message))) return GENERATED;
  if (typeof facts.errcode === 'number') return meant(BY_SQLITE, facts.errcode, facts.errcode & 0xff);
  if (typeof facts.sqlState === 'string') return meant(BY_MARIADB, Number(facts.errno)) ?? bySqlstate(facts.sqlState);
  return typeof facts.code === 'string' && /^[0-9A-Z]{5}$/.test(facts.code) ? bySqlstate(facts.code) : undefined;
}

function bySqlstate(state: string): Meaning | undefined {
  return meant(BY_SQLSTATE, state, state.slice(0, 2));
}

/** Messages of SQLite and MariaDB that name the columns at fault; a quoted value must not match. */
const NAMED_COLUMNS: readonly RegExp[] = [
  /(?:UNIQUE|NOT NULL) constraint failed: (.+)$/,
  /^Column '([^']+)' cannot be null$/,
  /^Field '([^']+)' doesn't have a default value$/,
  /for column (?:`[^`]*`\.)*[`']([^`']+)[`'] at row \d+$/,
  /generated column ['"]([^'"]+)['"](?: in table '[^']+' has been ignored)?$/,
  /^(?:cannot insert a non-DEFAULT value into column|column) "([^"]+)"(?: can only be updated to DEFAULT)?$/,
];

/** Columns at fault: from the column itself, the key, the key's description, or the message. */
function columnsOf(facts: DriverFacts): string[] {
  if (typeof facts.column === 'string') return [facts.column];
  if (facts.columns !== undefined) return [...facts.columns];
  const key =
    typeof facts.detail === 'string'
      ? /^Key \((?:lower\()?([\w", ]+?)(?:::text)?\)+=/.exec(facts.detail)?.[1]
      : undefined;
  if (key !== undefined) return key.split(',').map((name) => name.trim().replaceAll('"', ''));
  const message = typeof facts.message === 'string' ? facts.message : '';
  const failed = NAMED_COLUMNS.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined);
  return failed === undefined ? [] : failed.split(',').map((name) => name.trim().split('.').at(-1) ?? '');
}
