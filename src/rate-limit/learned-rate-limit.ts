import { CUT, climb, doubling, NOISY_CUT, spend } from './climb.ts';
import {
  anchorAt,
  beginCycle,
  blameConcurrency,
  freshWatch,
  LEAST_WINDOW_MS,
  MOST_NOISE,
  mark,
  type NoiseTest,
  type NoiseWatch,
  noteClean,
  noteWindow,
  paceOf,
  readAdvertisedBudget,
  repeatTest,
  shareOf,
  sinceAnchor,
} from './measures.ts';
import {
  believeNoise,
  cutByExcess,
  type LimiterState,
  leastWait,
  type Met,
  newRate,
  noteBan,
  noteSilence,
  readMeeting,
  suspect,
} from './new-rate.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import {
  createPermits,
  freshMeeting,
  freshRow,
  freshSuspicion,
  isWhole,
  type Learned,
  type LearnedRate,
  type Meeting,
  REST_MS,
  restoreUnderWay,
  type SavedRateLimit,
  type UnderWay,
} from './saved-rate-limit.ts';

/**
 * One a minute: an activity that has made a call waits this long for its next permit (activities/activity-scope.ts).
 */
const LEAST_RATE = 1 / 60;
const MEMORY = 0.3;
/** A cycle this far below the best one shows that the limit fell. */
const FALLEN = 0.9;
const FADE = 0.0015;
/** Answers between two 429s that do not come from a limit. */
const DOUBT = 25;
/** Number of early meetings in a row that may be echoes. */
const ECHOES = 4;
/** Share of the rate before the first ban at which the search starts again. */
const WELL_BELOW = 0.25;
const MOST_MEMORY_MS = 75_000;
/** The first wait if the server states none: short, unless pauses were long twice in a row. */
const firstWait = { least: 100, most: 1_000, mostIfLong: 60_000, longTries: 4 };

/**
 * Waits between retries if the server states none: they double, then grow slowly up to a one-minute window, then
 * faster.
 */
const wait = { doubled: 15_000, window: 30_000, ban: 70_000, most: 300_000 };

const LEAST_NOISE = 0.002;

/** A shorter Retry-After may just be the length of a round trip. */
const LEAST_MS = 900;

const decisive = { noise: 4, limit: -4.5 };
/** So many 429s in a row cannot be noise. */
const RUN = 6;

/** Ends a meeting: requests succeed again. */
function endMeeting(state: LimiterState, meeting: Meeting, now: number): void {
  // If something else held the rate down, the rate was not to blame.
  if (!meeting.isChance && meeting.isSpared) state.learned.limitSeen = false;
  else if (!meeting.isChance) decideRate(state, meeting, now);
  learnWait(state.underWay, meeting);
}

/** The next wait in ms after a retry was refused. A ban is waited out. */
function nextWait(waitedMs: number, isBan: boolean): number {
  if (isBan && waitedMs < wait.ban) return wait.ban;
  const factor = waitedMs < wait.doubled ? 2 : waitedMs < wait.window ? 1.5 : 2.25;
  return Math.min(waitedMs * factor, wait.most);
}

/** Decides the rate to go on with. */
function decideRate(state: LimiterState, meeting: Meeting, now: number): void {
  const { learned, underWay } = state;
  const hadBans = underWay.climb.bans;
  noteBan(underWay.climb, meeting, meeting.at - (underWay.row.refused?.at ?? 0));
  if (learned.noise === 0) noteSilence(underWay.climb, meeting);
  leaveOutIdle(underWay, meeting, now - meeting.at);
  const met = readMeeting(state, meeting, now);
  if (isDoubtful(underWay, met)) {
    learned.rate = meeting.rate;
    underWay.row.doubtedAt = underWay.answers;
    return;
  }
  if (met.isFirst && meeting.isBan && underWay.climb.bans && !hadBans) {
    // The first limit ever met bans: it was far exceeded, so the search starts again slowly from well below.
    learned.rate = Math.max(WELL_BELOW * sinceAnchor(underWay.capacity, now), LEAST_RATE);
    beginCycle(underWay.capacity, now);
    return;
  }
  if (!met.isFirst && underWay.row.settling === 0) notePause(underWay, met);
  noteLong(underWay, met);
  const limitBefore = learned.limit;
  learned.rate = Math.max(newRate(state, met), LEAST_RATE);
  learned.limit = limitAfter(state, met, limitBefore);
  learned.limitSeen = true;
  noteKnown(underWay, met);
  noteRow(underWay, met);
  const hasFallen = !underWay.climb.isWindow && learned.limit < 0.9 * limitBefore;
  underWay.climb.isGuess = met.isFirst || hasFallen;
  suspect(state, met, limitBefore);
  Object.assign(underWay.climb, { clean: 0, beyond: 0 });
}

/** Neither a ban nor the rounded-up part of a wait says anything about the limit. */
function leaveOutIdle({ capacity }: UnderWay, { isBan, toldMs }: Meeting, pauseMs: number): void {
  for (const one of [...capacity.marks, capacity.anchor]) {
    if (isBan) one.at += pauseMs;
    if (isWhole(toldMs)) one.at += 0.5 * Math.min(pauseMs, 1_000);
  }
}

/** One long pause only shows that the rate was too high; two show what a meeting costs. */
function notePause({ climb }: UnderWay, { meeting, pauseMs }: Met): void {
  climb.perHit += MEMORY * (meeting.refused - climb.perHit);
  climb.pauseMs += MEMORY * (Math.min(pauseMs, climb.lastPauseMs) - climb.pauseMs);
  climb.lastPauseMs = pauseMs;
}

function noteLong({ climb, row }: UnderWay, { isLong, isEarly }: Met): void {
  if (isLong) row.long += 1;
  else if (!isEarly) row.long = 0;
  climb.isWindow = row.long > 1;
}

/**
 * Whether a single 429 is no limit: a limit refuses more than one request while the rate doubles, or refuses again
 * soon.
 */
function isDoubtful({ answers, row }: UnderWay, { isFirst, isLong, meeting }: Met): boolean {
  if (!isFirst || isLong || meeting.isBan || meeting.refused > 1) return false;
  return answers - row.doubtedAt >= DOUBT;
}

/** After an early meeting, the rate falls below what worked for long and soon comes back: such a window echoes. */
function limitAfter({ learned, underWay }: LimiterState, met: Met, limitBefore: number): number {
  const { row, suspicion } = underWay;
  if (met.raised !== undefined) return met.raised.limit;
  const limit = learned.rate * (1 + CUT);
  const mayEcho = row.early <= ECHOES || met.now < suspicion.calmUntil;
  const isPassing = met.isEarly && !met.isLong && !met.hasFallen && !met.isFar && !met.meeting.isBan && mayEcho;
  return isPassing ? Math.max(limit, Math.min(row.known, limitBefore) * (1 - CUT / 4)) : limit;
}

function noteKnown({ row }: UnderWay, { inAll, isFirst, isLong, pauseMs, raised }: Met): void {
  row.memoryMs = Math.min(Math.max(row.memoryMs * (1 - FADE), isLong ? 1.2 * pauseMs : 0), MOST_MEMORY_MS);
  if (raised !== undefined) row.known = raised.limit;
  if (isFirst || inAll === undefined || raised !== undefined) return;
  row.known = inAll < FALLEN * row.known ? inAll : Math.max(inAll, row.known * (1 - FADE));
}

/** Decides where the next averages begin. */
function noteRow({ row, capacity }: UnderWay, met: Met): void {
  row.refused = { at: met.meeting.at, ok: met.meeting.ok ?? capacity.ok };
  row.full = met.isEarly && met.isAgain && !met.hasFallen ? row.full + 1 : 0;
  // Counts from before belong to a lower limit.
  if (met.raised !== undefined) beginCycle(capacity, met.now);
  else mark(capacity, met.now, true);
  const isNew = !met.isFirst && !met.isFar && (!met.isEarly || row.early > 3);
  if (row.settling > 0 ? met.isLong && !met.isAgain : isNew) anchorAt(capacity, met.now);
}

/** Learns the first wait if the server states none: a little less than what was long enough this time. */
function learnWait(own: UnderWay, { tries }: Meeting): void {
  own.longInRow = tries >= firstWait.longTries ? own.longInRow + 1 : 0;
  const isLong = own.longInRow >= 2 && own.climb.silence !== 'ban';
  const most = isLong ? firstWait.mostIfLong : firstWait.most;
  own.ownWaitMs = Math.min(Math.max(own.backoff * 0.7, firstWait.least), most);
}

export interface LimiterClock {
  now: () => number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /**
   * How long, in ms, other processes may still use permits leased before a pause. No pause is shorter, so that a canary
   * is alone.
   */
  leaseMs?: number;
  /** Growth of the rate by `now()`, if permits are given ahead of time. */
  ahead?: () => number;
}

/** Once the server has stated a longer wait than this, bulk gets only this share of the rate. */
const lasting = { ms: 60_000, bulkShare: 0.97 };
const NOISE_TESTS = 2;
const PAST_DOUBT = 2; // Doublings of a climb beyond the limit after which the limit has changed.
/** After a rest, a 429 before this many successes does not show that the limit was used up. */
const LEAST_USED = 20;

/** Invariant: each decision uses only answers to requests that were sent after the last decision. */
export class LearnedRateLimit {
  readonly #learned: LearnedRate;
  readonly #underWay: UnderWay;
  readonly #state: LimiterState;
  readonly #permits: ReturnType<typeof createPermits>;
  readonly #clock: LimiterClock;

  constructor(clock: LimiterClock, { underWay, ...learned }: SavedRateLimit) {
    const now = clock.now();
    this.#clock = clock;
    this.#learned = learned;
    this.#underWay = restoreUnderWay(underWay, now);
    this.#state = { learned, underWay: this.#underWay };
    this.#permits = createPermits(clock.now, this.#underWay.permits);
  }

  save(): Learned {
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

  /** While there was little to send, successes do not measure the limit. */
  #rested(): void {
    this.#underWay.restedOk = beginCycle(this.#underWay.capacity, this.#clock.now());
  }

  #rate(): number {
    const { test } = this.#underWay;
    return test === null ? this.#learned.rate * (this.#clock.ahead?.() ?? 1) : test.rate;
  }

  answered(answer: RateLimitAnswer): void {
    const now = this.#clock.now();
    // A missing answer says nothing about a limit; the next request is the canary.
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

  /** Handles an answer that does not come from this limit. */
  isNotOurs({ sentAt }: RateLimitAnswer): void {
    if (sentAt >= this.#underWay.decidedAt) this.#permits.canaryAnswered(false);
  }

  /** The 429s came from another limit: search for this one again from the current rate. */
  forget(): void {
    Object.assign(this.#learned, { limitSeen: false, noise: 0 });
    Object.assign(this.#underWay, { test: null, row: { ...freshRow }, suspicion: structuredClone(freshSuspicion) });
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
    // A rate that is not used up says nothing, so an idle tenant must not climb.
    if (!this.#permits.isBusy()) return;
    if (!learned.limitSeen) return this.#double(answer);
    const { capacity, climb: tooth } = this.#underWay;
    if (!climb(tooth, learned, this.#underWay.row.memoryMs)) return;
    mark(capacity, this.#clock.now(), false);
    if (Math.floor(tooth.beyond) === PAST_DOUBT) anchorAt(capacity, this.#clock.now());
  }

  #double(answer: RateLimitAnswer): void {
    const { rate } = this.#learned;
    this.#learned.rate = doubling(this.#underWay.climb, rate, answer);
    const isStep = Math.floor(2 * Math.log2(rate)) < Math.floor(2 * Math.log2(this.#learned.rate));
    if (isStep) mark(this.#underWay.capacity, this.#clock.now(), false);
  }

  /** A limit is met: everybody waits, and the rate is decided once requests succeed again. */
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
    // Until the decision, the first request after the pause must not be sent at a rate that was refused.
    if (!isSpared && !isChance) this.#learned.rate = limitSeen ? Math.min(rate, limit) * (1 - CUT) : rate / 2;
    const isNear = limitSeen && rate <= limit * 1.05;
    if (retryAfterMs === undefined) return this.#pause(undefined, true);
    this.#pause(Math.max(retryAfterMs, leastMs), !isNear);
  }

  /** A wait that the server states is believed once; otherwise a single request tries first. */
  #pause(toldMs: number | undefined, canary: boolean): void {
    const now = this.#clock.now();
    // Jitter, so that processes that stopped together do not come back together.
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
      if (!isRecent) meeting.passed += 1;
      else if (now >= this.#underWay.permits.pausedUntil)
        // In a longer silence no request wanted a permit, so the rest of it is not due to the limit.
        this.#recover(meeting, Math.min(now, this.#underWay.permits.pausedUntil + REST_MS));
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
    own.restedOk = undefined;
    Object.assign(own.watch, freshWatch);
    endMeeting(this.#state, meeting, now);
  }

  #inTest(test: NoiseTest, answer: RateLimitAnswer, limited: boolean): void {
    const verdict = countInTest(test, limited);
    if (verdict === undefined) return;
    if (verdict === 'noise' && test.stage < NOISE_TESTS) {
      this.#underWay.test = repeatTest(test);
      return this.#decided();
    }
    this.#underWay.test = null;
    this.#underWay.tested = { answers: this.#underWay.answers, rate: this.#learned.rate };
    if (verdict === 'noise') return believeNoise(this.#state, test, this.#clock.now());
    this.#learned.noise = 0;
    this.#underWay.suspicion.peak = this.#learned.limit;
    if (limited) this.#meet(answer);
  }

  #underNoise(answer: RateLimitAnswer, limited: boolean): void {
    const { rate, limit, noise } = this.#learned;
    const { watch: own, mostNoise } = this.#underWay;
    const found = watch(own, noise, limited);
    // Near the limit, some of the 429s come from the limit itself.
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

/** Counts one answer and returns the verdict once it is clear. */
function countInTest(test: NoiseTest, limited: boolean): 'noise' | 'limit' | undefined {
  const silent = test.suspected / 8;
  test.answers += 1;
  test.limitedInRow = limited ? test.limitedInRow + 1 : 0;
  if (limited) test.limited += 1;
  // A limit refuses several requests in a row, so a run counts as one event.
  if (test.limitedInRow > 1) return test.limitedInRow >= RUN ? 'limit' : undefined;
  if (limited) test.runs += 1;
  test.evidence += limited ? Math.log(test.suspected / silent) : Math.log((1 - test.suspected) / (1 - silent));
  if (test.evidence <= decisive.limit) return 'limit';
  if (test.evidence < decisive.noise || test.runs < 3 || test.answers < 30) return undefined;
  return shareOf(test) > MOST_NOISE ? 'limit' : 'noise';
}

/** Counts a refusal while the limit is met. If a retry is told to wait longer than before, the meeting is a ban. */
export function noteRefusal(meeting: Meeting, toldMs: number): void {
  meeting.refused += 1;
  const longest = Math.max(meeting.longestMs, meeting.toldMs ?? 0);
  meeting.longestMs = Math.max(longest, toldMs);
  const isLonger = longest >= LEAST_MS && toldMs > 1.4 * longest + 300;
  if (!isOneMore(meeting, toldMs) && !isLonger) return;
  meeting.longer += 1;
  meeting.isBan = true;
}

/**
 * Answers to requests in flight together may overtake each other: noise can explain two different waits, only a ban
 * three.
 */
function isOneMore(meeting: Meeting, toldMs: number): boolean {
  if (meeting.tries > 0 || toldMs < LEAST_MS || !meeting.waits.every((ms) => differ(ms, toldMs))) return false;
  return meeting.waits.push(toldMs) > 2;
}

function differ(oneMs: number, otherMs: number): boolean {
  return Math.max(oneMs, otherMs) > 1.4 * Math.min(oneMs, otherMs) + 300;
}

/** Counts one answer under known noise. `run`: the limit refuses every request. `excess`: it refuses some. */
function watch(saved: NoiseWatch, noise: number, limited: boolean): 'run' | 'excess' | undefined {
  saved.run = Math.max(0, saved.run + logRatio(limited, 0.7, noise));
  saved.excess = Math.max(0, saved.excess + logRatio(limited, noise + Math.max(0.04, noise / 2), noise));
  if (saved.excess === 0) Object.assign(saved, { answers: 0, limited: 0 });
  saved.answers += 1;
  if (limited) saved.limited += 1;
  if (saved.run > 9) return 'run';
  return saved.excess > 6 ? 'excess' : undefined;
}

function logRatio(limited: boolean, one: number, other: number): number {
  return limited ? Math.log(one / other) : Math.log((1 - one) / (1 - other));
}

/** `toldMs`: Retry-After as the first refusal stated it. */
export function beginMeeting(first: Partial<Meeting>, toldMs: number | undefined): Meeting {
  return { ...freshMeeting, ...first, toldMs, waits: [toldMs ?? 0].filter((ms) => ms >= LEAST_MS) };
}

/** Follows the share of 429s while the rate is well below the limit; 0 once they have almost gone. */
function follow(noise: number, limited: boolean): number {
  const next = Math.min(MOST_NOISE, noise + 0.003 * ((limited ? 1 : 0) - noise));
  return next < LEAST_NOISE ? 0 : next;
}
