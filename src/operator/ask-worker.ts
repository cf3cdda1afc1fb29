import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { ConnectorError, type ErrorAction } from '../errors.ts';
import type { SyncRun } from '../temporal/start-sync.ts';
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
export interface Question {
  version: string;
  mark: string;
  request: StreamRequest;
}
/** The worker begins only on this message: a worker that was suspended must not repeat what another has done since. */
export interface Go {
  go: true;
}
export type Reply =
  | { taken: boolean }
  | { alive: true }
  | { look: StreamLook }
  | { result: StreamResult }
  | { error: { code?: string; action?: ErrorAction; message: string } };

/** A running worker accepts a question within this time. */
const TAKEN_WITHIN_MS = 2_000;
/** A worker that accepted a question reports every second that it is alive, whatever its run does. */
export const ALIVE_EVERY_MS = 1_000;
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
export function linesOf(socket: Socket): Interface {
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
