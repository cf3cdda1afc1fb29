import { freshConcurrency, type SavedConcurrency } from './concurrency-limit.ts';
import { freshPermits, type SavedPermits } from './permits.ts';
import type { SavedSuccesses } from './success-window.ts';

/** What was learned, for the store: a restart must not learn it again. */
export interface SavedRateLimit {
  /** Requests a second. */
  rate: number;
  /** The rate that last succeeded. */
  best: number;
  /** Share of 429s that come at any rate. */
  noise: number;
  /** Whether a limit was ever met; until then the rate grows fast. */
  limitSeen: boolean;
  /** The state of the moment. Absent, or saved by a clock that went back since: begun anew with what was learned. */
  underWay?: UnderWay;
}

/** Plain data; times are of the limiter's clock. */
export interface UnderWay {
  savedAt: number;
  permits: SavedPermits;
  concurrency: SavedConcurrency;
  successes: SavedSuccesses;
  epoch: { answers: number; limited: number };
  decidedAt: number;
  answersSinceCut: number;
  answersEver: number;
  cutsInRow: number;
  /** The highest rate cut from lately: a 429 well below it may be noise. */
  cutFrom: number;
  measuring: { first?: { rate: number; share: number } } | null;
  limitedInRow: number;
  settledAt: number;
  cleanEpochs: number;
  backoff: number;
}

export const backoffMs = { first: 500, most: 15_000 };
/** As good as infinite, and a number in JSON. */
const MANY_ANSWERS = 1e9;

/** The state of the moment when only what was learned is known. */
export function beginUnderWay(now: number, limitSeen: boolean): UnderWay {
  return {
    savedAt: now,
    permits: { ...freshPermits },
    concurrency: { ...freshConcurrency },
    successes: { startedAt: now, first: 0, counts: [] },
    epoch: { answers: 0, limited: 0 },
    decidedAt: -1,
    answersSinceCut: MANY_ANSWERS,
    answersEver: limitSeen ? MANY_ANSWERS : 0,
    cutsInRow: 0,
    cutFrom: 0,
    measuring: null,
    limitedInRow: 0,
    settledAt: -1,
    cleanEpochs: 0,
    backoff: backoffMs.first,
  };
}
