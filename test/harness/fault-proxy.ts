import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FaultProxy {
  port: number;
  /** From now on nothing passes: connections are taken, and nobody ever answers. */
  fallSilent(): void;
  /** Connections that are open now fall silent for good; new ones pass. */
  blackHole(): void;
  /** Passes new connections on again; the silent ones are closed. */
  speak(): void;
  /** Closes every open connection with a reset. */
  cut(): void;
  /** New connections go to another port from now on. */
  leadTo(port: number): void;
  /** New connections are refused, and open ones closed with a reset, until `speak`. */
  refuse(): void;
  /** Shows what goes to the target, after it was passed on, until `see` says that it has seen enough. */
  watch(see: (text: string) => boolean): void;
  /** Connections taken so far. */
  taken(): number;
  close(): Promise<void>;
}

interface Pair {
  near: Socket;
  silent: boolean;
}

/** Stands between a process and a port of this machine. */
export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  let target = targetPort;
  let silent = false;
  let refusing = false;
  let watched: ((text: string) => boolean) | undefined;
  let taken = 0;
  const open = new Set<Socket>();
  const pairs = new Set<Pair>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
  };
  const look = (chunk: Buffer): void => {
    if (watched?.(chunk.toString('latin1')) === true) watched = undefined;
  };
  const server = createServer((near) => {
    keep(near);
    taken += 1;
    if (refusing) return void near.resetAndDestroy();
    if (silent) return;
    const pair = { near, silent: false };
    const isSilent = () => silent || pair.silent;
    pairs.add(pair);
    const far = keep(connect(target, '127.0.0.1'));
    near.on('data', (chunk) => {
      if (isSilent()) return;
      far.write(chunk);
      look(chunk);
    });
    far.on('data', (chunk) => isSilent() || near.write(chunk));
    near.on('close', () => {
      pairs.delete(pair);
      // What fell silent leaves its other end behind, as a lost network does.
      if (!pair.silent) far.destroy();
    });
    far.on('close', () => isSilent() || near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of open) socket.destroy();
  };
  function cut(): void {
    for (const { near } of pairs) near.resetAndDestroy();
  }
  return {
    port: (server.address() as AddressInfo).port,
    fallSilent: () => void (silent = true),
    blackHole() {
      for (const pair of pairs) pair.silent = true;
    },
    speak() {
      silent = false;
      refusing = false;
      drop();
    },
    cut,
    refuse() {
      refusing = true;
      cut();
    },
    watch: (see) => void (watched = see),
    leadTo: (port) => void (target = port),
    taken: () => taken,
    async close() {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
