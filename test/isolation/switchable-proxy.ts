import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SwitchableProxy {
  port: number;
  /** From now on nothing passes: connections are taken, and nobody ever answers. */
  fallSilent(): void;
  /** Passes new connections on again; the silent ones are closed. */
  speak(): void;
  close(): Promise<void>;
}

/** Stands between a process and a port of this machine, and can fall silent. */
export async function startSwitchableProxy(targetPort: number): Promise<SwitchableProxy> {
  let silent = false;
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (silent) return;
    const far = keep(connect(targetPort, '127.0.0.1'));
    near.on('data', (chunk) => silent || far.write(chunk));
    far.on('data', (chunk) => silent || near.write(chunk));
    near.on('close', () => far.destroy());
    far.on('close', () => silent || near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    fallSilent: () => void (silent = true),
    speak() {
      silent = false;
      drop();
    },
    async close() {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
