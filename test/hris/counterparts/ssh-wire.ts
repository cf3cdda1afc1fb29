import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the next bytes of ours. */
export type SshFault =
  /** They arrive and are executed; the connection dies when the answer has come. */
  | 'answer-lost'
  /** They never arrive. */
  | 'reset-before'
  /** A hundred thousand of them arrive, and no more. */
  | 'cut'
  /** They arrive 300 ms later, whatever became of our side. */
  | 'executed-late';

const CUT_BYTES = 100_000;
const LATE_MS = 300;
/** What a call sends may come in several pieces. */
const CALL_MS = 150;

/** A wire between us and an SSH server. All it sees is encrypted, so a fault is armed at the moment of the call. */
export interface SshWire {
  port: number;
  /**
   * Resolves when our side has lost its connection. Bytes that arrive are carried out, and maybe later than that: a
   * server answers first that it has room for more, and nobody sees through the encryption which answer is which.
   */
  strike(fault: SshFault): Promise<void>;
  /** As an sshd at its MaxStartups: every new connection is dropped. */
  isFull: boolean;
  close(): Promise<void>;
}

interface Armed {
  fault: SshFault;
  done: () => void;
}

export async function startSshWire(target: number): Promise<SshWire> {
  const sockets = new Set<Socket>();
  let armed: Armed | undefined;
  let passed = 0;
  const take = (bytes: number): Armed | undefined => {
    passed = armed?.fault === 'cut' ? passed + bytes : 0;
    if (armed?.fault === 'cut' && passed < CUT_BYTES) return undefined;
    const taken = armed;
    armed = undefined;
    return taken;
  };
  const server = createServer((near) => {
    if (wire.isFull) return void near.destroy();
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay());
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    bridge(near, far, take);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wire: SshWire = {
    port: (server.address() as AddressInfo).port,
    isFull: false,
    strike: (fault) =>
      new Promise((done) => {
        armed = { fault, done };
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return wire;
}

function bridge(near: Socket, far: Socket, take: (bytes: number) => Armed | undefined): void {
  let struck: Armed | undefined;
  const late: Buffer[] = [];
  near.on('data', (bytes: Buffer) => {
    const hit = take(bytes.length);
    if (hit?.fault === 'reset-before' || hit?.fault === 'cut') {
      near.resetAndDestroy();
      return hit.done();
    }
    struck ??= hit;
    if (struck?.fault !== 'executed-late') return void far.write(bytes);
    late.push(bytes);
    if (late.length > 1) return;
    setTimeout(() => near.resetAndDestroy(), CALL_MS);
    setTimeout(() => far.write(Buffer.concat(late), struck?.done), LATE_MS);
  });
  far.on('data', (bytes: Buffer) => {
    if (struck === undefined) return void (near.destroyed || near.write(bytes));
    if (struck.fault !== 'answer-lost' || near.destroyed) return;
    near.resetAndDestroy();
    struck.done();
  });
  // What was struck is carried out in peace: its connection to the server stays until the wire is closed.
  near.on('close', () => void (struck ?? far.destroy()));
  far.on('close', () => near.destroy());
}
