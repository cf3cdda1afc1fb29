import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A wire between us and a database, with the three ways an answer gets lost. Each is armed for the next bytes we send. */
export interface TcpProxy {
  /** The database's URL through this proxy. */
  url: string;
  /** The bytes go through and are executed; the connection dies when the answer starts to come. */
  loseAnswer(): void;
  /** The connection dies and the bytes never arrive. */
  loseRequest(): void;
  /** The bytes arrive so much later, whatever became of our side; resolves when the server has answered them. */
  delayRequest(ms: number): Promise<void>;
  close(): Promise<void>;
}

type Fault =
  | { kind: 'none' }
  | { kind: 'lose-answer' }
  | { kind: 'lose-request' }
  | { kind: 'delay'; ms: number; answered: () => void };

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const url = new URL(target);
  const sockets = new Set<Socket>();
  let fault: Fault = { kind: 'none' };

  const server = createServer((near) => {
    const far = connect({ host: url.hostname, port: Number(url.port), allowHalfOpen: true });
    let held: Promise<void> | undefined;
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay());
      socket.on('error', () => undefined);
    }
    near.on('data', (bytes) => {
      if (fault.kind === 'lose-request') {
        near.destroy();
        far.destroy();
        return;
      }
      if (fault.kind === 'delay' && held === undefined)
        held = new Promise((resolve) => setTimeout(resolve, (fault as { ms: number }).ms));
      if (held) void held.then(() => far.write(bytes));
      else far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (fault.kind === 'lose-answer') {
        near.destroy();
        far.destroy();
      } else if (!near.destroyed) near.write(bytes);
      if (fault.kind === 'delay' && held !== undefined) fault.answered();
    });
    near.on('close', () => (held ? void held.then(() => far.end()) : far.end()));
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: Object.assign(new URL(target), { port: String((server.address() as AddressInfo).port) }).href,
    loseAnswer: () => (fault = { kind: 'lose-answer' }),
    loseRequest: () => (fault = { kind: 'lose-request' }),
    delayRequest(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      fault = { kind: 'delay', ms, answered: resolve };
      return promise;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
