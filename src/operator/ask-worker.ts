import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { ConnectorError, type ErrorAction } from '../errors.ts';
import type { SyncRun } from '../temporal/start-sync.ts';
import type { StreamLook, StreamRequest, StreamResult } from './follow-stream.ts';

/** Each worker of this machine has a socket here, by its process id; only their user may enter. */
export function socketFolder(dataDir: string): string {
  return join(dataDir, 'workers');
}

/** What a question and its worker must have in common; no path and no password of it can be read. */
export function installationMark(storeUrl: string, tenantsDir: string): string {
  return createHash('sha256').update(`${storeUrl}\n${tenantsDir}`).digest('hex');
}

/** Lines of JSON; another version's worker is not asked. */
export interface Question {
  version: string;
  mark: string;
  request: StreamRequest;
}
/** Only this lets the worker begin: one that stood still must not begin late what another did meanwhile. */
export interface Go {
  go: true;
}
export type Reply =
  | { taken: boolean }
  | { alive: true }
  | { look: StreamLook }
  | { result: StreamResult }
  | { error: { code?: string; action?: ErrorAction; message: string } };

/** A worker that runs takes a question within this time. */
const TAKEN_WITHIN_MS = 2_000;
/** A worker that took a question says every second that it is alive, whatever its run does. */
export const ALIVE_EVERY_MS = 1_000;
const SILENT_AFTER_MS = 10_000;

/**
 * Has a worker of this machine start one run and follow it: it is connected to everything already, and a command of its
 * own would need a second for that. Undefined where none takes the question, and nothing was started.
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
    // It was killed and left its socket behind, it ended meanwhile, or it stands still.
    if (!isSilent && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
  } finally {
    clearTimeout(patience);
    socket.destroy();
  }
  if (!isTaken) return undefined;
  throw isSilent ? workerSilent(run) : workerEnded(run);
}

/** The lines of the other side until its socket closes, however that happens. */
export function linesOf(socket: Socket): Interface {
  const lines = createInterface({ input: socket });
  // It ends by itself only where the other side says goodbye.
  socket.once('close', () => lines.close());
  return lines;
}

function workerSilent(run: SyncRun | undefined): ConnectorError {
  return new ConnectorError({
    code: 'WORKER_SILENT',
    action: 'retry',
    details: { run },
    message:
      `The worker that follows this run has said nothing for ${SILENT_AFTER_MS / 1_000} s. ` +
      'hirebridge status shows whether the run goes on, and which workers are there.',
  });
}

function workerEnded(run: SyncRun | undefined): ConnectorError {
  return new ConnectorError({
    code: 'WORKER_ENDED',
    action: 'retry',
    details: { run },
    message: 'The worker ended that followed this run. The run goes on once a worker runs: hirebridge status shows it.',
  });
}

function errorOf({ code, action, message }: { code?: string; action?: ErrorAction; message: string }): Error {
  return code === undefined || action === undefined
    ? new Error(message)
    : new ConnectorError({ code, action, message });
}
