import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ConnectorError, type ErrorAction } from '../errors.ts';
import type { StreamLook, StreamRequest, StreamResult } from './follow-stream.ts';

/** Each worker of this machine has a socket here, by its process id; only their user may enter. */
export function socketFolder(dataDir: string): string {
  return join(dataDir, 'workers');
}

/** What a question and its worker must have in common; no path and no password of it can be read. */
export function installationMark(storeUrl: string, tenantsDir: string): string {
  return createHash('sha256').update(`${storeUrl}\n${tenantsDir}`).digest('hex');
}

/** One line of JSON each way; another version's worker is not asked. */
export interface Question {
  version: string;
  mark: string;
  request: StreamRequest;
}
export type Reply =
  | { taken: boolean }
  | { look: StreamLook }
  | { result: StreamResult }
  | { error: { code?: string; action?: ErrorAction; message: string } };

/**
 * Has a worker of this machine start one run and follow it: it is connected to everything already, and a command of its
 * own would need a second for that. Undefined where none takes the question, and nothing was started.
 * @throws ConnectorError as `followStream`, and WORKER_ENDED
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
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.write(`${JSON.stringify(question)}\n`);
    for await (const line of createInterface({ input: socket })) {
      const reply = JSON.parse(line) as Reply;
      if ('taken' in reply && !reply.taken) return undefined;
      isTaken = true;
      if ('look' in reply) onLook(reply.look);
      if ('result' in reply) return reply.result;
      if ('error' in reply) throw errorOf(reply.error);
    }
  } catch (error) {
    // It was killed and left its socket behind, or it ended meanwhile.
    if (isTaken || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
  } finally {
    socket.destroy();
  }
  if (!isTaken) return undefined;
  throw new ConnectorError({
    code: 'WORKER_ENDED',
    action: 'retry',
    message: 'The worker ended that followed this run. The run goes on once a worker runs: hirebridge status shows it.',
  });
}

function errorOf({ code, action, message }: { code?: string; action?: ErrorAction; message: string }): Error {
  return code === undefined || action === undefined
    ? new Error(message)
    : new ConnectorError({ code, action, message });
}
