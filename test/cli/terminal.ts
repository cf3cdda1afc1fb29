import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import { until } from '../harness/until.ts';

export const KEYS = { enter: '\r', down: '\u001b[B', ctrlC: '\u0003', clear: '\u0015' } as const;

/**
 * A command on a terminal of 120 columns, made by `script` (of bsdutils, which every Debian has): the test waits for
 * what is shown, and presses keys.
 */
export function openTerminal(command: readonly string[], place: { cwd: string; env?: NodeJS.ProcessEnv }) {
  const quoted = command.map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols 120 rows 60; exec ${quoted}`, '/dev/null'], {
    cwd: place.cwd,
    env: { ...process.env, TERM: 'xterm', CI: '', ...place.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let shown = '';
  child.stdout.on('data', (chunk) => (shown += String(chunk)));
  const ended = once(child, 'close') as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const screen = (): string => stripVTControlCharacters(shown).replaceAll('\r', '');
  let seen = 0;
  return {
    screen,
    /** Waits until something new is shown, then presses keys. */
    async answer(question: string, ...keys: string[]): Promise<void> {
      const isShown = async (): Promise<boolean> => {
        if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}:\n${screen().slice(-2_000)}`);
        return screen().indexOf(question, seen) >= 0;
      };
      await until(`"${question}" on the terminal`, isShown, {
        timeoutMs: 20_000,
        instead: () => screen().slice(-1_000),
      });
      // Each key shows the same question once more.
      seen = keys.length === 0 ? screen().indexOf(question, seen) + question.length : screen().length;
      for (const key of keys) child.stdin.write(key);
    },
    async code(): Promise<number | null> {
      const [code] = await ended;
      return code;
    },
  };
}
