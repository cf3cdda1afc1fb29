import { ConnectorError, type ErrorFacts } from '../errors.ts';

/** Work that needs the database is tried again after this long, however long the database was away. */
export const AGAIN_MS = 3_000;

/** `database`: how to name it, with the code that it gave. */
type Trouble = (database: string) => ErrorFacts;

const full: Trouble = (database) => ({
  code: 'DATABASE_FULL',
  action: 'retry',
  message: `${database} has no room. Make room on its disk; processes that run then go on by themselves.`,
});

const failed: Trouble = (database) => ({
  code: 'DATABASE_FAILED',
  action: 'retry',
  message:
    `${database} cannot be opened, read or written. Make sure that its disk is not full and works, that it is a ` +
    'file, and that this user may read and write it and its folder.',
});

const damaged: Trouble = (database) => ({
  code: 'DATABASE_DAMAGED',
  action: 'retry',
  message:
    `${database} is damaged, or is not a SQLite database at all. Name the right one with --data or ` +
    'HIREBRIDGE_STORE_URL, or put a backup back: hirebridge restore FILE',
});

const readOnly: Trouble = (database) => ({
  code: 'DATABASE_READ_ONLY',
  action: 'retry',
  message:
    `${database} is read-only. Let this user write to its file and folder; of Postgres, name the primary server ` +
    'instead of a standby, with default_transaction_read_only off.',
});

const locked: Trouble = (database) => ({
  code: 'DATABASE_LOCKED',
  action: 'retry',
  message: `${database} is locked by another process, such as a shell or a copy. End that, and try again.`,
});

const waited: Trouble = (database) => ({
  code: 'DATABASE_LOCKED',
  action: 'retry',
  message:
    `${database}: another session holds a lock for longer than lock_timeout: VACUUM FULL, a change of tables, or a ` +
    'transaction that somebody forgot. Find it by pg_blocking_pids() in pg_stat_activity, and end it or wait; what ' +
    'waits for it then goes on by itself.',
});

const slow: Trouble = (database) => ({
  code: 'DATABASE_SLOW',
  action: 'retry',
  // Ever later: it has too much to do already.
  retryAfterMs: undefined,
  message:
    `${database} ended a statement, because it took longer than statement_timeout or because somebody cancelled it. ` +
    'See in pg_stat_activity what the server is busy with. It is tried again.',
});

/** What a database says of itself and not of a statement: by SQLite's primary result code, or Postgres' SQLSTATE. */
const TROUBLES: Readonly<Record<string | number, Trouble>> = {
  5: locked,
  8: readOnly,
  10: failed,
  11: damaged,
  13: full,
  14: failed,
  26: damaged,
  25006: readOnly,
  53100: full,
  '55P03': waited,
  57014: slow,
};

/** An error about the database itself, for people; any other error as it is, because callers know its code. */
export function explainTrouble(error: unknown, file?: string): unknown {
  const { errcode, code } = (error ?? {}) as { errcode?: unknown; code?: unknown };
  const [given, name] =
    typeof errcode === 'number'
      ? [errcode & 0xff, `${file ?? 'The database'} (SQLite ${errcode})`]
      : [String(code), `The database (${String(code)})`];
  const facts = TROUBLES[given]?.(name);
  return facts === undefined ? error : new ConnectorError({ retryAfterMs: AGAIN_MS, ...facts, cause: error });
}
