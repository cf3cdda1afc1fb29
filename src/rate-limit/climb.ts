import type { RateLimitAnswer } from './rate-limit.ts';

/**
 * One sawtooth: climbs from a little below the last known limit up to it, over enough answers to afford the refusals it
 * costs. Beyond the limit it climbs ever faster while nothing is refused, so that a raised limit is found.
 */
export const freshClimb = {
  /** Answers since the last refusal. */
  clean: 0,
  /** Doublings of the height beyond the limit. */
  beyond: 0,
  /** Recent average of 429s per meeting with the limit. */
  perHit: 1.5,
  /** The pause after a meeting. */
  pauseMs: 0,
  lastPauseMs: 0,
  /** The limit is only a guess. */
  isGuess: false,
  /** The limit was met at the end of a window twice in a row, so it shows only there. */
  isWindow: false,
  /** The limit bans a client for longer if it asks again too early. */
  bans: false,
  /** How often such bans were seen lately, and how long they lasted. */
  longer: 0,
  bannedMs: 0,
  /** The kind of the limit that refused for minutes without stating a wait. */
  silence: undefined as 'ban' | 'window' | undefined,
  /** While no limit is known: the ms in which the rate doubles, from the last answer. */
  doublingMs: undefined as number | undefined,
  /** Recent answers, and how many of them were 429s. */
  spent: { answers: 0, refused: 0 },
};
export type SavedClimb = typeof freshClimb;

/** Height of a sawtooth, as a share of the limit. */
export const CUT = 0.02;
/** The height under noise: the share of noise is visible only where the limit adds no 429s. */
export const NOISY_CUT = 0.05;
/**
 * What a sawtooth may cost: the share of 429s, and the share of time in pauses. For pauses, it grows to at most `ms`.
 */
const allowed = { refused: 0.0033, paused: 0.01, ms: 60_000 };
/** Adjusts the length of the climb to recent 429s: more than planned make it longer, fewer make it shorter. */
const spending = { memory: 12_000, prior: 1_500, least: 0.7, most: 2 };
const tooth = { least: 120, most: 12_000, noisy: 240, bannedMs: 900_000 };
/** A climb to a limit that is only a guess is this many times shorter. */
const HASTE = 4;
/** A rate far below the limit comes back within this many seconds, or a quarter of a window's memory. */
const BACK_S = 8;
/** Doublings of the height beyond the limit within the answers of one sawtooth. */
const doublings = { usual: 12, window: 3, noisy: 3 };
/** The height beyond the limit doubles no faster than this, because a limit needs time to show. */
const DOUBLE_MS = 2_000;
/**
 * How fast the rate doubles before any limit is met: finding the limit costs a few requests, crawling below it costs
 * far more. Until the first 429 this depends on the round trip, because a limit refuses what is in flight when it is
 * met. A limit that bans may be exceeded only a little.
 */
const first = { leastMs: 250, mostMs: 3_000, roundTrips: 25, bannedMs: 20_000 };
/**
 * With nothing else in flight, the round trip is shorter than the time between two requests, but it is unknown by how
 * much.
 */
const ALONE = 0.2;
const MOST_RATE = 5_000;
/** From about twice the limit on, the rate grows evenly. */
const even = { from: 6, step: 0.15 };

/** Number of answers from the foot of a sawtooth to the limit. */
export function toothOf({ perHit, pauseMs, bans, spent }: SavedClimb, limit: number, noise: number): number {
  if (noise > 0) return tooth.noisy;
  if (bans) return (limit * tooth.bannedMs) / 1000;
  const byPause = Math.min((limit * pauseMs) / 1000 / allowed.paused, (limit * allowed.ms) / 1000);
  return Math.min(Math.max(perHit / allowanceOf(spent), byPause, tooth.least), tooth.most);
}

/** Counts an answer. */
export function spend({ spent }: SavedClimb, limited: boolean): void {
  spent.answers += 1;
  if (limited) spent.refused += 1;
  if (spent.answers < spending.memory) return;
  spent.answers /= 2;
  spent.refused /= 2;
}

/** Share of 429s allowed during a sawtooth. */
function allowanceOf({ answers, refused }: SavedClimb['spent']): number {
  const share = (refused + allowed.refused * spending.prior) / (answers + spending.prior);
  return allowed.refused * Math.min(Math.max((allowed.refused / share) ** 2, spending.least), spending.most);
}

/** Raises the rate after another answer without a refusal. Returns true if a doubling of the height began. */
export function climb(
  saved: SavedClimb,
  learned: { rate: number; limit: number; noise: number },
  memoryMs: number,
): boolean {
  const { limit, noise } = learned;
  const length = toothOf(saved, limit, noise) / (saved.isGuess && !saved.bans ? HASTE : 1);
  saved.clean += 1;
  if (learned.rate < limit) {
    const deep = Math.max(0, limit * (1 - 2 * CUT) - learned.rate);
    const backS = Math.max(BACK_S, memoryMs / 4000);
    learned.rate = Math.min(limit, learned.rate + (limit * CUT) / length + deep / (limit * backS));
    return false;
  }
  const perTooth = noise > 0 ? doublings.noisy : saved.isWindow ? doublings.window : doublings.usual;
  const doubling = Math.max(length / perTooth, (learned.rate * DOUBLE_MS) / 1000);
  const before = Math.floor(saved.beyond);
  saved.beyond += 1 / doubling;
  learned.rate = limit * (1 + heightOf(saved.beyond));
  return Math.floor(saved.beyond) > before || saved.beyond * doubling <= 1;
}

/** The rate after another answer while no limit is known. */
export function doubling(saved: SavedClimb, rate: number, answer: RoundTrip): number {
  saved.doublingMs = doublingMs(saved, rate, answer);
  return Math.min(rate + (Math.LN2 * 1000) / saved.doublingMs, MOST_RATE);
}

type RoundTrip = Pick<RateLimitAnswer, 'inFlight' | 'roundTripMs'>;

function doublingMs({ spent, bans }: SavedClimb, rate: number, { inFlight, roundTripMs: told }: RoundTrip): number {
  if (bans) return first.bannedMs;
  if (spent.refused > 0 || inFlight === undefined) return first.mostMs;
  // Little's law: the other requests in flight are those sent within one round trip.
  const roundTripMs = Math.min(told ?? Number.POSITIVE_INFINITY, (Math.max(inFlight - 1, ALONE) * 1000) / rate);
  return Math.min(Math.max(first.roundTrips * roundTripMs, first.leastMs), first.mostMs);
}

function heightOf(beyond: number): number {
  return CUT * (2 ** Math.min(beyond, even.from) - 1) + even.step * Math.max(0, beyond - even.from);
}
