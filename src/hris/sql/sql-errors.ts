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
  text: 'The HRIS database user may not do this. Grant select and insert on the employees table',
};
const MISCONFIGURED: Meaning = {
  code: 'HRIS_MISCONFIGURED',
  action: 'reject',
  text:
    'The HRIS database has no such database, table or column. Compare hris.table, referenceColumn and fields ' +
    'with it',
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

/**
 * What a driver's error means to the caller. Nothing of its text is kept, because databases quote values; columns and
 * codes are. `sent`: the write had left, so an end without the database's own verdict is `unknown`.
 */
export function explainSqlError(error: unknown, state: { sent: boolean }): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const facts = (error ?? {}) as {
    code?: unknown;
    errcode?: unknown;
    column?: unknown;
    detail?: unknown;
    message?: unknown;
  };
  const meaning = meaningOf(facts);
  if (!meaning && state.sent)
    return new ConnectorError({
      code: 'OUTCOME_UNKNOWN',
      action: 'unknown',
      message: 'The write was sent to the HRIS database and no answer came. Look before writing again.',
    });
  const { code, action, text } =
    meaning ?? (error instanceof Error && error.name === 'AbortError' ? STOPPED : UNREACHABLE);
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
    message: `${text} (${[source, ...columns].join(', ')}).`,
    ...(columns.length === 0 ? {} : { details: Object.fromEntries(columns.map((column) => [column, text])) }),
  });
}

/** Only the server's own verdict counts: 57P0x and 08 end the connection and say nothing about the statement. */
function meaningOf(facts: { code?: unknown; errcode?: unknown }): Meaning | undefined {
  if (typeof facts.errcode === 'number') return BY_SQLITE[facts.errcode] ?? BY_SQLITE[facts.errcode & 0xff];
  const state = typeof facts.code === 'string' && /^[0-9A-Z]{5}$/.test(facts.code) ? facts.code : '';
  return BY_SQLSTATE.find(([prefix]) => state.startsWith(prefix))?.[1];
}

/** Names of the columns to blame: from the column itself, the key's description, or SQLite's `failed: table.column`. */
function columnsOf(facts: { column?: unknown; detail?: unknown; message?: unknown }): string[] {
  if (typeof facts.column === 'string') return [facts.column];
  const key =
    typeof facts.detail === 'string'
      ? /^Key \((?:lower\()?([\w", ]+?)(?:::text)?\)+=/.exec(facts.detail)?.[1]
      : undefined;
  if (key !== undefined) return key.split(',').map((name) => name.trim().replaceAll('"', ''));
  const failed =
    typeof facts.message === 'string'
      ? /(?:UNIQUE|NOT NULL) constraint failed: (.+)$/.exec(facts.message)?.[1]
      : undefined;
  return failed === undefined ? [] : failed.split(',').map((name) => name.trim().split('.').at(-1) ?? '');
}
