import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

/** A port on 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  return listenOnce(0);
}

/** The same below 32,768: Temporal keeps its services' ports in a column of Postgres' type smallint. */
export async function freeSmallPort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const free = await listenOnce(port).catch(() => undefined);
    if (free !== undefined) return free;
  }
}

async function listenOnce(wanted: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
