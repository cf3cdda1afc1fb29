import { readAdvertisedBudget } from './advertised-budget.ts';
import { lowerConcurrency, noteClean } from './concurrency-limit.ts';
import { createPermits, type Permits } from './permits.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import { backoffMs, beginUnderWay, type SavedRateLimit, type UnderWay } from './saved-rate-limit.ts';
import { createSuccessWindow, type SuccessWindow } from './success-window.ts';

export interface RateLimiter {
  /** 0: one request may leave now, and is counted. Otherwise: ask again after so many ms. */
  ask(priority: Priority): number;
  /** Learns from an answer. `sentAt` is of the same clock as `now`. */
  answered(answer: RateLimitAnswer): void;
  /** Requests that may be under way at once; undefined: as many as the rate allows. */
  mostInFlight(): number | undefined;
  /** So many requests were given a permit and will not leave. */
  giveBack(permits: number): void;
  save(): SavedRateLimit;
}

export interface LimiterClock {
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
  /** How long others that share the rate limit may still use a permit leased before a pause, ms. */
  leaseMs?: number;
}

const FIRST_RATE = 10;
const LOWEST_RATE = 0.2;
/** Answers at one rate before it is judged; twice as many where noise blurs the picture. */
const EPOCH_SIZE = 50;
/** Before any 429 the steps come sooner: finding the limit costs one request, crawling below it costs all of them. */
const FIRST_EPOCH_SIZE = 10;
/** One 429 among the answers of an epoch proves nothing. */
const ONE_OF_AN_EPOCH = 1 / EPOCH_SIZE;
/** A window still holds what was sent at the previous rate: judged at once, a sliding limit would look like noise. */
const SETTLE_MS = 10_000;
/** A higher share of 429s is not noise. */
const MOST_NOISE = 0.25;

/**
 * The decision core of a rate limit: learns the rate of an unknown limit from 429s. Pure: no timers, no I/O.
 *
 * A 429 cuts to just under the average that succeeded (pauses included: over a whole cycle that is the limit for fixed,
 * sliding and token windows alike), waits as long as it is told, and lets one request try first. A 429 well below a
 * rate that was cut already is suspected to be noise: the rate stays, and the share of 429s is measured over 50 answers
 * there and over 50 at 80 % of it. If the share falls as it would under a limit, it was the limit; otherwise it is
 * noise, and from then on only a share or a run of 429s beyond it counts. Without this a partner that answers one in
 * ten requests 429 for reasons of its own would be cut again and again until nothing moves.
 */
export function createRateLimiter(clock: LimiterClock, saved?: SavedRateLimit): RateLimiter {
  const rateLimit = new LearnedRateLimit(clock, saved ?? { rate: FIRST_RATE, best: 0, noise: 0, limitSeen: false });
  return {
    ask: (priority) => rateLimit.permits.ask(priority, rateLimit.learned.rate),
    answered: (answer) => rateLimit.answered(answer),
    mostInFlight: () => rateLimit.mostInFlight(),
    giveBack: (permits) => rateLimit.permits.giveBack(permits, rateLimit.learned.rate),
    save: () => rateLimit.save(),
  };
}

/** Invariant: a decision is taken only from answers to requests that were sent after the last one. */
class LearnedRateLimit {
  readonly learned: Omit<SavedRateLimit, 'underWay'>;
  readonly permits: Permits;
  readonly #clock: LimiterClock;
  readonly #successes: SuccessWindow;
  readonly #now: UnderWay;

  constructor(clock: LimiterClock, { underWay, ...learned }: SavedRateLimit) {
    const now = clock.now();
    this.#clock = clock;
    this.learned = learned;
    this.#now =
      underWay !== undefined && underWay.savedAt <= now + 1000
        ? structuredClone(underWay)
        : beginUnderWay(now, learned.limitSeen);
    this.permits = createPermits(clock.now, this.#now.permits);
    this.#successes = createSuccessWindow(this.#now.successes);
  }

  save(): SavedRateLimit {
    return { ...this.learned, underWay: structuredClone({ ...this.#now, savedAt: this.#clock.now() }) };
  }

  mostInFlight(): number | undefined {
    return this.#now.concurrency.most ?? undefined;
  }

  answered(answer: RateLimitAnswer): void {
    const now = this.#clock.now();
    // No answer says nothing about a limit; the next request is the canary.
    if (answer.status === 0) {
      if (answer.sentAt >= this.#now.decidedAt) this.permits.canaryAnswered(false);
      return;
    }
    const limited = answer.status === 429 || (answer.status === 503 && answer.retryAfterMs !== undefined);
    if (answer.status < 500 && !limited) this.#successes.add(now);
    this.#obeyHeaders(answer, now);
    if (answer.sentAt < this.#now.decidedAt) return;
    const wasCanary = this.permits.canaryAnswered(!limited);
    if (!limited && wasCanary) this.#now.backoff = backoffMs.first;
    this.#now.limitedInRow = limited ? this.#now.limitedInRow + 1 : 0;
    this.#now.answersSinceCut += 1;
    this.#now.answersEver += 1;
    this.#count(answer.sentAt, limited);
    if (!limited) noteClean(this.#now.concurrency, answer.inFlight ?? 0, now);
    if (limited) this.#onLimited(answer, now, wasCanary);
    if (this.#now.epoch.answers >= this.#epochSize()) this.#endEpoch(now);
  }

  #count(sentAt: number, limited: boolean): void {
    if (sentAt < this.#now.settledAt) return;
    this.#now.epoch.answers += 1;
    if (limited) this.#now.epoch.limited += 1;
  }

  #epochSize(): number {
    if (this.#isUnlimited()) return FIRST_EPOCH_SIZE;
    return this.learned.noise > 0 && this.learned.limitSeen ? EPOCH_SIZE * 2 : EPOCH_SIZE;
  }

  /** Nothing but successes so far. */
  #isUnlimited(): boolean {
    return !this.learned.limitSeen && this.learned.noise === 0 && this.#now.measuring === null;
  }

  #onLimited(answer: RateLimitAnswer, now: number, wasCanary: boolean): void {
    if (wasCanary) return this.#pause(answer, now);
    // With known noise one 429 says nothing, and only its own request waits; four in a row are a limit.
    const maybeNoise = this.learned.noise > 0 || this.#now.measuring !== null;
    if (maybeNoise && this.#now.limitedInRow < 4) return;
    const wellBelow = this.#now.answersSinceCut < EPOCH_SIZE * 2 && this.learned.rate <= 0.9 * this.#now.cutFrom;
    if (maybeNoise || !wellBelow) return this.#cut(answer, now);
    this.#now.measuring = {};
    this.#now.epoch = { answers: 0, limited: 0 };
    this.permits.waitUntil(now + (answer.retryAfterMs ?? 0));
  }

  #cut(answer: RateLimitAnswer, now: number): void {
    if (lowerConcurrency(this.#now.concurrency, answer.inFlight ?? 0, now)) return this.#pause(answer, now);
    const { rate, noise } = this.learned;
    this.#now.cutsInRow += 1;
    const spans = [8_000, 20_000, 60_000];
    const average = Math.max(...spans.map((span) => this.#successes.rate(now, span))) / (1 - noise);
    // Cut again and again: the limit itself has fallen, and the averages are of the one before.
    const succeeded = this.#now.cutsInRow > 2 ? Math.min(average, 0.87 * rate) : average;
    this.#now.cutFrom = this.#now.answersSinceCut < EPOCH_SIZE * 2 ? Math.max(this.#now.cutFrom, rate) : rate;
    this.learned.best = Math.min(rate, succeeded);
    this.learned.rate = Math.max(0.97 * this.learned.best, 0.5 * rate, LOWEST_RATE);
    this.learned.limitSeen = true;
    this.#now.answersSinceCut = 0;
    this.#now.cleanEpochs = 0;
    this.#now.measuring = null;
    this.#pause(answer, now);
  }

  #pause(answer: RateLimitAnswer, now: number): void {
    // Jitter, so that processes that were stopped together do not come back together.
    const own = this.#now.backoff * (0.9 + 0.2 * this.#clock.random());
    this.#now.backoff = Math.min(this.#now.backoff * 2, backoffMs.most);
    this.permits.pauseUntil(now + Math.max(answer.retryAfterMs ?? 0, own));
    this.#now.decidedAt = now + (this.#clock.leaseMs ?? 0);
    this.#now.limitedInRow = 0;
    this.#now.epoch = { answers: 0, limited: 0 };
  }

  #obeyHeaders(answer: RateLimitAnswer, now: number): void {
    const budget = readAdvertisedBudget(answer.headers ?? {}, now);
    if (budget?.remaining === 0) this.permits.waitUntil(now + Math.min(budget.resetMs, 60_000));
  }

  #endEpoch(now: number): void {
    const { rate, noise, limitSeen } = this.learned;
    const share = this.#now.epoch.limited / this.#now.epoch.answers;
    this.#now.epoch = { answers: 0, limited: 0 };
    if (this.#now.measuring !== null) return this.#judge(this.#now.measuring, share);
    if (noise > 0 && share > noise + 0.08) return this.#measureBelow(share);
    if (share > noise + (limitSeen ? 0.02 : 0.06)) return;
    // Downwards only: upwards it would take the limit itself for noise, step by step.
    if (share < noise) this.learned.noise = noise < 0.01 ? 0 : noise * 0.9 + share * 0.1;
    this.#now.cutsInRow = 0;
    // A rate that nobody used up says nothing: an idle tenant must not climb.
    const span = this.#isUnlimited() ? 2_000 : 8_000;
    if (this.#successes.rate(now, span) >= 0.6 * rate * (1 - noise)) this.#raise();
  }

  #measureBelow(share: number): void {
    this.#now.settledAt = this.#clock.now() + SETTLE_MS;
    this.#now.measuring = { first: { rate: this.learned.rate, share } };
    this.learned.rate *= 0.8;
  }

  #judge({ first }: { first?: { rate: number; share: number } }, share: number): void {
    this.#now.measuring = null;
    if (first === undefined) {
      if (share > MOST_NOISE) this.learned.rate = Math.max(this.learned.rate * (1 - share), LOWEST_RATE);
      else if (share > 2 * ONE_OF_AN_EPOCH) this.#measureBelow(share);
      return;
    }
    this.#now.cutFrom = 0;
    this.#now.cutsInRow = 0;
    // What a limit would leave at 80 % of the rate; noise would leave the share as it was.
    const ofLimit = Math.max(0, 1 - (1 - first.share) / 0.8);
    if (share <= Math.max(ofLimit + 0.3 * (first.share - ofLimit), ONE_OF_AN_EPOCH)) {
      this.learned.best = this.learned.rate;
      return;
    }
    this.learned.noise = Math.min((first.share + share) / 2, MOST_NOISE);
    this.learned.rate = Math.max(first.rate, this.learned.best);
    // The limits seen so far may all have been noise.
    if (this.#now.answersEver < 20 * EPOCH_SIZE) this.learned.limitSeen = false;
  }

  /**
   * Small steps: 1.2 % after 300 clean answers; larger ones at first, below what is known to succeed, and after three
   * clean steps (a raised limit).
   */
  #raise(): void {
    this.#now.cleanEpochs += 1;
    this.learned.rate *= this.#step();
    this.learned.best = Math.max(this.learned.best, this.learned.rate / 1.05);
  }

  #step(): number {
    const { rate, best, limitSeen } = this.learned;
    if (!limitSeen) return 1.5;
    if (rate < 0.9 * best) return 1.1;
    if (this.#now.cleanEpochs > 18) return Math.min(1.04 + 0.02 * (this.#now.cleanEpochs - 19), 1.16);
    if (this.#now.answersEver < 30 * EPOCH_SIZE) return this.#now.cleanEpochs % 2 === 0 ? 1.04 : 1;
    return this.#now.cleanEpochs % 6 === 0 ? 1.012 : 1;
  }
}
