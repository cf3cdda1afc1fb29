import type { InFlightShare } from './in-flight-share.ts';
import { SHARE_MS } from './sharers.ts';

/** What a process is told of the rate limit at each exchange, and goes by until the next. */
export interface Told extends InFlightShare {
  /** A pause began: permits leased for before this moment of the process's clock are void. */
  validFrom: number;
  /** The rate of all processes together: the learned one, or less under a ceiling. */
  perSecond: number;
  /** One request tries alone: its answer is awaited. */
  isHeld: boolean;
  /** Permits were leased as if no limit came (growth-ahead.ts). */
  isGrowing: boolean;
  /** How far ahead permits were leased, ms. */
  leaseMs: number;
  /** Processes that share the rate limit. */
  sharers: number;
  /** Endpoints that have a limit of their own. */
  ownEndpoints: readonly string[];
}

/** Before the first exchange. */
export const nothingTold: Told = {
  validFrom: 0,
  perSecond: Number.POSITIVE_INFINITY,
  mostInFlight: undefined,
  othersInFlight: 0,
  isHeld: false,
  isGrowing: false,
  leaseMs: SHARE_MS,
  sharers: 1,
  ownEndpoints: [],
};
