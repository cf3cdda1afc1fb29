import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { WriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { heapOptions } from '../../src/cli/part.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** One process of the real CLI. */
export interface Process {
  child: ChildProcess;
  /** Addresses it announced once it listened. */
  facts: Record<string, string>;
  /** SIGTERM and the end of the drain. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Resolves with exit code or signal. */
  ended: Promise<number | NodeJS.Signals | null>;
}

export interface StartOptions {
  /** Another version's entry file. */
  main?: string;
  /** A command that runs the one behind it: `unshare`, `nice`. */
  via?: readonly string[];
  /** A file descriptor that takes the log instead of `out`. */
  log?: number;
}

/** Starts a command that runs until it is stopped, and waits until it says where it listens. */
export async function startProcess(
  args: string[],
  env: NodeJS.ProcessEnv,
  out: WriteStream,
  { main = MAIN, via = [], log }: StartOptions = {},
): Promise<Process> {
  const [program = '', ...rest] = [...via, process.execPath, ...heapOptions(args), main, ...args];
  const child = spawn(program, rest, {
    // As `up` and the launcher start it.
    env: { MALLOC_ARENA_MAX: '2', ...process.env, ...env },
    stdio: ['ignore', log ?? 'pipe', log ?? 'pipe', 'ipc'],
  });
  let tail = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-4_000);
      if (!out.writableEnded) out.write(chunk);
    });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null);
  const failed = ended.then((how) => Promise.reject(new Error(`${args[0]} ended with ${how}: ${tail}`)));
  failed.catch(() => undefined);
  const [message] = (await Promise.race([once(child, 'message'), failed])) as [{ facts: Record<string, string> }];
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return { child, facts: message.facts, ended, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
