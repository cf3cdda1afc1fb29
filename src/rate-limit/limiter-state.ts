import { freshGate, type SavedGate } from './concurrency-gate.ts';
import { freshTurns, type SavedTurns } from './permits.ts';
import type { SavedSuccesses } from './success-window.ts';

/** What is learned, for the store: a restart must not learn again. */
export interface SavedRateLimit {
  /** Requests a second. */
  rate: number;
  /** The rate that last succeeded. */
  best: number;
  /** Share of 429s that come at any rate. */
  noise: number;
  /** Whether a limit has been met at all; until then the rate grows fast. */
  limitSeen: boolean;
  /** What is under way. Absent, or of a clock that went back since: begun anew, with what was learned. */
  underWay?: UnderWay;
}

/** Plain data; times are of the limiter's clock. */
export interface UnderWay {
  savedAt: number;
  turns: SavedTurns;
  gate: SavedGate;
  successes: SavedSuccesses;
  epoch: { answers: number; limited: number };
  decidedAt: number;
  answersSinceCut: number;
  answersEver: number;
  cutsInRow: number;
  /** The highest rate cut from lately: a 429 well below it is suspected to be noise. */
  cutFrom: number;
  measuring: { first?: { rate: number; share: number } } | null;
  limitedInRow: number;
  settledAt: number;
  cleanEpochs: number;
  backoff: number;
}

export const backoffMs = { first: 500, most: 15_000 };
/** As good as for ever, and a number in JSON. */
const manyAnswers = 1e9;

/** Nothing is known yet but what was learned. */
export function begin(now: number, limitSeen: boolean): UnderWay {
  return {
    savedAt: now,
    turns: { ...freshTurns },
    gate: { ...freshGate },
    successes: { startedAt: now, first: 0, counts: [] },
    epoch: { answers: 0, limited: 0 },
    decidedAt: -1,
    answersSinceCut: manyAnswers,
    answersEver: limitSeen ? manyAnswers : 0,
    cutsInRow: 0,
    cutFrom: 0,
    measuring: null,
    limitedInRow: 0,
    settledAt: -1,
    cleanEpochs: 0,
    backoff: backoffMs.first,
  };
}
