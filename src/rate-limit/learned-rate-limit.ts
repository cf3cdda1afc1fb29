import { readAdvertisedBudget } from './advertised-budget.ts';
import { LEAST_WINDOW_MS, noteWindow, paceOf } from './advertised-window.ts';
import { noteRefusal } from './bans.ts';
import { anchorAt, beginCycle, mark } from './capacity.ts';
import { CUT, climb, doubling, NOISY_CUT, spend } from './climb.ts';
import { blameConcurrency, noteClean } from './concurrency-limit.ts';
import { type LimiterState, leastWait } from './new-rate.ts';
import { countInTest, follow, freshWatch, type NoiseTest, repeatTest, watch } from './noise.ts';
import { createPermits, type Permits } from './permits.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import { endMeeting, nextWait } from './recovery.ts';
import { freshRow, freshSuspicion } from './saved-meetings.ts';
import {
  beginMeeting,
  type LearnedRate,
  type Meeting,
  restoreUnderWay,
  type SavedRateLimit,
  type UnderWay,
} from './saved-rate-limit.ts';
import { believeNoise, cutByExcess } from './suspicion.ts';

export interface LimiterClock {
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
  /** How long others may still use a permit leased before a pause, ms. No pause is shorter: a canary is alone. */
  leaseMs?: number;
  /** By how much the rate will have grown at `now()`, where permits are given ahead of time. */
  ahead?: () => number;
}

/** A quota told to last so long is never left to bulk alone. */
const lasting = { ms: 60_000, bulkShare: 0.97 };
const NOISE_TESTS = 2;
const PAST_DOUBT = 2; // Doublings of a climb beyond the limit: it has changed.
/** Whoever meets a limit after a rest and fewer successes has not used up what is allowed. */
const LEAST_USED = 20;

/** Invariant: a decision is taken only from answers to requests that were sent after the last one. */
export class LearnedRateLimit {
  readonly #learned: LearnedRate;
  readonly #underWay: UnderWay;
  readonly #state: LimiterState;
  readonly #permits: Permits;
  readonly #clock: LimiterClock;

  constructor(clock: LimiterClock, { underWay, ...learned }: SavedRateLimit) {
    const now = clock.now();
    this.#clock = clock;
    this.#learned = learned;
    this.#underWay = restoreUnderWay(underWay, now);
    this.#state = { learned, underWay: this.#underWay };
    this.#permits = createPermits(clock.now, this.#underWay.permits);
  }

  save(): SavedRateLimit {
    return { ...this.#learned, underWay: structuredClone({ ...this.#underWay, savedAt: this.#clock.now() }) };
  }

  mostInFlight(): number | undefined {
    return this.#underWay.concurrency.most ?? undefined;
  }

  giveBack(permits: number): void {
    this.#permits.giveBack(permits, this.#rate());
    if (this.#underWay.window !== null) this.#underWay.window.remaining += permits;
  }

  ask(priority: Priority): number {
    const { window } = this.#underWay;
    const pace = paceOf(window, this.#clock.now());
    if (pace !== undefined && pace.spentForMs > 0) return pace.spentForMs;
    const { restedAt } = this.#underWay.permits;
    const waitMs = this.#permits.ask(priority, pace?.rate ?? this.#rate());
    if (waitMs === 0 && window !== null) window.remaining -= 1;
    if (this.#underWay.permits.restedAt !== restedAt) this.#rested();
    return waitMs;
  }

  /** What went through while there was little to send is no measure of a limit. */
  #rested(): void {
    this.#underWay.restedOk = beginCycle(this.#underWay.capacity, this.#clock.now());
  }

  #rate(): number {
    const { test } = this.#underWay;
    return test === null ? this.#learned.rate * (this.#clock.ahead?.() ?? 1) : test.rate;
  }

  answered(answer: RateLimitAnswer): void {
    const now = this.#clock.now();
    // No answer says nothing about a limit; the next request is the canary.
    if (answer.status === 0) return this.isNotOurs(answer);
    const isRecent = answer.sentAt >= this.#underWay.decidedAt;
    const limited = answer.status === 429 || (answer.status === 503 && answer.retryAfterMs !== undefined);
    if (answer.status < 500 && !limited) this.#underWay.capacity.ok += 1;
    this.#obeyHeaders(answer, now);
    this.#underWay.answers += 1;
    spend(this.#underWay.climb, limited);
    if (isRecent) this.#permits.canaryAnswered(!limited);
    const { meeting } = this.#underWay;
    if (meeting !== null) return this.#inMeeting(meeting, answer, limited, isRecent);
    if (isRecent) this.#decide(answer, limited);
  }

  /** One that was no answer of this limit. */
  isNotOurs({ sentAt }: RateLimitAnswer): void {
    if (sentAt >= this.#underWay.decidedAt) this.#permits.canaryAnswered(false);
  }

  /** What it met was another limit: it looks for its own again, from the rate that it has. */
  forget(): void {
    Object.assign(this.#learned, { limitSeen: false, noise: 0 });
    Object.assign(this.#underWay, { test: null, row: { ...freshRow }, suspicion: { ...freshSuspicion } });
    beginCycle(this.#underWay.capacity, this.#clock.now());
    if (this.#underWay.meeting !== null) this.#underWay.meeting.isSpared = true;
  }

  #decide(answer: RateLimitAnswer, limited: boolean): void {
    const { test } = this.#underWay;
    if (test !== null) return this.#inTest(test, answer, limited);
    if (this.#learned.noise > 0) return this.#underNoise(answer, limited);
    if (limited) return this.#meet(answer);
    this.#climb(answer);
  }

  #climb(answer: RateLimitAnswer): void {
    const learned = this.#learned;
    noteClean(this.#underWay.concurrency, answer.inFlight ?? 0);
    // A rate that nobody uses up says nothing: an idle tenant must not climb.
    if (!this.#permits.isBusy()) return;
    if (!learned.limitSeen) return this.#double(answer);
    const { capacity, climb: tooth } = this.#underWay;
    if (!climb(tooth, learned, this.#underWay.row.memoryMs ?? 0)) return;
    mark(capacity, this.#clock.now(), false);
    if (Math.floor(tooth.beyond) === PAST_DOUBT) anchorAt(capacity, this.#clock.now());
  }

  #double(answer: RateLimitAnswer): void {
    const { rate } = this.#learned;
    this.#learned.rate = doubling(this.#underWay.climb, rate, answer);
    const isStep = Math.floor(2 * Math.log2(rate)) < Math.floor(2 * Math.log2(this.#learned.rate));
    if (isStep) mark(this.#underWay.capacity, this.#clock.now(), false);
  }

  /** A limit is met: everybody waits, and the rate is decided when requests succeed again. */
  #meet({ retryAfterMs, inFlight }: RateLimitAnswer): void {
    const now = this.#clock.now();
    const { limit, limitSeen, rate } = this.#learned;
    const isConcurrency = blameConcurrency(this.#underWay.concurrency, inFlight ?? 0);
    const isSpared = isConcurrency || paceOf(this.#underWay.window, now) !== undefined;
    const { capacity, restedOk = -LEAST_USED, climb: tooth } = this.#underWay;
    const isChance = !isSpared && capacity.ok - restedOk < LEAST_USED;
    const first = { at: now, ok: capacity.ok, rate, isBan: tooth.bans, isSpared, isChance };
    this.#underWay.meeting = beginMeeting(first, retryAfterMs);
    const leastMs = leastWait(this.#state);
    this.#underWay.backoff = Math.max(this.#underWay.ownWaitMs, leastMs);
    // Until it is decided: whoever comes first after the pause must not come at a rate that was refused.
    if (!isSpared && !isChance) this.#learned.rate = limitSeen ? Math.min(rate, limit) * (1 - CUT) : rate / 2;
    const isNear = limitSeen && rate <= limit * 1.05;
    if (retryAfterMs === undefined) return this.#pause(undefined, true);
    this.#pause(Math.max(retryAfterMs, leastMs), !isNear);
  }

  /** Where the server says how long, it is believed once; otherwise one request tries first. */
  #pause(toldMs: number | undefined, canary: boolean): void {
    const now = this.#clock.now();
    // Jitter, so that processes that were stopped together do not come back together.
    const own = this.#underWay.backoff * (0.9 + 0.2 * this.#clock.random());
    this.#permits.waitUntil(now + Math.max(toldMs ?? 0, canary ? own : 0, this.#clock.leaseMs ?? 0));
    if (canary) this.#permits.sendCanary();
    if (toldMs !== undefined && toldMs > lasting.ms) this.#underWay.permits.bulkShare = lasting.bulkShare;
    this.#decided();
  }

  #decided(): void {
    this.#underWay.decidedAt = this.#clock.now() + (this.#clock.leaseMs ?? 0);
  }

  #inMeeting(meeting: Meeting, answer: RateLimitAnswer, limited: boolean, isRecent: boolean): void {
    const now = this.#clock.now();
    if (!limited) {
      if (!isRecent) meeting.passed = (meeting.passed ?? 0) + 1;
      else if (now >= this.#underWay.permits.pausedUntil) this.#recover(meeting, now);
      return;
    }
    const toldMs = answer.retryAfterMs ?? 0;
    noteRefusal(meeting, toldMs);
    if (!isRecent) return this.#permits.waitUntil(now + toldMs);
    meeting.tries += 1;
    meeting.refusedAt = now;
    this.#underWay.backoff = nextWait(this.#underWay.backoff, this.#underWay.climb.silence === 'ban');
    this.#pause(answer.retryAfterMs, true);
  }

  #recover(meeting: Meeting, now: number): void {
    const own = this.#underWay;
    own.meeting = null;
    delete own.restedOk;
    Object.assign(own.watch, freshWatch);
    endMeeting(this.#state, meeting, now);
  }

  #inTest(test: NoiseTest, answer: RateLimitAnswer, limited: boolean): void {
    const verdict = countInTest(test, limited);
    if (verdict === undefined) return;
    if (verdict === 'fading' || (verdict === 'noise' && test.stage < NOISE_TESTS)) {
      this.#underWay.test = repeatTest(test);
      return this.#decided();
    }
    this.#underWay.test = null;
    const silent = verdict === 'noise' ? 0 : (this.#underWay.tested.silent ?? 0) + 1;
    this.#underWay.tested = { answers: this.#underWay.answers, rate: this.#learned.rate, silent };
    if (verdict === 'noise') return believeNoise(this.#state, test, this.#clock.now());
    this.#learned.noise = 0;
    this.#underWay.suspicion.peak = this.#learned.limit;
    if (limited) this.#meet(answer);
  }

  #underNoise(answer: RateLimitAnswer, limited: boolean): void {
    const { rate, limit, noise } = this.#learned;
    const { watch: own, mostNoise } = this.#underWay;
    const found = watch(own, noise, limited);
    // Near the limit some of the 429s are its own.
    if (rate < limit * (1 - NOISY_CUT / 2)) this.#learned.noise = Math.min(follow(noise, limited), mostNoise);
    if (found === 'run') return this.#meet(answer);
    if (found === 'excess') {
      cutByExcess(this.#state);
      Object.assign(own, freshWatch);
      return this.#decided();
    }
    if (!limited) this.#climb(answer);
  }

  #obeyHeaders({ headers }: RateLimitAnswer, now: number): void {
    const budget = readAdvertisedBudget(headers ?? {}, now);
    if (budget === undefined) return;
    this.#underWay.window = noteWindow(this.#underWay.window, budget, now);
    if (budget.remaining === 0 && budget.resetMs >= LEAST_WINDOW_MS)
      this.#permits.waitUntil(now + Math.min(budget.resetMs, 60_000));
  }
}
