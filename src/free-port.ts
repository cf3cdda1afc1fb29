import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The kernel uses ports from 32,768 up for outgoing connections (Linux; 49,152 elsewhere). One of these might be taken
 * before the caller listens on it, so choose below. Temporal stores ports as smallint in Postgres, which ends there,
 * too.
 */
const FIRST = 10_000;
const BEYOND = 32_768;
/** Node's `fetch` refuses it (https://fetch.spec.whatwg.org/#port-blocking). */
const REFUSED = 10_080;
const MOST_TRIES = 100;

/** A port that was free a moment ago, for a process that needs its address before it starts. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(FIRST, BEYOND);
    if (port === REFUSED) continue;
    try {
      await assertFree(host, port);
      return port;
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
    }
  }
}

/** Throws the error of `listen` if the port is in use. */
export async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
