import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../statistics.ts';
import type { CallSeen } from './caller-process.ts';
import type { Caller, LimitedPartner } from './stage.ts';

/** What was measured of one thing, and whether it is what it should be. */
export interface Finding {
  what: string;
  measured: string;
  goal: string;
  holds: boolean;
}

export interface Durations {
  learnMs: number;
  ms: number;
}

export interface Measured {
  /** The sandbox's answers while it was measured, and how many were 429s. */
  answered: number;
  limited: number;
  share429: number;
  /** Admitted calls a second. */
  perSecond: number;
  /** Calls of each process. */
  calls: number[];
  seen: CallSeen[];
}

/** Lets the callers learn, then looks for a while; ends them. */
export async function measure(
  { partner, callers }: { partner: LimitedPartner; callers: readonly Caller[] },
  { learnMs, ms }: Durations,
): Promise<Measured> {
  await pause(learnMs);
  const since = Date.now();
  await pause(ms);
  const until = Date.now();
  const all = await Promise.all(callers.map((caller) => caller.stop()));
  const seen = all.map((calls) => calls.filter((call) => call.askedAt >= since && call.endedAt <= until));
  const { answered, limited } = await partner.count(since, until);
  return {
    answered,
    limited,
    share429: limited / Math.max(1, answered),
    perSecond: ((answered - limited) * 1000) / (until - since),
    calls: seen.map((calls) => calls.length),
    seen: seen.flat(),
  };
}

/** Waits of live calls for their permit, ms, and the longest pause that a 429 asked for meanwhile. */
export function liveWaits(seen: readonly CallSeen[]): { count: number; p50: number; p99: number; pauseMs: number } {
  const waits = seen.flatMap(({ priority, askedAt, sentAt }) => (priority === 'live' ? [sentAt - askedAt] : []));
  const pauseMs = Math.max(0, ...seen.map(({ limited, retryAfterMs }) => (limited ? retryAfterMs : 0)));
  return { count: waits.length, p50: percentile(waits, 0.5), p99: percentile(waits, 0.99), pauseMs };
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
