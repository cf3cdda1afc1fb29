import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { onTestFinished } from 'vitest';

interface Played {
  code: number;
  output: string;
}

/** Runs commands of hirebridge in one process, each after the one before: a start of their own costs a second. */
export function openProcess(env: NodeJS.ProcessEnv, cwd?: string): (words: readonly string[]) => Promise<Played> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'commands-process.ts')], {
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['pipe', 'inherit', 'inherit', 'pipe'],
  });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const replies = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]();
  const inTurn = pLimit(1);
  return (words) =>
    inTurn(async () => {
      child.stdin?.write(`${JSON.stringify(words)}\n`);
      const reply = await replies.next();
      if (reply.done === true) throw new Error(`The process ended at: ${words.join(' ')}`);
      return JSON.parse(reply.value) as Played;
    });
}
