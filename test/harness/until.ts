import { setTimeout as pause } from 'node:timers/promises';
import { describeWorlds } from './open-worlds.ts';
import { patience } from './pace.ts';

export interface UntilOptions {
  /** On a machine of the usual speed; a slower one gets more. */
  timeoutMs?: number;
  everyMs?: number;
  /** What was there instead, asked for once, when time is over. */
  instead?: () => unknown;
}

/**
 * Polls until `met` gives a value that is not false or undefined. Wait for something that comes and stays: an event of
 * the ledger, a row, a line of the log. A state that passes may be over between two looks.
 * @throws Error with what was there instead, and what every open world's products say
 */
export async function until<T>(
  what: string,
  met: () => Promise<T | false | undefined>,
  { timeoutMs = 120_000, everyMs = 100, instead }: UntilOptions = {},
): Promise<T> {
  const limit = patience(timeoutMs);
  const end = performance.now() + limit;
  for (;;) {
    const value = await met();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) {
      const seen = instead === undefined ? '' : `; instead: ${JSON.stringify(await instead())}`;
      throw new Error(`Not within ${limit} ms: ${what}${seen}${await describeWorlds()}`);
    }
    await pause(everyMs);
  }
}
