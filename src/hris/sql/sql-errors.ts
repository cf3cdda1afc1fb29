import { ConnectorError, type ErrorAction } from '../../errors.ts';

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
/** Nothing is wrong with the database: what came from it, or was meant for it, is not what our code is made for. */
const FAULT: Meaning = {
  code: 'HRIS_ADAPTER_FAULT',
  action: 'retry',
  text: 'hirebridge failed on what the HRIS database gave or was to be given. The database works; report this fault',
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
const INVALID: Meaning = { code: 'INVALID_VALUE', action: 'reject', text: 'The HRIS does not accept a value' };

/** By SQLSTATE, the longest prefix first (Postgres, appendix A). */
const BY_SQLSTATE: readonly (readonly [string, Meaning])[] = [
  ['23505', DUPLICATE],
  ['23502', REQUIRED],
  ['42501', FORBIDDEN],
  ['3D000', MISCONFIGURED],
  ['57014', BUSY],
  ['0A', MISCONFIGURED],
  ['22', INVALID],
  ['23', INVALID],
  ['25', BUSY],
  ['28', AUTH],
  ['40', BUSY],
  ['42', MISCONFIGURED],
  ['44', INVALID],
  ['53', BUSY],
  ['54', INVALID],
  ['55', BUSY],
  // A trigger over there raised an exception: a verdict like any constraint's.
  ['P0', INVALID],
];

/** By SQLite's primary result code, and the extended one where that says more. */
const BY_SQLITE: Record<number, Meaning> = {
  2067: DUPLICATE,
  1555: DUPLICATE,
  1299: REQUIRED,
  19: INVALID,
  5: BUSY,
  6: BUSY,
  13: BUSY,
  10: BUSY,
  8: FORBIDDEN,
  3: FORBIDDEN,
  14: UNREACHABLE,
  26: MISCONFIGURED,
  1: MISCONFIGURED,
};

/** By MariaDB's error number, where its SQLSTATE says too little. */
const BY_MARIADB: Record<number, Meaning> = {
  1062: DUPLICATE,
  1048: REQUIRED,
  1364: REQUIRED,
  1265: INVALID,
  1366: INVALID,
  1644: INVALID,
  1044: FORBIDDEN,
  1142: FORBIDDEN,
  1143: FORBIDDEN,
  1370: FORBIDDEN,
  1130: AUTH,
  1820: AUTH,
  1862: AUTH,
  4151: AUTH,
  1040: BUSY,
  1203: BUSY,
  1205: BUSY,
  1226: BUSY,
  1290: BUSY,
  1317: BUSY,
  1836: BUSY,
  1969: BUSY,
};

/** What drivers put on their errors, each some of it. */
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

export interface SqlErrorState {
  /** The write had left, so an end without the database's own verdict is `unknown`. */
  sent: boolean;
  /** Who we are there, for the statement that grants a right. */
  user?: string | undefined;
}

/**
 * What a driver's error means to the caller. Nothing of its text is kept, because databases quote values; codes and
 * names of tables and columns are.
 */
export function explainSqlError(error: unknown, state: SqlErrorState): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const facts = (error ?? {}) as DriverFacts;
  const meaning = meaningOf(facts);
  if (!meaning && state.sent)
    return new ConnectorError({
      code: 'OUTCOME_UNKNOWN',
      action: 'unknown',
      message: 'The write was sent to the HRIS database and no answer came. Look before writing again.',
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

/** The address that was tried, where the network says so. */
function placeOf({ address, hostname, port }: DriverFacts): string[] {
  const host = address ?? hostname;
  if (typeof host !== 'string') return [];
  return [typeof port === 'number' ? `${host}:${port}` : host];
}

/** A name of a table or column, with its schema; whatever else stands in a message is not repeated. */
const QUOTE = '[`"\']?';
const NAME = `${QUOTE}(?:\\w+${QUOTE}\\.${QUOTE})?[A-Za-z_]\\w*${QUOTE}`;

interface Missed {
  pattern: RegExp;
  what: (name: string, of?: string) => string;
}

/** What the servers say is not there; the specific ones first. */
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

/** What to do about a name that is not there, or a right that is missing; nothing where the server names neither. */
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

/** As a statement to copy. */
export function grant(rights: string, on: string, user: string): string {
  return `Have its owner run: grant ${rights} on ${on} to ${user};`;
}

function plain(name: string): string {
  return name.replaceAll(/[`"']/g, '');
}

/** An error of our own code is no outage. An address that is none is the tenant file's. */
function isOwnFault(error: unknown): boolean {
  const kinds = [TypeError, RangeError, SyntaxError, ReferenceError];
  return kinds.some((kind) => error instanceof kind) && (error as DriverFacts).code !== 'ERR_INVALID_URL';
}

/** Only the server's own verdict counts: 57P0x and 08 end the connection and say nothing about the statement. */
function meaningOf(facts: DriverFacts): Meaning | undefined {
  if (typeof facts.errcode === 'number') return BY_SQLITE[facts.errcode] ?? BY_SQLITE[facts.errcode & 0xff];
  if (typeof facts.sqlState === 'string') return BY_MARIADB[Number(facts.errno)] ?? bySqlstate(facts.sqlState);
  return typeof facts.code === 'string' && /^[0-9A-Z]{5}$/.test(facts.code) ? bySqlstate(facts.code) : undefined;
}

function bySqlstate(state: string): Meaning | undefined {
  return BY_SQLSTATE.find(([prefix]) => state.startsWith(prefix))?.[1];
}

/** What SQLite and MariaDB say of the columns to blame; a value that is quoted may not pass for it. */
const NAMED_COLUMNS: readonly RegExp[] = [
  /(?:UNIQUE|NOT NULL) constraint failed: (.+)$/,
  /^Column '([^']+)' cannot be null$/,
  /^Field '([^']+)' doesn't have a default value$/,
  /for column (?:`[^`]*`\.)*[`']([^`']+)[`'] at row \d+$/,
];

/** Names of the columns to blame: from the column itself, the key, the key's description, or the message. */
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
