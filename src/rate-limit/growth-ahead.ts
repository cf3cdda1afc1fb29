import type { SavedRateLimit } from './saved-rate-limit.ts';

/** No further: within one lease nobody looks whether the answers are still fine. */
const MOST = 32;

/** The clock of an exchange, which goes ahead while permits are leased. */
export interface LeaseClock {
  at: number;
  /** Of the rate, at a moment of it. */
  growth: (at: number) => number;
}

/**
 * By how much the rate will have grown at a later moment, if no limit is met until then: permits that are leased ahead
 * come ever faster, because otherwise each lease would keep to the rate that stood at its begin. Only until the first
 * 429, and for a process that is alone: at its 429 it drops them all.
 */
export function growthAhead({ limitSeen, underWay }: SavedRateLimit, isAlone: boolean, now: number) {
  const { doublingMs, spent } = underWay?.climb ?? {};
  if (!isAlone || limitSeen || doublingMs === undefined || spent?.refused !== 0) return () => 1;
  return (at: number): number => Math.min(2 ** Math.max(0, (at - now) / doublingMs), MOST);
}
