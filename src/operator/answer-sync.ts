import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { ConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { ALIVE_EVERY_MS, linesOf, type Question, type Reply, socketFolder } from './ask-worker.ts';
import type { StreamLook, StreamRequest, StreamResult } from './follow-stream.ts';

export interface AnswersOptions {
  dataDir: string;
  version: string;
  mark: string;
  log: Logger;
  /** Rejects when `signal` is aborted: the asking command is gone. */
  follow(request: StreamRequest, onLook: (look: StreamLook) => void, signal: AbortSignal): Promise<StreamResult>;
}

export interface Answering {
  close(): Promise<void>;
}

/** A longer path cannot be a socket address. */
const LONGEST_PATH = 100;

/**
 * Starts and follows runs for `hirebridge sync` commands on this machine, through a socket that only this user can
 * open. Without a socket nothing is lost: the command then does the work itself.
 */
export async function answerSync(options: AnswersOptions): Promise<Answering> {
  const folder = socketFolder(options.dataDir);
  const path = join(folder, `${process.pid}.sock`);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    void answer(socket, options);
  });
  try {
    if (process.platform === 'win32' || path.length > LONGEST_PATH) return { close: async () => undefined };
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    sweep(folder);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  } catch (error) {
    options.log.debug({ reason: (error as NodeJS.ErrnoException).code }, 'sync of this machine is not answered');
    return { close: async () => undefined };
  }
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Removes sockets that killed workers left behind. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) if (!isAlive(Number.parseInt(name, 10))) rmSync(join(folder, name));
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function answer(socket: Socket, { version, mark, follow }: AnswersOptions): Promise<void> {
  const left = new AbortController();
  socket.once('close', () => left.abort());
  const tell = (reply: Reply): void => {
    if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`);
  };
  const alive = setInterval(() => tell({ alive: true }), ALIVE_EVERY_MS);
  try {
    const lines = linesOf(socket)[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) return;
    const question = JSON.parse(first.value) as Question;
    if (question.version !== version || question.mark !== mark) return tell({ taken: false });
    tell({ taken: true });
    // Without this line the command has turned to another worker, and a run here would be a second one.
    if ((await lines.next()).done === true) return;
    tell({ result: await follow(question.request, (look) => tell({ look }), left.signal) });
  } catch (error) {
    if (error instanceof ConnectorError)
      tell({ error: { code: error.code, action: error.action, message: error.message } });
    else tell({ error: { message: error instanceof Error ? error.message : String(error) } });
  } finally {
    clearInterval(alive);
    socket.end();
  }
}
