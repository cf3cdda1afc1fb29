import { setTimeout as pause } from 'node:timers/promises';

/** Polls until `met` returns a value other than false or undefined; fails with what was last seen. */
export async function until<T>(
  what: string,
  met: () => Promise<T | false | undefined>,
  { timeoutMs = 60_000, everyMs = 100 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await met();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await pause(everyMs);
  }
}
