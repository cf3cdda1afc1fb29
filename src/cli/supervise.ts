import { type ChildProcess, spawn } from 'node:child_process';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { ConnectorError } from '../errors.ts';
import { createLogger } from '../log.ts';
import { EXIT } from './command.ts';
import { heapOptions, SUPERVISED } from './part.ts';

/** A part of the program that runs as its own process: `serve`, `worker`, `sandbox`. */
export interface ChildSpec {
  /** Shown before each of its lines. */
  name: string;
  /** Arguments of the CLI: `['serve', '--port', '0']`. */
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
}

export interface SuperviseOptions {
  /** Receives each line that a child prints; standard error by default. */
  print?: ((line: string) => void) | undefined;
  /** Milliseconds from SIGTERM to SIGKILL. Default 10,000. */
  drainMs?: number;
  /** Called with each new process. */
  onStart?: (name: string, child: ChildProcess) => void;
  /** Called with a child's messages, for example the addresses it listens on. */
  onMessage?: (name: string, message: unknown) => void;
}

export interface Supervisor {
  /** The current process of a part that is running. */
  child(name: string): ChildProcess | undefined;
  /** Kills a part (SIGKILL, like a crash) and keeps it down until `resume`. */
  suspend(name: string): Promise<void>;
  resume(name: string): void;
  /** Asks every child to drain, kills those left after `drainMs`, and resolves when none is left. */
  stop(): Promise<void>;
  /** Rejects when a child refuses its input (exit 2), or dies five times without ever coming up. */
  failed: Promise<never>;
}

/** The first restart is immediate: the partner's retries end after 1.4 s, and a receiver needs some of that to boot. */
const BACKOFF_MS = [0, 0, 500, 1_000, 2_000, 5_000] as const;
const GIVE_UP = 4;
const STEADY_MS = 10_000;

const log = createLogger('supervise');

/** Runs parts of the program as supervised processes: prefixed lines, restart with backoff, drain, and no orphans. */
export function supervise(specs: readonly ChildSpec[], options: SuperviseOptions = {}): Supervisor {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  const keepers = new Map(specs.map((spec) => [spec.name, keep(spec, options, failure.reject)]));
  return {
    child: (name) => keepers.get(name)?.child(),
    suspend: async (name) => keepers.get(name)?.suspend(),
    resume: (name) => keepers.get(name)?.resume(),
    failed: failure.promise,
    stop: async () => void (await Promise.all([...keepers.values()].map((keeper) => keeper.stop()))),
  };
}

/** Keeps one child running until stopped. A child that never came up is given up; one that did is restarted. */
function keep(spec: ChildSpec, options: SuperviseOptions, fail: (error: Error) => void) {
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let wanted = true;
  let cameUp = false;
  let early = 0;

  function start(): void {
    const started = performance.now();
    const running = launch(spec, options);
    child = running;
    running.once('message', () => {
      cameUp = true;
    });
    options.onStart?.(spec.name, running);
    running.once('exit', (code, signal) => {
      child = undefined;
      if (!wanted) return;
      early = performance.now() - started < STEADY_MS ? early + 1 : 0;
      if (code === EXIT.refused || (!cameUp && early > GIVE_UP)) return fail(didNotStay(spec.name, code, signal));
      const delayMs = BACKOFF_MS[Math.min(early, BACKOFF_MS.length - 1)] ?? 0;
      log.warn({ child: spec.name, code, signal, delayMs }, 'child ended, starting it again');
      restart = setTimeout(start, delayMs);
    });
  }
  start();

  async function end(drainMs: number): Promise<void> {
    wanted = false;
    clearTimeout(restart);
    const started = performance.now();
    if (child !== undefined) await endChild(child, drainMs);
    log.debug({ child: spec.name, ms: Math.round(performance.now() - started) }, 'child ended as asked');
  }
  return {
    child: () => child,
    suspend: () => end(0),
    stop: () => end(options.drainMs ?? 10_000),
    resume() {
      wanted = true;
      if (child === undefined) start();
    },
  };
}

/** The child printed the reason itself; this adds the exit code. */
function didNotStay(name: string, code: number | null, signal: NodeJS.Signals | null): ConnectorError {
  return new ConnectorError({
    code: 'PART_ENDED',
    action: code === EXIT.refused ? 'reject' : 'retry',
    message: `${name} ended (${signal ?? `exit code ${code}`}) and keeps ending. Its own log lines above say why.`,
  });
}

function launch(spec: ChildSpec, options: SuperviseOptions): ChildProcess {
  const print = options.print ?? ((line) => process.stderr.write(`${line}\n`));
  const running = spawn(process.execPath, [...heapOptions(spec.args), MAIN_FILE, ...spec.args], {
    // Its own process group: Ctrl-C on the terminal reaches only the parent, which then drains in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Few arenas: see bin/hirebridge.mjs.
    env: { MALLOC_ARENA_MAX: '2', ...process.env, ...childLogEnv(), ...spec.env, [SUPERVISED]: '1' },
  });
  const prefix = styleText('dim', `${spec.name.padEnd(7)} |`, { stream: process.stderr });
  for (const input of [running.stdout, running.stderr])
    if (input !== null) createInterface({ input }).on('line', (line) => print(`${prefix} ${line}`));
  running.on('message', (message) => options.onMessage?.(spec.name, message));
  running.on('error', (err) => log.error({ err, child: spec.name }, 'child cannot be started'));
  return running;
}

/** Children write to a pipe, but their lines show on this terminal, so they get this process's format and colour. */
function childLogEnv(): NodeJS.ProcessEnv {
  if (process.env['LOG_FORMAT'] !== undefined || !process.stderr.isTTY) return {};
  return { LOG_FORMAT: 'pretty', FORCE_COLOR: process.env['FORCE_COLOR'] ?? '1' };
}

/** Sends SIGTERM, then SIGKILL if the drain takes too long. Resolves when the process is gone. */
function endChild(child: ChildProcess, drainMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    // Without time to drain this is a crash: a SIGTERM first would let the part sign off.
    const timer = setTimeout(() => child.kill('SIGKILL'), drainMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill(drainMs === 0 ? 'SIGKILL' : 'SIGTERM');
  });
}

/** The command line's main file, for parts that run as processes: `main.ts` in a clone, `main.js` in a package. */
export const MAIN_FILE = fileURLToPath(new URL(`main${extname(import.meta.filename)}`, import.meta.url));
