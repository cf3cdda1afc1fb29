import type { ChildProcess } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { ConnectorError } from '../../errors.ts';
import { assertFree, freePort } from '../../free-port.ts';
import { searchAttributes } from '../ids.ts';
import { endChild, spawnTied } from './spawn-tied.ts';

export interface DevServerOptions {
  /** From `resolveTemporalCli`. */
  cliPath: string;
  /** SQLite file that keeps workflows across restarts; without it they live in memory. */
  dbFile?: string;
  /** Where server and UI listen; 127.0.0.1 by default. */
  ip?: string;
  /** A free port by default. Set it to get the same address after a restart. */
  port?: number;
  uiPort?: number;
  /** No web UI. */
  headless?: boolean;
  /** Created if missing; `default` by default. */
  namespace?: string;
  /** File to which the server's log is appended; without it only the log's end is kept, for error messages. */
  logFile?: string;
}

export interface DevServer {
  /** `IP:PORT` for clients. */
  address: string;
  /** Undefined when headless. */
  uiUrl: string | undefined;
  pid: number;
  /** Resolves when the server has ended for any reason, with a line that says how. */
  ended: Promise<string>;
  /** Stops the server and waits for its end. */
  stop(): Promise<void>;
}

/**
 * With its own poll rates Temporal's dev server waits up to 50 ms at every workflow step: five activities in a row took
 * 550 ms, and 145 ms with these settings. Fairness needs both of its keys on server 1.29, and only the second from
 * 1.31.
 */
const dynamicConfig = {
  'matching.useNewMatcher': 'true',
  'matching.enableFairness': 'true',
  // The server returns an activity in its answer to the worker that scheduled it: a fifth less server CPU for a hire.
  'system.enableActivityEagerExecution': 'true',
  'history.transferProcessorMaxPollRPS': '2000',
  'history.timerProcessorMaxPollRPS': '2000',
};

/**
 * Starts Temporal's dev server as a child; returns when it takes calls and knows our search attributes (0.3 to 0.8 s).
 * It ends with this process, even after SIGKILL. Throws TEMPORAL_NOT_STARTED with the end of the server's log.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const ip = options.ip ?? '127.0.0.1';
  for (const file of [options.dbFile, options.logFile])
    if (file !== undefined) await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // Another process may take a free port before the server binds it, so try another; a requested port is never changed.
  const attempts = options.port === undefined ? 5 : 1;
  for (let attempt = 1; ; attempt += 1) {
    // Binds and releases even a requested port: another Temporal there would answer instead of our server.
    const port = await portAt(ip, options.port);
    const uiPort = await portAt(ip, options.uiPort);
    try {
      return await attemptStart(options, ip, port, uiPort);
    } catch (error) {
      const portTaken = error instanceof ConnectorError && /address already in use|can't set/i.test(error.message);
      if (!portTaken || attempt >= attempts) throw error;
    }
  }
}

async function attemptStart(options: DevServerOptions, ip: string, port: number, uiPort: number): Promise<DevServer> {
  const address = `${ip}:${port}`;
  const log = options.logFile === undefined ? undefined : await open(options.logFile, 'a');
  const child = spawnTied(options.cliPath, flags(options, ip, port, uiPort), { output: log?.fd ?? 'pipe' });
  await log?.close();
  const tail = options.logFile === undefined ? keepTail(child) : () => readTail(options.logFile ?? '');
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  try {
    await untilServing(address, options.namespace ?? 'default', ended);
  } catch (error) {
    await endChild(child, 'SIGKILL');
    throw notStarted(address, `${messageOf(error)}. ${(await tail()).trim()}`, error);
  }
  return {
    address,
    uiUrl: options.headless === true ? undefined : `http://${ip}:${uiPort}`,
    pid: child.pid ?? 0,
    ended,
    stop: () => endChild(child),
  };
}

function flags(options: DevServerOptions, ip: string, port: number, uiPort: number): string[] {
  return [
    'server start-dev --log-level warn'.split(' '),
    ['--ip', ip, '--port', String(port), '--namespace', options.namespace ?? 'default'],
    options.headless === true ? ['--headless'] : ['--ui-ip', ip, '--ui-port', String(uiPort)],
    options.dbFile === undefined ? [] : ['--db-filename', options.dbFile],
    Object.entries(dynamicConfig).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ].flat();
}

function keepTail(child: ChildProcess): () => Promise<string> {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-2_000);
    });
  }
  return () => Promise.resolve(tail);
}

async function readTail(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).slice(-2_000);
}

/** The wanted port if it is free; without a wanted one, any free port. */
async function portAt(host: string, wanted = 0): Promise<number> {
  try {
    if (wanted === 0) return await freePort(host);
    await assertFree(host, wanted);
    return wanted;
  } catch (error) {
    throw notStarted(`${host}:${wanted}`, messageOf(error), error);
  }
}

function notStarted(address: string, detail: string, cause: unknown): ConnectorError {
  return new ConnectorError({
    code: 'TEMPORAL_NOT_STARTED',
    action: 'retry',
    message: `Temporal's dev server did not start at ${address}: ${detail}`,
    cause,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const DEADLINE_MS = 30_000;
const BETWEEN_TRIES_MS = 25;

/** Resolves when the server at `address` has the namespace and our search attributes; rejects if it ended first. */
async function untilServing(address: string, namespace: string, ended: Promise<string>): Promise<void> {
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
  // gRPC waits a second after its first refused connection, so use it only once the port answers.
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
