import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** One way an answer gets lost, for the first bytes of ours that hold all of `holding`, and for those alone. */
export interface WireFault {
  /**
   * `reset-before`: the connection dies and the bytes never arrive. `answer-lost`: they are executed and committed, and
   * the connection
   * dies when the answer has come. `executed-late`: they arrive so much later, whatever became of our side.
   */
  kind: 'reset-before' | 'answer-lost' | 'executed-late';
  holding: readonly string[];
  /** How late. */
  ms?: number;
  /**
   * Only so many bytes at the end are late, all before them arrive in time: a message of its own there may be what
   * commits.
   */
  lastBytes?: number;
}

/** A wire between us and a database. */
export interface TcpProxy {
  /** The database's URL through this proxy. */
  url: string;
  /**
   * Arms a fault once. Resolves when it struck, with the server's word on it: in Postgres `INSERT 0 1` or an SQLSTATE,
   * or `nothing`.
   */
  strike(fault: WireFault): Promise<string>;
  close(): Promise<void>;
}

/** How a database ends the answer to a statement, and with it the transaction, and what it says of it. */
export interface WireProtocol {
  isOver(answer: string): boolean;
  verdict(answer: string): string;
}

/** The beginning of ReadyForQuery; one byte with the transaction's state follows. */
const READY = 'Z\0\0\0\u0005';

const postgresWire: WireProtocol = {
  isOver: (answer) => answer.slice(0, -1).endsWith(READY),
  // The command's tag, or the code of the server's refusal.
  verdict: (answer) =>
    /(?:INSERT 0|UPDATE) \d+/.exec(answer)?.[0] ?? /\0C([0-9A-Z]{5})\0/.exec(answer)?.[1] ?? 'no verdict',
};

interface Armed {
  fault: WireFault;
  struck: (verdict: string) => void;
}

export async function startTcpProxy(target: string, protocol = postgresWire): Promise<TcpProxy> {
  const url = new URL(target);
  const sockets = new Set<Socket>();
  const armed: Armed[] = [];

  const take = (bytes: Buffer): Armed | undefined => {
    const index = armed.findIndex(({ fault }) => fault.holding.every((text) => bytes.includes(text)));
    return index === -1 ? undefined : armed.splice(index, 1)[0];
  };
  const server = createServer((near) => {
    const far = connect({ host: url.hostname, port: Number(url.port), allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay());
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    bridge(near, far, take, protocol);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: Object.assign(new URL(target), { port: String((server.address() as AddressInfo).port) }).href,
    strike: (fault) => new Promise((struck) => armed.push({ fault, struck })),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Passes bytes both ways, in order, until a fault strikes this connection. */
function bridge(
  near: Socket,
  far: Socket,
  take: (bytes: Buffer) => Armed | undefined,
  { isOver, verdict }: WireProtocol,
): void {
  let open = Promise.resolve();
  let waiting: Armed | undefined;
  let answer = '';

  const end = (said: string): void => {
    waiting?.struck(said);
    waiting = undefined;
    far.end();
  };
  near.on('data', (bytes) => {
    const hit = take(bytes);
    if (hit?.fault.kind === 'reset-before') {
      near.resetAndDestroy();
      far.destroy();
      hit.struck('nothing');
      return;
    }
    waiting ??= hit;
    const { kind, ms = 10_000, lastBytes = bytes.length } = hit?.fault ?? {};
    const early = kind === 'executed-late' ? bytes.length - lastBytes : bytes.length;
    if (early > 0) void open.then(() => far.write(bytes.subarray(0, early)));
    if (early === bytes.length) return;
    open = open.then(() => new Promise((resolve) => setTimeout(resolve, ms)));
    void open.then(() => far.write(bytes.subarray(early)));
  });
  far.on('data', (bytes) => {
    if (waiting === undefined) return void (near.destroyed || near.write(bytes));
    answer += bytes.toString('latin1');
    if (!isOver(answer)) return;
    near.resetAndDestroy();
    end(verdict(answer));
  });
  // What is on its way when our side goes still arrives, as it does in a network.
  near.on('close', () => void (waiting ?? open.then(() => far.end())));
  far.on('close', () => {
    near.destroy();
    end('connection ended');
  });
}
