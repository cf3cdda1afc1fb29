import { type Outcome, percentile } from './measure-case.ts';
import type { Trouble } from './troubles.ts';

const MOST_RATIO = 2;
const MOST_BLOCKED_MS = 250;
const MOST_CLOSE_MS = 10_000;

/** The cells of a case's row, and the bounds that it breaks. */
export function judgeOutcome(outcome: Outcome, { mostCalls }: Trouble): { cells: string[]; falls: string[] } {
  const { alone, beside, blocked, calls, close, rightAgain } = outcome;
  const [before, after] = [percentile(alone, 0.95), percentile(beside, 0.95)];
  const bounds = {
    ratio: after <= MOST_RATIO * before,
    worker: blocked.worker - blocked.idle <= MOST_BLOCKED_MS,
    receiver: blocked.receiver - blocked.idle <= MOST_BLOCKED_MS,
    calls: calls <= (mostCalls ?? Number.POSITIVE_INFINITY),
    close: close <= MOST_CLOSE_MS,
    right: rightAgain !== 'never',
  };
  const right = typeof rightAgain === 'number' ? `after ${ms(rightAgain)}` : (rightAgain ?? '-');
  const loops = [blocked.worker, blocked.receiver, blocked.idle].map(ms);
  return {
    cells: [ms(before), ms(after), (after / before).toFixed(2), ...loops, `${calls}`, ms(close), right],
    falls: Object.entries(bounds).flatMap(([name, holds]) => (holds ? [] : [`${name.toUpperCase()} FALLS SHORT`])),
  };
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
