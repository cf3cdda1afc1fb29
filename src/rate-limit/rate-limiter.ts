import { readAdvertisedBudget } from './advertised-budget.ts';
import { noteWindow, paceOf } from './advertised-window.ts';
import { betweenRecoveries, cycleMs, lastCycle, leaveOut, mark, sinceClimb } from './capacity.ts';
import { CUT, climb, toothOf } from './climb.ts';
import { blameConcurrency, noteClean } from './concurrency-limit.ts';
import { beginTest, countInTest, follow, freshWatch, shareOf, watch } from './noise.ts';
import { createPermits, type Permits } from './permits.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import { beginUnderWay, type Meeting, type SavedRateLimit, type UnderWay } from './saved-rate-limit.ts';

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

const rates = { first: 10, least: 0.01, most: 5_000 };
/** Before any limit is met the rate doubles in so long: finding it costs a few requests, crawling below it all. */
const DOUBLE_MS = 3_000;
const wait = { least: 100, doubled: 15_000, most: 300_000 };
/** A quota told to last so long is never left to bulk alone. */
const lasting = { ms: 60_000, bulkShare: 0.97 };
/** Early meetings in a row that make noise likely, and answers until it may be tested again. */
const suspicion = { early: 3, again: 1_000 };
/** An average over so long is worth remembering. */
const LONG_CYCLE_MS = 30_000;
const TEST_RATE = 0.75;
const TEST_STAGES = 2;

/** The decision core of a rate limit: learns the rate of an unknown limit from 429s. Pure: no timers, no I/O. */
export function createRateLimiter(clock: LimiterClock, saved?: SavedRateLimit): RateLimiter {
  const rateLimit = new LearnedRateLimit(clock, saved ?? { rate: rates.first, limit: 0, noise: 0, limitSeen: false });
  return {
    ask: (priority) => rateLimit.ask(priority),
    answered: (answer) => rateLimit.answered(answer),
    mostInFlight: () => rateLimit.mostInFlight(),
    giveBack: (permits) => rateLimit.giveBack(permits),
    save: () => rateLimit.save(),
  };
}

/** Invariant: a decision is taken only from answers to requests that were sent after the last one. */
class LearnedRateLimit {
  readonly #learned: Omit<SavedRateLimit, 'underWay'>;
  readonly #permits: Permits;
  readonly #clock: LimiterClock;
  readonly #now: UnderWay;

  constructor(clock: LimiterClock, { underWay, ...learned }: SavedRateLimit) {
    const now = clock.now();
    this.#clock = clock;
    this.#learned = learned;
    this.#now =
      underWay !== undefined && underWay.savedAt <= now + 1000 ? structuredClone(underWay) : beginUnderWay(now);
    this.#permits = createPermits(clock.now, this.#now.permits);
  }

  save(): SavedRateLimit {
    return { ...this.#learned, underWay: structuredClone({ ...this.#now, savedAt: this.#clock.now() }) };
  }

  mostInFlight(): number | undefined {
    return this.#now.concurrency.most ?? undefined;
  }

  giveBack(permits: number): void {
    this.#permits.giveBack(permits, this.#learned.rate);
    if (this.#now.window !== null) this.#now.window.remaining += permits;
  }

  ask(priority: Priority): number {
    const { window } = this.#now;
    const now = this.#clock.now();
    const pace = paceOf(window, now);
    if (window !== null && pace?.bulkWaits === true) return window.endsAt + 60 - now;
    const waitMs = this.#permits.ask(priority, pace?.rate ?? this.#rate());
    if (waitMs === 0 && window !== null) window.remaining -= 1;
    return waitMs;
  }

  #rate(): number {
    return this.#now.test === null ? this.#learned.rate : this.#learned.rate * TEST_RATE ** this.#now.test.stage;
  }

  answered(answer: RateLimitAnswer): void {
    const now = this.#clock.now();
    const isRecent = answer.sentAt >= this.#now.decidedAt;
    if (answer.status === 0) {
      // No answer says nothing about a limit; the next request is the canary.
      if (isRecent) this.#permits.canaryAnswered(false);
      return;
    }
    const limited = answer.status === 429 || (answer.status === 503 && answer.retryAfterMs !== undefined);
    if (answer.status < 500 && !limited) this.#now.capacity.ok += 1;
    this.#obeyHeaders(answer, now);
    this.#now.answers += 1;
    if (isRecent) this.#permits.canaryAnswered(!limited);
    if (this.#now.meeting !== null) return this.#inMeeting(this.#now.meeting, answer, limited, isRecent);
    if (!isRecent) return;
    if (this.#now.test !== null) return this.#inTest(limited, answer);
    if (this.#learned.noise > 0) return this.#underNoise(limited, answer);
    if (limited) return this.#meet(answer);
    this.#onClean(answer);
  }

  #onClean(answer: RateLimitAnswer): void {
    noteClean(this.#now.concurrency, answer.inFlight ?? 0);
    // A rate that nobody uses up says nothing: an idle tenant must not climb.
    if (!this.#permits.isBusy()) return;
    const { learned, now } = { learned: this.#learned, now: this.#clock.now() };
    if (!learned.limitSeen) learned.rate = Math.min(learned.rate + (Math.LN2 * 1000) / DOUBLE_MS, rates.most);
    else if (climb(this.#now.climb, learned)) mark(this.#now.capacity, now, false);
  }

  /** A limit is met: everybody waits, and the rate is decided when requests succeed again. */
  #meet(answer: RateLimitAnswer): void {
    const now = this.#clock.now();
    const isConcurrency = blameConcurrency(this.#now.concurrency, answer.inFlight ?? 0);
    const isTold = paceOf(this.#now.window, now) !== undefined;
    const freeAt = answer.retryAfterMs === undefined ? Number.MAX_VALUE : now + answer.retryAfterMs;
    const spared = isConcurrency || isTold;
    this.#now.meeting = { at: now, rate: this.#learned.rate, refused: 1, tries: 0, freeAt, isBan: this.#now.bans, spared };
    this.#now.backoff = this.#now.ownWaitMs;
    const { limit, limitSeen, rate } = this.#learned;
    const isNear = limitSeen && rate <= limit * 1.05;
    // Until it is decided: whoever comes first after the pause must not come at a rate that was refused.
    if (!this.#now.meeting.spared) this.#learned.rate = limitSeen ? Math.min(rate, limit) * (1 - CUT.first) : rate / 2;
    // After a climb past the limit a sliding window is full for longer than it says.
    const { early } = this.#now.climb;
    const told = answer.retryAfterMs;
    const least = early < 0 && this.#isEarly() ? 500 * 2 ** (early + 2) : 0;
    this.#pause(told === undefined ? undefined : Math.max(told, least), told === undefined || !isNear);
  }

  /** Where the server says how long, it is believed once; otherwise one request tries first. */
  #pause(toldMs: number | undefined, canary: boolean): void {
    const now = this.#clock.now();
    // Jitter, so that processes that were stopped together do not come back together.
    const own = this.#now.backoff * (0.9 + 0.2 * this.#clock.random());
    this.#permits.waitUntil(now + (canary ? Math.max(toldMs ?? 0, own) : (toldMs ?? 0)));
    if (canary) this.#permits.sendCanary();
    this.#now.permits.bulkShare = (toldMs ?? 0) > lasting.ms ? lasting.bulkShare : this.#now.permits.bulkShare;
    this.#now.decidedAt = now + (this.#clock.leaseMs ?? 0);
  }

  #inMeeting(meeting: Meeting, answer: RateLimitAnswer, limited: boolean, isRecent: boolean): void {
    const now = this.#clock.now();
    if (!limited) {
      if (isRecent && now >= this.#now.permits.pausedUntil) this.#recover(meeting);
      return;
    }
    meeting.refused += 1;
    const freeAt = now + (answer.retryAfterMs ?? 0);
    // Who comes again is kept away for longer: a limit would be free when it said.
    if (freeAt > meeting.freeAt + Math.max(1_000, 0.7 * (meeting.freeAt - meeting.at))) meeting.isBan = true;
    if (isRecent) meeting.tries += 1;
    if (!isRecent) return this.#permits.waitUntil(now + (answer.retryAfterMs ?? 0));
    this.#now.backoff = Math.min(this.#now.backoff * (this.#now.backoff < wait.doubled ? 2 : 1.5), wait.most);
    this.#pause(answer.retryAfterMs, true);
  }

  #recover(meeting: Meeting): void {
    const now = this.#clock.now();
    const pauseMs = now - meeting.at;
    this.#now.longRow = meeting.tries >= 4 ? this.#now.longRow + 1 : 0;
    const most = this.#now.longRow >= 2 ? 60_000 : 1_000;
    this.#now.ownWaitMs = Math.min(Math.max(this.#now.backoff * 0.7, wait.least), most);
    if (meeting.isBan) this.#forgetBan(pauseMs);
    this.#now.meeting = null;
    Object.assign(this.#now.watch, freshWatch);
    if (meeting.spared) {
      // What held the rate down was not the rate.
      this.#learned.limitSeen = false;
      return;
    }
    const { climb: own } = this.#now;
    const { limit, limitSeen, noise } = this.#learned;
    const isEarly = limitSeen && this.#isEarly();
    const isFar = !limitSeen || meeting.rate > limit * (1 + 2 * own.cut);
    if (limitSeen) own.perHit += 0.3 * (meeting.refused - own.perHit);
    if (!isEarly && !isFar) {
      // A long pause alone says that the rate was too high; two, that they are what a meeting costs.
      own.pauseMs += 0.3 * (Math.min(pauseMs, own.lastPauseMs) - own.pauseMs);
      own.lastPauseMs = pauseMs;
    }
    const cycle = cycleMs(this.#now.capacity, now);
    if (cycle >= LONG_CYCLE_MS) own.proven = Math.max(own.proven * 0.9, betweenRecoveries(this.#now.capacity, now) / (1 - noise));
    this.#noteEarly(isEarly, isFar && limitSeen, meeting);
    this.#learned.limit = Math.max(this.#newLimit(meeting.rate, isFar, pauseMs), rates.least);
    // An average over whole cycles needs no room for doubt.
    if (this.#learned.limit < 0.9 * meeting.rate && !meeting.isBan) own.cut = CUT.first;
    this.#learned.rate = this.#learned.limit * (1 - own.cut);
    this.#learned.limitSeen = true;
    (globalThis as any).trace?.(`${(now/1000).toFixed(1)} hit at ${meeting.rate.toFixed(2)} k=${meeting.refused} pause=${pauseMs.toFixed(0)} clean=${own.clean} early=${own.early} far=${isFar} cut=${own.cut.toFixed(3)} rr=${betweenRecoveries(this.#now.capacity, now).toFixed(2)} limit ${limit.toFixed(2)}->${this.#learned.limit.toFixed(2)} tooth=${toothOf(own,limit,noise).toFixed(0)} noise=${noise.toFixed(3)} own=${this.#now.ownWaitMs.toFixed(0)}`);
    mark(this.#now.capacity, now, true);
    own.clean = 0;
    own.beyond = 0;
    if (own.early >= suspicion.early) this.#suspect();
  }

  #isEarly(): boolean {
    const { climb: own } = this.#now;
    return own.clean < toothOf(own, this.#learned.limit, this.#learned.noise) / 4;
  }

  #forgetBan(pauseMs: number): void {
    this.#now.bans = true;
    leaveOut(this.#now.capacity, pauseMs);
    // A bucket filled up meanwhile, so that the averages say too much.
    this.#now.climb.cut = Math.max(this.#now.climb.cut, 3 * CUT.first);
  }

  #noteEarly(isEarly: boolean, isFar: boolean, { rate, refused }: Pick<Meeting, 'rate' | 'refused'>): void {
    const { climb: own } = this.#now;
    own.cut = isEarly && own.early >= 0 ? Math.min(own.cut * 2, CUT.most) : isEarly ? own.cut : Math.max(own.cut * 0.7, CUT.first);
    // A climb past the limit leaves a window full: what is refused after it is no surprise.
    own.early = isEarly ? own.early + 1 : isFar ? -2 : 0;
    own.earlyAnswers = isEarly ? own.earlyAnswers + own.clean + refused : 0;
    if (!isEarly) own.rateBefore = rate;
    // Not a window that was full: the limit itself has fallen.
    if (own.early > 2) own.proven = 0;
  }

  #newLimit(refusedAt: number, isFar: boolean, pauseMs: number): number {
    const now = this.#clock.now();
    const { limit, limitSeen, noise } = this.#learned;
    const { cut, early, proven } = this.#now.climb;
    const last = betweenRecoveries(this.#now.capacity, now);
    // One cycle may have begun in the middle of a window; two early ones tell that the limit itself has fallen.
    const longer = early < 2 ? betweenRecoveries(this.#now.capacity, now, 2) : 0;
    const average = Math.max(last, longer) / (1 - noise);
    const isShort = lastCycle(this.#now.capacity) < 10;
    const shortly = early <= 1 ? 0.85 : 0.7;
    const known = early <= 2 ? Math.min(0.98 * proven, refusedAt) : 0;
    const least = Math.max(known, refusedAt * (isShort && limitSeen ? shortly : 0.05));
    if (isFar) {
      const climbed = Math.max(average, sinceClimb(this.#now.capacity, now, pauseMs) / (1 - noise));
      return Math.max(least, Math.min(refusedAt, Math.max(climbed, limitSeen ? limit : 0)));
    }
    if (average < refusedAt * (1 - 2 * cut - 0.02)) return Math.max(least, average * (1 + cut / 2));
    return refusedAt;
  }

  #suspect(): void {
    const { tested, answers, climb: own } = this.#now;
    const share = own.early / Math.max(1, own.earlyAnswers);
    const isFresh = answers - tested.answers < suspicion.again && this.#learned.rate > 0.5 * tested.rate;
    if (isFresh) return;
    this.#now.test = beginTest(own.rateBefore, share);
    own.early = 0;
  }

  #inTest(limited: boolean, answer: RateLimitAnswer): void {
    const { test } = this.#now;
    if (test === null) return;
    const verdict = countInTest(test, limited);
    if (verdict === undefined) return;
    if (verdict === 'noise' && test.stage < TEST_STAGES) {
      this.#now.test = { ...beginTest(test.before, shareOf(test)), stage: test.stage + 1 };
      this.#now.decidedAt = this.#clock.now() + (this.#clock.leaseMs ?? 0);
      return;
    }
    (globalThis as any).trace?.(`${(this.#clock.now()/1000).toFixed(1)} test ${verdict} stage ${test.stage} ${test.limited}/${test.answers} suspected ${test.suspected.toFixed(3)}`);
    this.#now.test = null;
    this.#now.tested = { answers: this.#now.answers, rate: this.#learned.rate };
    if (verdict === 'limit') {
      this.#learned.noise = 0;
      if (test.stage > 1 || limited) this.#learned.limit = this.#learned.rate *= TEST_RATE ** (test.stage - (limited ? 0 : 1));
      if (limited) this.#meet(answer);
      return;
    }
    Object.assign(this.#now.watch, freshWatch);
    this.#learned.noise = shareOf(test);
    this.#now.mostNoise = this.#learned.noise;
    // What cut the rate was noise: it climbs on from where it was.
    this.#learned.rate = Math.max(test.before, this.#learned.rate);
    this.#learned.limit = this.#learned.rate;
    this.#now.climb.cut = CUT.first;
  }

  #underNoise(limited: boolean, answer: RateLimitAnswer): void {
    const { rate, limit, noise } = this.#learned;
    const { watch: own, climb: tooth } = this.#now;
    const found = watch(own, noise, limited);
    if (rate < limit * (1 - tooth.cut / 3)) this.#learned.noise = Math.min(follow(noise, limited), this.#now.mostNoise);
    if (found === 'run') return this.#meet(answer);
    if (found === 'excess') {
      const excess = Math.min(Math.max(own.limited / own.answers - noise, CUT.first), 0.5);
      this.#learned.limit = rate * (1 - excess);
      this.#learned.rate = this.#learned.limit * (1 - tooth.cut);
      this.#noteEarly(this.#isEarly(), false, { rate, refused: own.limited });
      Object.assign(tooth, { clean: 0, beyond: 0 });
      if (tooth.early >= suspicion.early) this.#suspect();
      Object.assign(own, freshWatch);
      this.#now.decidedAt = this.#clock.now() + (this.#clock.leaseMs ?? 0);
      return;
    }
    if (!limited) this.#onClean(answer);
  }

  #obeyHeaders(answer: RateLimitAnswer, now: number): void {
    const budget = readAdvertisedBudget(answer.headers ?? {}, now);
    if (budget === undefined) return;
    this.#now.window = noteWindow(this.#now.window, budget, now);
    if (budget.remaining === 0) this.#permits.waitUntil(now + Math.min(budget.resetMs, 60_000));
  }
}
