/**
 * One sawtooth: from a little below the rate at which the limit was last met up to it, over as many answers as the
 * refusals that it costs allow, and beyond it ever faster while nothing is refused, so that a raised limit is found.
 */
export interface SavedClimb {
  /** How far below the limit a sawtooth begins. */
  cut: number;
  /** Answers since the last refusal. */
  clean: number;
  /** Answers since the rate passed the limit. */
  beyond: number;
  /** 429s of one meeting with the limit, lately. */
  perHit: number;
  /** The pause after one. */
  pauseMs: number;
  lastPauseMs: number;
  /** Meetings in a row that came much too early, answers among them, and the rate before the first. */
  early: number;
  earlyAnswers: number;
  rateBefore: number;
  /** The highest average of a long cycle, lately: a few refusals in a row are no reason to go lower. */
  proven: number;
}

export const CUT = { first: 0.02, most: 0.08 };
/** 429s among all answers, and time spent in pauses, that a sawtooth may cost. */
const allowed = { refused: 0.0026, paused: 0.008 };
const tooth = { least: 120, most: 6_000, noisy: 240 };
/** Doublings of the height beyond the limit within the answers of one tooth. */
const DOUBLINGS = 14;
/** The height beyond the limit doubles no faster: a limit needs time to show. */
const DOUBLE_MS = 2_000;

export const freshClimb: Readonly<SavedClimb> = {
  cut: CUT.first,
  clean: 0,
  beyond: 0,
  perHit: 1.5,
  pauseMs: 0,
  lastPauseMs: 0,
  early: 0,
  earlyAnswers: 0,
  rateBefore: 0,
  proven: 0,
};

/** Answers from the foot of a tooth to the limit. */
export function toothOf({ perHit, pauseMs }: SavedClimb, limit: number, noise: number): number {
  if (noise > 0) return tooth.noisy;
  const paid = Math.max(perHit / allowed.refused, (limit * pauseMs) / 1000 / allowed.paused);
  return Math.min(Math.max(paid, tooth.least), tooth.most);
}

/** The rate after one more answer without a refusal. True: a doubling of the height began. */
export function climb(saved: SavedClimb, learned: { rate: number; limit: number; noise: number }): boolean {
  const { limit, noise } = learned;
  const length = toothOf(saved, limit, noise);
  saved.clean += 1;
  if (learned.rate < limit) {
    learned.rate = Math.min(limit, learned.rate + (limit * saved.cut) / length);
    return false;
  }
  const doubling = Math.max(length / DOUBLINGS, (learned.rate * DOUBLE_MS) / 1000);
  const before = Math.floor(saved.beyond);
  saved.beyond += 1 / doubling;
  learned.rate = limit * (1 + CUT.first * (2 ** saved.beyond - 1));
  return Math.floor(saved.beyond) > before || saved.beyond * doubling <= 1;
}
