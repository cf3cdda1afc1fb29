import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

/** A port on loopback that was free a moment ago, for parts that must come back at the same address after a restart. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
