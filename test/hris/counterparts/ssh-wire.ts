import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the next bytes of ours. */
export type SshFault =
  /** They arrive and are executed; the connection dies when the answer has come. */
  | 'answer-lost'
  /** They never arrive. */
  | 'reset-before';

/** A wire between us and an SSH server. All it sees is encrypted, so a fault is armed at the moment of the call. */
export interface SshWire {
  port: number;
  strike(fault: SshFault): void;
  close(): Promise<void>;
}

export async function startSshWire(target: number): Promise<SshWire> {
  const sockets = new Set<Socket>();
  let armed: SshFault | undefined;
  let struck = false;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay());
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.on('data', (bytes: Buffer) => {
      if (armed === undefined) return void far.write(bytes);
      struck = armed === 'answer-lost';
      if (struck) far.write(bytes);
      else near.resetAndDestroy();
      armed = undefined;
    });
    far.on('data', (bytes: Buffer) => {
      if (!struck) return void near.write(bytes);
      struck = false;
      near.resetAndDestroy();
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    strike(fault) {
      armed = fault;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
