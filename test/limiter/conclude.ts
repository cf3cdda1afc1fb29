import type { BankServer } from './bank.ts';
import type { Driven } from './drive.ts';

/** One run in numbers. Shares from 0 to 1, times in ms. */
export interface Conclusion {
  /** Successes of the last two thirds of the run, of what the server allows; the time that a change may take apart. */
  used: number;
  /** Of all answers, learning included. */
  refused: number;
  liveP50: number;
  liveP99: number;
  /** From the change to the first window with as many successes as the new limit allows, within 6 %. */
  followedAfter?: number;
}

export function conclude(server: BankServer, driven: Driven): Conclusion {
  const from = driven.endMs / 3;
  const counted = countedSpans(server, driven.endMs);
  const isCounted = (at: number): boolean => counted.some((span) => at >= span.from && at < span.to);
  const waits = driven.live.filter(({ at }) => at >= from).map(({ waitMs }) => waitMs);
  waits.sort((a, b) => a - b);
  return {
    used: driven.admitted.filter(isCounted).length / counted.reduce((sum, span) => sum + span.calls, 0),
    refused: driven.refused.length / (driven.refused.length + driven.admitted.length),
    liveP50: quantile(waits, 0.5),
    liveP99: quantile(waits, 0.99),
    ...(server.change === undefined ? {} : { followedAfter: followedAfter(server, driven) }),
  };
}

/** Of sorted numbers; 0 of none. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** The last two thirds of the run; after a change not the time that it may take to follow. */
function countedSpans({ perSecond, windowMs, change }: BankServer, endMs: number) {
  const from = endMs / 3;
  if (change === undefined) return [{ from, to: endMs, calls: (perSecond * (endMs - from)) / 1000 }];
  const followed = change.atMs + (change.factor > 1 ? 60_000 : Math.max(10_000, windowMs));
  return [
    { from, to: change.atMs, calls: (perSecond * (change.atMs - from)) / 1000 },
    { from: followed, to: endMs, calls: (perSecond * change.factor * (endMs - followed)) / 1000 },
  ];
}

function followedAfter({ perSecond, windowMs, change }: BankServer, { admitted, endMs }: Driven): number {
  const { atMs, factor } = change ?? { atMs: 0, factor: 1 };
  const span = Math.max(10_000, windowMs);
  const expected = (perSecond * factor * span) / 1000;
  for (let at = atMs; at + span <= endMs; at += 1_000) {
    const count = admitted.filter((one) => one >= at && one < at + span).length;
    if (Math.abs(count / expected - 1) <= 0.06) return at - atMs;
  }
  return Number.POSITIVE_INFINITY;
}
