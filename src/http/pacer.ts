import type { Lane, PaceAnswer } from './pace.ts';
import { createTurns, type Turns } from './pacer-turns.ts';
import { readRateLimit } from './rate-limit-headers.ts';
import { createSuccessWindow, type SuccessWindow } from './success-window.ts';

/** What is learned, for the store: a restart must not learn again. */
export interface SavedPace {
  /** Requests a second. */
  rate: number;
  /** The rate that last succeeded. */
  best: number;
  /** Share of 429s that come at any rate. */
  noise: number;
  /** Whether a limit has been met at all; until then the rate grows fast. */
  limitSeen: boolean;
}

export interface Pacer {
  /** 0: one request may leave now, and is counted. Otherwise: ask again after so many ms. */
  ask(lane: Lane): number;
  /** Learns from an answer. `sentAt` is of the same clock as `now`. */
  answered(answer: PaceAnswer): void;
  save(): SavedPace;
}

export interface PacerClock {
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

const firstRate = 10;
const lowestRate = 0.2;
/** Answers at one rate that make a judgement; twice as many where noise blurs it. */
const epochSize = 50;
/** One 429 among the answers of an epoch proves nothing. */
const oneOfAnEpoch = 1 / epochSize;
/** A window still holds what was sent at the rate before; judged at once, a sliding limit would look like noise. */
const settleMs = 10_000;
/** More than this share of 429s is no noise. */
const mostNoise = 0.25;
const backoffMs = { first: 500, most: 15_000 };

/**
 * The decision core of a pace: learns the rate of an unknown limit from 429s. Pure: no timers, no I/O.
 *
 * A 429 cuts to just under the average that succeeded (pauses included: over a whole cycle that is the limit for fixed, sliding and token
 * windows alike), waits as long as it is told, and lets one request try first. A 429 well below a rate that was cut already is taken for
 * noise: the rate stays, the share of 429s is measured over 50 answers there and over 50 at 80 % of it. If the share falls as a limit
 * would have it, it was the limit; otherwise it is noise, and from then on only a share or a run of 429s beyond it counts. Without this a
 * partner that answers one in ten requests 429 for reasons of its own would be cut again and again until nothing moves.
 */
export function createPacer(clock: PacerClock, saved?: SavedPace): Pacer {
  const pace = new LearnedPace(clock, saved ?? { rate: firstRate, best: 0, noise: 0, limitSeen: false });
  return {
    ask: (lane) => pace.turns.ask(lane, pace.learned.rate),
    answered: (answer) => pace.answered(answer),
    save: () => ({ ...pace.learned }),
  };
}

/** Invariant: a decision is taken only from answers to requests that were sent after the last one. */
class LearnedPace {
  readonly learned: SavedPace;
  readonly turns: Turns;
  readonly #clock: PacerClock;
  readonly #successes: SuccessWindow;
  #epoch = { answers: 0, limited: 0 };
  #decidedAt = Number.NEGATIVE_INFINITY;
  #answersSinceCut = Number.POSITIVE_INFINITY;
  #answersEver: number;
  #cutsInRow = 0;
  /** The highest rate cut from lately: a 429 well below it is suspected to be noise. */
  #cutFrom = 0;
  #measuring: { first?: { rate: number; share: number } } | undefined;
  #limitedInRow = 0;
  #settledAt = Number.NEGATIVE_INFINITY;
  #cleanEpochs = 0;
  #backoff = backoffMs.first;

  constructor(clock: PacerClock, learned: SavedPace) {
    this.#clock = clock;
    this.learned = { ...learned };
    this.turns = createTurns(clock.now);
    this.#successes = createSuccessWindow(clock.now());
    this.#answersEver = learned.limitSeen ? Number.POSITIVE_INFINITY : 0;
  }

  answered(answer: PaceAnswer): void {
    const now = this.#clock.now();
    const limited = answer.status === 429 || (answer.status === 503 && answer.retryAfterMs !== undefined);
    if (answer.status < 500 && !limited) this.#successes.add(now);
    this.#obeyHeaders(answer, now);
    if (answer.sentAt < this.#decidedAt) return;
    const wasCanary = this.turns.canaryAnswered(!limited);
    if (!limited && wasCanary) this.#backoff = backoffMs.first;
    this.#limitedInRow = limited ? this.#limitedInRow + 1 : 0;
    this.#answersSinceCut += 1;
    this.#answersEver += 1;
    this.#count(answer.sentAt, limited);
    if (limited) this.#onLimited(answer, now, wasCanary);
    if (this.#epoch.answers >= this.#epochSize()) this.#endEpoch(now);
  }

  #count(sentAt: number, limited: boolean): void {
    if (sentAt < this.#settledAt) return;
    this.#epoch.answers += 1;
    if (limited) this.#epoch.limited += 1;
  }

  #epochSize(): number {
    return this.learned.noise > 0 && this.learned.limitSeen ? epochSize * 2 : epochSize;
  }

  #onLimited(answer: PaceAnswer, now: number, wasCanary: boolean): void {
    if (wasCanary) return this.#pause(answer, now);
    // With known noise one 429 is no news, and only its own request waits; four in a row are a limit.
    const maybeNoise = this.learned.noise > 0 || this.#measuring !== undefined;
    if (maybeNoise && this.#limitedInRow < 4) return;
    const wellBelow = this.#answersSinceCut < epochSize * 2 && this.learned.rate <= 0.9 * this.#cutFrom;
    if (maybeNoise || !wellBelow) return this.#cut(answer, now);
    this.#measuring = {};
    this.#epoch = { answers: 0, limited: 0 };
    this.turns.waitUntil(now + (answer.retryAfterMs ?? 0));
  }

  #cut(answer: PaceAnswer, now: number): void {
    const { rate, noise } = this.learned;
    this.#cutsInRow += 1;
    const spans = [8_000, 20_000, 60_000];
    const average = Math.max(...spans.map((span) => this.#successes.rate(now, span))) / (1 - noise);
    // Cut again and again: the limit itself has fallen, and the averages speak of the one before.
    const succeeded = this.#cutsInRow > 2 ? Math.min(average, 0.87 * rate) : average;
    this.#cutFrom = this.#answersSinceCut < epochSize * 2 ? Math.max(this.#cutFrom, rate) : rate;
    this.learned.best = Math.min(rate, succeeded);
    this.learned.rate = Math.max(0.97 * this.learned.best, 0.5 * rate, lowestRate);
    this.learned.limitSeen = true;
    this.#answersSinceCut = 0;
    this.#cleanEpochs = 0;
    this.#measuring = undefined;
    this.#pause(answer, now);
  }

  #pause(answer: PaceAnswer, now: number): void {
    // Jitter, so that processes that were stopped together do not come back together.
    const own = this.#backoff * (0.9 + 0.2 * this.#clock.random());
    this.#backoff = Math.min(this.#backoff * 2, backoffMs.most);
    this.turns.pauseUntil(now + Math.max(answer.retryAfterMs ?? 0, own));
    this.#decidedAt = now;
    this.#limitedInRow = 0;
    this.#epoch = { answers: 0, limited: 0 };
  }

  #obeyHeaders(answer: PaceAnswer, now: number): void {
    const budget = readRateLimit(answer.headers ?? {}, now);
    if (budget?.remaining === 0) this.turns.waitUntil(now + Math.min(budget.resetMs, 60_000));
  }

  #endEpoch(now: number): void {
    const { rate, noise, limitSeen } = this.learned;
    const share = this.#epoch.limited / this.#epoch.answers;
    this.#epoch = { answers: 0, limited: 0 };
    if (this.#measuring !== undefined) return this.#judge(this.#measuring, share);
    if (noise > 0 && share > noise + 0.08) return this.#measureBelow(share);
    if (share > noise + (limitSeen ? 0.02 : 0.06)) return;
    // Downwards only: upwards it would take the limit itself for noise, step by step.
    if (share < noise) this.learned.noise = noise < 0.01 ? 0 : noise * 0.9 + share * 0.1;
    this.#cutsInRow = 0;
    // A rate that nobody used up says nothing: an idle tenant must not climb.
    if (this.#successes.rate(now, 8_000) >= 0.6 * rate * (1 - noise)) this.#raise();
  }

  #measureBelow(share: number): void {
    this.#settledAt = this.#clock.now() + settleMs;
    this.#measuring = { first: { rate: this.learned.rate, share } };
    this.learned.rate *= 0.8;
  }

  #judge({ first }: { first?: { rate: number; share: number } }, share: number): void {
    this.#measuring = undefined;
    if (first === undefined) {
      if (share > mostNoise) this.learned.rate = Math.max(this.learned.rate * (1 - share), lowestRate);
      else if (share > 2 * oneOfAnEpoch) this.#measureBelow(share);
      return;
    }
    this.#cutFrom = 0;
    this.#cutsInRow = 0;
    // What a limit would leave at 80 % of the rate; noise would leave the share as it was.
    const ofLimit = Math.max(0, 1 - (1 - first.share) / 0.8);
    if (share <= Math.max(ofLimit + 0.3 * (first.share - ofLimit), oneOfAnEpoch)) {
      this.learned.best = this.learned.rate;
      return;
    }
    this.learned.noise = Math.min((first.share + share) / 2, mostNoise);
    this.learned.rate = Math.max(first.rate, this.learned.best);
    // The limits seen so far may all have been noise.
    if (this.#answersEver < 20 * epochSize) this.learned.limitSeen = false;
  }

  /** Small steps: 1.2 % after 300 clean answers; larger ones at first, below what is known to succeed, and after three clean steps (a raised limit). */
  #raise(): void {
    this.#cleanEpochs += 1;
    this.learned.rate *= this.#step();
    this.learned.best = Math.max(this.learned.best, this.learned.rate / 1.05);
  }

  #step(): number {
    const { rate, best, limitSeen } = this.learned;
    if (!limitSeen) return 1.5;
    if (rate < 0.9 * best) return 1.1;
    if (this.#cleanEpochs > 18) return Math.min(1.04 + 0.02 * (this.#cleanEpochs - 19), 1.16);
    if (this.#answersEver < 30 * epochSize) return this.#cleanEpochs % 2 === 0 ? 1.04 : 1;
    return this.#cleanEpochs % 6 === 0 ? 1.012 : 1;
  }
}
