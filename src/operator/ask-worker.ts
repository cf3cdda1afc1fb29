import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { ConnectorError, type ErrorAction } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { SyncRun } from '../temporal/schedules.ts';
import type { StreamLook, StreamRequest, StreamResult } from './follow-stream.ts';

/** Holds a socket for each worker of this machine, named by process id; only the user may enter the folder. */
export function socketFolder(dataDir: string): string {
  return join(dataDir, 'workers');
}

/** Must be the same for a command and its worker; a hash, so that it reveals no path or password. */
export function installationMark(storeUrl: string, tenantsDir: string): string {
  return createHash('sha256').update(`${storeUrl}\n${tenantsDir}`).digest('hex');
}

/** Sent as lines of JSON; workers of another version are not asked. */
interface Question {
  version: string;
  mark: string;
  request: StreamRequest;
}
/** The worker begins only on this message: a worker that was suspended must not repeat what another has done since. */
interface Go {
  go: true;
}
type Reply =
  | { taken: boolean }
  | { alive: true }
  | { look: StreamLook }
  | { result: StreamResult }
  | { error: { code?: string; action?: ErrorAction; message: string } };

/** A running worker accepts a question within this time. */
const TAKEN_WITHIN_MS = 2_000;
/** A worker that accepted a question reports every second that it is alive, whatever its run does. */
const ALIVE_EVERY_MS = 1_000;
const SILENT_AFTER_MS = 10_000;

/**
 * Lets a worker of this machine start a run and follow it: the worker is connected already, while a command of its own
 * would need a second for that. Undefined if no worker accepts; then nothing was started.
 * @throws ConnectorError as `followStream`, and WORKER_ENDED, WORKER_SILENT with the `run` in `details` if it began
 */
export async function askWorker(
  dataDir: string,
  question: Question,
  onLook: (look: StreamLook) => void,
): Promise<StreamResult | undefined> {
  for (const path of socketsIn(socketFolder(dataDir))) {
    const result = await askAt(path, question, onLook);
    if (result !== undefined) return result;
  }
  return undefined;
}

function socketsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sock'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

async function askAt(
  path: string,
  question: Question,
  onLook: (look: StreamLook) => void,
): Promise<StreamResult | undefined> {
  const socket = createConnection({ path });
  let isTaken = false;
  let isSilent = false;
  let run: SyncRun | undefined;
  const giveUp = (): void => {
    isSilent = true;
    socket.destroy(new Error('It does not answer.'));
  };
  let patience = setTimeout(giveUp, TAKEN_WITHIN_MS);
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).on('error', reject));
    socket.write(`${JSON.stringify(question)}\n`);
    for await (const line of linesOf(socket)) {
      const reply = JSON.parse(line) as Reply;
      clearTimeout(patience);
      patience = setTimeout(giveUp, SILENT_AFTER_MS);
      if ('taken' in reply) {
        if (!reply.taken) return undefined;
        isTaken = true;
        socket.write(`${JSON.stringify({ go: true } satisfies Go)}\n`);
      }
      if ('look' in reply) {
        run ??= reply.look.run;
        onLook(reply.look);
      }
      if ('result' in reply) return reply.result;
      if ('error' in reply) throw errorOf(reply.error);
    }
  } catch (error) {
    // The worker was killed and left its socket, ended in the meantime, or is suspended.
    if (!isSilent && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
  } finally {
    clearTimeout(patience);
    socket.destroy();
  }
  if (!isTaken) return undefined;
  throw isSilent ? workerSilent(run) : workerEnded(run);
}

/** The lines from the other side until its socket closes for any reason. */
function linesOf(socket: Socket): Interface {
  const lines = createInterface({ input: socket });
  // The reader closes by itself only if the other side ends the connection properly.
  socket.once('close', () => lines.close());
  return lines;
}

function workerSilent(run: SyncRun | undefined): ConnectorError {
  return new ConnectorError({
    code: 'WORKER_SILENT',
    action: 'retry',
    details: { run },
    message:
      `The worker that follows this run has not reported for ${SILENT_AFTER_MS / 1_000} s. hirebridge status ` +
      'shows whether the run continues, and which workers run.',
  });
}

function workerEnded(run: SyncRun | undefined): ConnectorError {
  return new ConnectorError({
    code: 'WORKER_ENDED',
    action: 'retry',
    details: { run },
    message:
      'The worker that followed this run ended. The run continues once a worker runs: hirebridge status shows it.',
  });
}

function errorOf({ code, action, message }: { code?: string; action?: ErrorAction; message: string }): Error {
  return code === undefined || action === undefined
    ? new Error(message)
    : new ConnectorError({ code, action, message });
}

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
