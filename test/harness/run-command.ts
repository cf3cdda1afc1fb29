import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

/** They run until they are stopped, and leave what only the end of their process closes. */
const STAY = new Set(['codec', 'console', 'demo', 'sandbox', 'serve', 'up', 'worker']);

/** What a process reads once. */
const READ_ONCE = /^(NODE|OTEL)_|^LOG_LEVEL$|^HIREBRIDGE_FAILPOINT/;

const KEPT = 2;
/** Processes that run commands one after the other, and none now. */
const idle: ChildProcess[] = [];

/**
 * Runs a command of hirebridge to its end. Commands share processes, each used by one at a time: a start of Node and of
 * the product costs more than most commands. One that stays, or has settings that are read once, gets its own process.
 */
export async function runCommand(
  words: readonly string[],
  given: NodeJS.ProcessEnv = {},
  cwd: string = process.cwd(),
): Promise<Finished> {
  const env = { ...process.env, ...given };
  const stays = !words.includes('--help') && words.some((word) => STAY.has(word));
  if (stays || Object.keys(given).some((name) => READ_ONCE.test(name))) {
    const own = start([MAIN, ...words], env, cwd);
    own.stdin?.end();
    return collect(own).exited;
  }
  const child =
    idle.pop() ??
    start([join(import.meta.dirname, 'commands-process.ts')], { ...process.env, LOG_FORMAT: 'json' }, cwd);
  hold(child, true);
  const mark = randomUUID();
  const out = [child.stdout, child.stderr].map((stream) => untilMark(stream as Readable, mark));
  child.stdin?.write(`${JSON.stringify({ words, env, cwd, mark })}\n`);
  const [stdout, stderr] = await Promise.all(out);
  if (stdout === undefined || stderr === undefined) throw new Error(`The process ended at: ${words.join(' ')}`);
  hold(child, false);
  if (idle.length < KEPT) idle.push(child);
  else child.kill();
  return { code: stdout.code, stdout: stdout.text, stderr: stderr.text };
}

function start(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): ChildProcess {
  return spawn(process.execPath, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** It ends with its standard input, so with this process. One that is idle does not keep this one from its end. */
function hold(child: ChildProcess, isHeld: boolean): void {
  const does = isHeld ? 'ref' : 'unref';
  for (const one of [child, ...child.stdio] as ({ ref?(): void; unref?(): void } | null)[]) one?.[does]?.();
}

/** What a process has written so far, and how it ends. */
export function collect(child: ChildProcess): { out: Omit<Finished, 'code'>; exited: Promise<Finished> } {
  const out = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (out.stdout += String(chunk)));
  child.stderr?.on('data', (chunk) => (out.stderr += String(chunk)));
  const exited = once(child, 'close').then(([code]) => ({ code: code as number | null, ...out }));
  return { out, exited };
}

/** What a command wrote, and its exit code; undefined where the process ended. */
function untilMark(stream: Readable, mark: string): Promise<{ text: string; code: number } | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const read = (chunk: Buffer): void => {
      chunks.push(chunk);
      const [text = '', end] = Buffer.concat(chunks).toString().split(`${mark} `);
      if (end?.endsWith('\n') !== true) return;
      stream.off('data', read).off('close', ended);
      resolve({ text, code: Number(end) });
    };
    const ended = (): void => resolve(undefined);
    stream.on('data', read).once('close', ended);
  });
}
