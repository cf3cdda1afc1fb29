import { connect } from 'node:net';
import { Connection } from '@temporalio/client';
import { searchAttributes } from './search-attributes.ts';

const DEADLINE_MS = 30_000;
const BETWEEN_TRIES_MS = 25;

/** Resolves when the server at `address` has the namespace and our search attributes; rejects when it ended first. */
export async function untilServing(address: string, namespace: string, ended: Promise<string>): Promise<void> {
  let over: string | undefined;
  void ended.then((how) => {
    over = how;
  });
  const deadline = performance.now() + DEADLINE_MS;
  const again = async (attempt: () => Promise<boolean>) => {
    while (!(await attempt())) {
      if (over !== undefined) throw new Error(`it ended with ${over}`);
      if (performance.now() > deadline) throw new Error(`no answer within ${DEADLINE_MS / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    }
  };
  // gRPC waits a second after its first refused connection, so it is asked only when the port answers.
  await again(() => answers(address));
  const connection = Connection.lazy({ address });
  try {
    await again(() => knowsUs(connection, namespace));
  } finally {
    await connection.close();
  }
}

function answers(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host, () => resolve(true));
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
  });
}

async function knowsUs(connection: Connection, namespace: string): Promise<boolean> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.keys(searchAttributes).every((name) => name in customAttributes);
  } catch {
    return false;
  }
}
