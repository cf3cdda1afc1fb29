import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { within } from '../within.ts';

export interface Listening {
  close(): Promise<void>;
}

/** A file has no way to tell: it is asked so often whether another connection wrote, which takes microseconds. */
const ASK_FILE_MS = 10;
const RECONNECT_MS = 1_000;
/** A database that does not answer keeps nobody from closing for longer. */
const CLOSE_MS = 1_000;

/**
 * Calls `onHeard` soon after somebody committed what is told of on `channel` (`pg_notify`), with SQLite after any
 * commit. A hint and no promise: a pooler may keep it back, and what is told while the connection is lost is not heard.
 */
export function listen(url: string, channel: string, onHeard: () => void): Listening {
  return url.startsWith('sqlite:')
    ? watchFile(url.slice('sqlite:'.length), onHeard)
    : listenOnPostgres(url, channel, onHeard);
}

function watchFile(file: string, onHeard: () => void): Listening {
  const database = new DatabaseSync(file, { readOnly: true });
  const version = database.prepare('pragma data_version');
  let known: unknown;
  const read = (): unknown => {
    try {
      return version.get()?.['data_version'];
    } catch {
      return known;
    }
  };
  known = read();
  const timer = setInterval(() => {
    const now = read();
    if (now === known) return;
    known = now;
    onHeard();
  }, ASK_FILE_MS);
  return {
    async close() {
      clearInterval(timer);
      if (database.isOpen) database.close();
    },
  };
}

function listenOnPostgres(url: string, channel: string, onHeard: () => void): Listening {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let client = connect();

  function connect(): pg.Client {
    const next = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true });
    next.on('notification', onHeard);
    // Said for the first attempt, and whenever the connection is lost.
    next.on('error', () => undefined);
    next.on('end', reconnectLater);
    next
      .connect()
      .then(() => next.query(`listen ${pg.escapeIdentifier(channel)}`).catch(() => next.end()), reconnectLater);
    return next;
  }

  function reconnectLater(): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => {
      client = connect();
    }, RECONNECT_MS);
  }

  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await within(
        CLOSE_MS,
        client.end().catch(() => undefined),
      );
    },
  };
}
