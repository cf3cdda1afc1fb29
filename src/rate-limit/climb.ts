import type { RateLimitAnswer } from './rate-limit.ts';

/**
 * One sawtooth: from a little below the rate at which the limit was last met up to it, over as many answers as the
 * refusals that it costs allow, and beyond it ever faster while nothing is refused, so that a raised limit is found.
 */
export interface SavedClimb {
  /** Answers since the last refusal. */
  clean: number;
  /** Doublings of the height beyond the limit. */
  beyond: number;
  /** 429s of one meeting with the limit, lately. */
  perHit: number;
  /** The pause after one. */
  pauseMs: number;
  lastPauseMs: number;
  /** The limit is only a guess. */
  isGuess: boolean;
  /** The limit was met at the end of a window twice in a row: it shows only there. */
  isWindow: boolean;
  /** A client that asks again too early is banned for longer. */
  bans: boolean;
  /** How often that was seen lately, and for how long. */
  longer?: number;
  bannedMs?: number;
  /** What refused for minutes without telling for how long. */
  silence?: 'ban' | 'window';
  /** While no limit is known: in how many ms the rate doubles, as the last answer had it. */
  doublingMs?: number;
  /** Answers lately, and how many of them were 429s. */
  spent?: { answers: number; refused: number };
}

/** The height of a tooth, as a share of the limit. */
export const CUT = 0.02;
/** Under noise: its share is seen only where the limit adds none. */
export const NOISY_CUT = 0.05;
/** 429s among all answers, and time spent in pauses, that a sawtooth may cost; for pauses it takes `ms` at most. */
const allowed = { refused: 0.0033, paused: 0.01, ms: 60_000 };
/** Of all answers lately: what was refused beyond the plan makes teeth longer, what was not makes them shorter. */
const spending = { memory: 12_000, prior: 1_500, least: 0.7, most: 2 };
const tooth = { least: 120, most: 12_000, noisy: 240, bannedMs: 900_000 };
/** By so much sooner a tooth is climbed up to a limit that is only a guess. */
const HASTE = 4;
/** From far below the limit it comes back in so many seconds, or in a quarter of the time that a window remembers. */
const BACK_S = 8;
/** Doublings of the height beyond the limit within the answers of one tooth. */
const doublings = { usual: 12, window: 3, noisy: 3 };
/** The height beyond the limit doubles no faster: a limit needs time to show. */
const DOUBLE_MS = 2_000;
/**
 * Before any limit is met the rate doubles in so long: finding it costs a few requests, crawling below it all. Until
 * the first 429 it takes so many round trips, because a limit refuses what is under way when it is met. A limit that
 * bans must be overrun by little.
 */
const first = { leastMs: 250, mostMs: 3_000, roundTrips: 25, bannedMs: 20_000 };
/** Nobody else under way says that a round trip is shorter than the time between two requests, not by how much. */
const ALONE = 0.2;
const MOST_RATE = 5_000;
/** From about twice the limit on it grows evenly. */
const even = { from: 6, step: 0.15 };

export const freshClimb: Readonly<SavedClimb> = {
  clean: 0,
  beyond: 0,
  perHit: 1.5,
  pauseMs: 0,
  lastPauseMs: 0,
  isGuess: false,
  isWindow: false,
  bans: false,
};

/** Answers from the foot of a tooth to the limit. */
export function toothOf({ perHit, pauseMs, bans, spent }: SavedClimb, limit: number, noise: number): number {
  if (noise > 0) return tooth.noisy;
  if (bans) return (limit * tooth.bannedMs) / 1000;
  const byPause = Math.min((limit * pauseMs) / 1000 / allowed.paused, (limit * allowed.ms) / 1000);
  return Math.min(Math.max(perHit / allowanceOf(spent), byPause, tooth.least), tooth.most);
}

/** Counts an answer. */
export function spend(saved: SavedClimb, limited: boolean): void {
  saved.spent ??= { answers: 0, refused: 0 };
  const { spent } = saved;
  spent.answers += 1;
  if (limited) spent.refused += 1;
  if (spent.answers < spending.memory) return;
  spent.answers /= 2;
  spent.refused /= 2;
}

/** 429s among the answers of a tooth. */
function allowanceOf(spent: SavedClimb['spent']): number {
  const share = ((spent?.refused ?? 0) + allowed.refused * spending.prior) / ((spent?.answers ?? 0) + spending.prior);
  return allowed.refused * Math.min(Math.max((allowed.refused / share) ** 2, spending.least), spending.most);
}

/** The limit is met again long before the tooth is climbed. */
export function isEarly(saved: SavedClimb, limit: number, noise: number): boolean {
  return saved.clean < toothOf(saved, limit, noise) / 4;
}

/** The rate after one more answer without a refusal. True: a doubling of the height began. */
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

/** The rate after one more answer while no limit is known. */
export function doubling(saved: SavedClimb, rate: number, answer: RoundTrip): number {
  saved.doublingMs = doublingMs(saved, rate, answer);
  return Math.min(rate + (Math.LN2 * 1000) / saved.doublingMs, MOST_RATE);
}

type RoundTrip = Pick<RateLimitAnswer, 'inFlight' | 'roundTripMs'>;

function doublingMs({ spent, bans }: SavedClimb, rate: number, { inFlight, roundTripMs: told }: RoundTrip): number {
  if (bans) return first.bannedMs;
  if (spent === undefined || spent.refused > 0 || inFlight === undefined) return first.mostMs;
  // Little's law: those under way beside this one are what is sent within a round trip.
  const roundTripMs = Math.min(told ?? Number.POSITIVE_INFINITY, (Math.max(inFlight - 1, ALONE) * 1000) / rate);
  return Math.min(Math.max(first.roundTrips * roundTripMs, first.leastMs), first.mostMs);
}

function heightOf(beyond: number): number {
  return CUT * (2 ** Math.min(beyond, even.from) - 1) + even.step * Math.max(0, beyond - even.from);
}
