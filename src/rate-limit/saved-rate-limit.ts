import type { SavedWindow } from './advertised-window.ts';
import { freshCapacity, type SavedCapacity } from './capacity.ts';
import { freshClimb, type SavedClimb } from './climb.ts';
import { freshConcurrency, type SavedConcurrency } from './concurrency-limit.ts';
import { freshWatch, type NoiseTest, type NoiseWatch } from './noise.ts';
import { freshPermits, type SavedPermits } from './permits.ts';
import { freshRow, freshSuspicion, type SavedRow, type SavedSuspicion } from './saved-meetings.ts';

export interface LearnedRate {
  /** Requests a second. */
  rate: number;
  /** The rate at which the limit is believed to be met. */
  limit: number;
  /** Share of 429s that come at any rate. */
  noise: number;
  /** Whether a limit was ever met; until then the rate grows fast. */
  limitSeen: boolean;
}

/** What was learned, for the store: a restart must not learn it again. */
export interface SavedRateLimit extends LearnedRate {
  /** The state of the moment. Absent, or saved by a clock that went back since: begun anew with what was learned. */
  underWay?: UnderWay;
  endpoints?: SavedEndpoints;
}

export interface SavedEndpoints {
  /** Answers lately, of all endpoints. */
  answers: number;
  each: Record<string, SavedEndpoint>;
  /** Answers of one endpoint since another had a success. */
  row?: { endpoint: string; answers: number };
}

export interface SavedEndpoint {
  /** Answers lately. */
  answers: number;
  /** Logarithm of the likelihood of a limit of its own over that of one for all. */
  evidence: number;
  own?: SavedRateLimit;
}

/** From the first refusal of a limit until a request succeeds again. */
export interface Meeting {
  at: number;
  /** The rate that was refused. */
  rate: number;
  refused: number;
  /** Of those under way at the first refusal. */
  passed?: number;
  /** Successes until the first refusal. */
  ok?: number;
  /** Refused of those that tried after a pause. */
  tries: number;
  /** When the last of them was refused. */
  refusedAt?: number;
  /** When the first refusal said that the limit would be free. */
  freeAt: number;
  isBan: boolean;
  /** How often Retry-After became longer, and the longest. */
  longer?: number;
  longestMs?: number;
  /** What those who were under way together were told, where it differs. */
  waits?: number[];
  /** Retry-After of the first refusal. */
  toldMs: number | undefined;
  /** Not the rate is responsible: a limit of concurrency, or an advertised window. */
  isSpared: boolean;
  /** Met after a rest, by somebody who had sent little: nothing is learned from it. */
  isChance?: boolean;
}

/** `retryAfterMs` as the first refusal told it. */
export function beginMeeting(
  first: Pick<Meeting, 'at' | 'ok' | 'rate' | 'isBan' | 'isSpared' | 'isChance'>,
  retryAfterMs: number | undefined,
): Meeting {
  const freeAt = retryAfterMs === undefined ? Number.MAX_VALUE : first.at + retryAfterMs;
  return { ...first, refused: 1, tries: 0, freeAt, toldMs: retryAfterMs };
}

/** Retry-After as HTTP has it, rounded up. */
export function isWhole(toldMs: number | undefined): boolean {
  return toldMs !== undefined && toldMs % 1_000 === 0;
}

/** Plain data; times are of the limiter's clock. */
export interface UnderWay {
  savedAt: number;
  permits: SavedPermits;
  concurrency: SavedConcurrency;
  capacity: SavedCapacity;
  climb: SavedClimb;
  row: SavedRow;
  suspicion: SavedSuspicion;
  window: SavedWindow | null;
  meeting: Meeting | null;
  test: NoiseTest | null;
  /** The last test's end, in answers, the rate then, and how many in a row found a limit. */
  tested: { answers: number; rate: number; silent?: number };
  watch: NoiseWatch;
  /** As the last test found it. */
  mostNoise: number;
  answers: number;
  decidedAt: number;
  /** The first wait where the server does not say how long. */
  ownWaitMs: number;
  backoff: number;
  /** Meetings in a row that lasted for several tries. */
  longInRow: number;
  /** Successes when it last began to send again after a rest, until the next meeting. */
  restedOk?: number;
}

/** Clocks differ by so much. */
const CLOCK_MS = 1_000;

/** The state of the moment when only what was learned is known. */
export function beginUnderWay(now: number): UnderWay {
  return {
    savedAt: now,
    permits: { ...freshPermits },
    concurrency: structuredClone(freshConcurrency),
    capacity: freshCapacity(now),
    climb: { ...freshClimb },
    row: { ...freshRow },
    suspicion: { ...freshSuspicion },
    window: null,
    meeting: null,
    test: null,
    tested: { answers: -1e6, rate: 0 },
    watch: { ...freshWatch },
    mostNoise: 0.3,
    answers: 0,
    decidedAt: -1,
    ownWaitMs: 500,
    backoff: 500,
    longInRow: 0,
  };
}

/**
 * What another version of this saved, as far as it can be read: what it did not know begins anew, and so does what a
 * clock saved that went back since.
 */
export function restoreUnderWay(saved: UnderWay | undefined, now: number): UnderWay {
  const fresh = beginUnderWay(now);
  if (saved === undefined || !(saved.savedAt <= now + CLOCK_MS)) return fresh;
  const parts = Object.entries(structuredClone(saved)).map(([name, part]) => {
    const begun = fresh[name as keyof UnderWay];
    return [name, isRecord(part) && isRecord(begun) ? { ...begun, ...part } : (part ?? begun ?? null)];
  });
  return { ...fresh, ...Object.fromEntries(parts) };
}

function isRecord(part: unknown): part is object {
  return typeof part === 'object' && part !== null;
}
