import pg from 'pg';
import { within } from '../within.ts';
import { createConnection } from './postgres-pool.ts';

export interface Listening {
  /** Whether what is told now is likely to be heard. */
  isHearing(): boolean;
  close(): Promise<void>;
}

const RECONNECT_MS = 1_000;
/** Nothing is asked on this connection otherwise: what fell silent would pass for nothing told. */
const ASK_EVERY_MS = 5_000;
const ASK_MS = 3_000;
/** A database that does not answer keeps nobody from closing for longer. */
const CLOSE_MS = 1_000;

/**
 * Calls `onHeard` soon after a transaction that notified `channel` (`pg_notify`) was committed. It is a hint and no
 * promise: a pooler may keep notifications back, and those sent while the connection is lost are missed. SQLite cannot
 * notify; its `data_version` moves with each write of this process as well, so that a poll of it would fire after every
 * step of a hire.
 */
export function listen(url: string, channel: string, onHeard: () => void): Listening {
  return url.startsWith('sqlite:')
    ? { isHearing: () => false, close: async () => undefined }
    : listenOnPostgres(url, channel, onHeard);
}

function listenOnPostgres(url: string, channel: string, onHeard: () => void): Listening {
  let timer: NodeJS.Timeout | undefined;
  let asking: NodeJS.Timeout | undefined;
  let closed = false;
  let hearing = false;
  let client = connect();

  function connect(): ReturnType<typeof createConnection> {
    const next = createConnection(url, ASK_MS);
    next.on('notification', onHeard);
    // Said for the first attempt, and whenever the connection is lost.
    next.on('end', () => next === client && reconnectLater());
    void begin(next);
    return next;
  }

  async function begin(next: ReturnType<typeof createConnection>): Promise<void> {
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch {
      next.drop();
      reconnectLater();
      return;
    }
    hearing = true; // and what was told before was not heard
    onHeard();
    asking = setInterval(() => void next.query('select 1').catch(() => next.drop()), ASK_EVERY_MS);
  }

  function reconnectLater(): void {
    hearing = false;
    clearInterval(asking);
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => {
      client = connect();
    }, RECONNECT_MS);
  }

  return {
    isHearing: () => hearing,
    async close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(asking);
      await within(
        CLOSE_MS,
        client.end().catch(() => undefined),
      );
      client.drop();
    },
  };
}
