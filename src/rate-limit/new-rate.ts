import {
  bestCycle,
  bestSinceRecovery,
  highestSince,
  overLast,
  type SavedCapacity,
  sinceAnchor,
  sinceLongAgo,
  sinceRecovery,
  whileSending,
} from './capacity.ts';
import { CUT, isEarly } from './climb.ts';
import type { SavedRow } from './saved-meetings.ts';
import { isWhole, type LearnedRate, type Meeting, type UnderWay } from './saved-rate-limit.ts';

/** What a limiter knows; changed in place. */
export interface LimiterState {
  learned: LearnedRate;
  underWay: UnderWay;
}

/** A meeting with the limit that is over, and what went through until then. */
export interface Met extends Fall {
  meeting: Meeting;
  now: number;
  pauseMs: number;
  isFirst: boolean;
  isEarly: boolean;
  /** Far above the limit known so far. */
  isFar: boolean;
  /** So soon after the last one that it is as good as the same. */
  isAgain: boolean;
  /** A single 429 after many successes, as a limit's, or of noise. */
  isLone: boolean;
  /** Waited for the end of a window. */
  isLong: boolean;
  /** Of a quota that lasts for minutes or hours. */
  isLasting: boolean;
  /** Successes a second since the last recovery, and since the anchor, the pause included. */
  allowed: number;
  anchored: number;
  /** The limit, where it was raised and is of a window that remembers for long; and what it lets through at first. */
  raised: { limit: number; rate: number } | undefined;
  /** Of a whole cycle that was long enough to tell. */
  inAll: number | undefined;
}

const RAISED = 1.012;
const MOST_CUT = 0.35;
const AGAIN = 20;
const LONE = 50;
const LASTING_MS = 60_000;
const LONG_MEMORY_MS = 10_000;
export const SETTLE = 6;
const least = { first: 6_000, noisy: 2_500, ok: 20, rate: 3 };
/** After a ban: cuts, what of a climb far beyond the limit was fine, and what of a rate that a slow climb came to. */
const banCut = { first: 0.04, most: 0.3, beyond: 0.25, found: 0.75 };
/** A long window refuses at once after a climb far above its limit, so that this is never so twice in a row. */
const FAR_IN_ROW = 2;

/** Met again at once: a sliding window that is full stays full for longer than Retry-After says. */
export function leastWait({ learned, underWay: { climb, row } }: LimiterState): number {
  const isFull = learned.limitSeen && climb.clean < AGAIN && row.full < SETTLE;
  return isFull ? Math.min(250 * 2 ** row.full, 4_000) : 0;
}

export function readMeeting(state: LimiterState, meeting: Meeting, now: number): Met {
  const { learned, underWay } = state;
  const { limitSeen, limit, noise } = learned;
  const pauseMs = now - meeting.at;
  const inAll = sinceLongAgo(underWay.capacity, now, underWay.row.memoryMs ?? 0);
  const isLong = !meeting.isBan && pauseMs > longPause(meeting) + leastWait(state) * (1 + 3 * meeting.tries);
  return {
    meeting,
    now,
    pauseMs,
    isFirst: !limitSeen,
    isEarly: limitSeen && isEarly(underWay.climb, limit, noise),
    isFar: limitSeen && meeting.rate > limit * (1 + 2 * CUT),
    isAgain: underWay.climb.clean < AGAIN,
    isLone: meeting.toldMs !== undefined && underWay.climb.clean >= LONE && meeting.refused === 1,
    ...readFall(state, meeting, now),
    isLong,
    isLasting: isLong && pauseMs > LASTING_MS,
    allowed: sinceRecovery(underWay.capacity, now) / (1 - noise),
    anchored: sinceAnchor(underWay.capacity, now) / (1 - noise),
    raised: meeting.isBan ? undefined : raisedTo(state, meeting, now),
    inAll: inAll === undefined ? undefined : inAll / (1 - noise),
  };
}

/** What went through for as long as the window remembers is the limit; at first only what left then has room. */
function raisedTo({ learned, underWay }: LimiterState, { at, rate }: Meeting, now: number): Met['raised'] {
  const { limit, limitSeen, noise } = learned;
  const { memoryMs = 0 } = underWay.row;
  const isWindow = memoryMs >= LONG_MEMORY_MS && now - at < memoryMs / 20;
  if (!limitSeen || !isWindow || rate < limit * (1 + 2 * CUT)) return undefined;
  const last = overLast(underWay.capacity, now, memoryMs);
  const average = (last?.average ?? 0) / (1 - noise);
  if (last === undefined || average < RAISED * limit) return undefined;
  return { limit: average, rate: Math.min(Math.max(last.begun / (1 - noise), limit), average) * (1 - CUT) };
}

/** A pause so long is not explained by rounding, by round trips, or by the next permit of a bucket. */
function longPause({ rate, toldMs }: Meeting): number {
  if (toldMs === undefined) return 2_500;
  return 300 + (isWhole(toldMs) ? 1_200 : 0) + 2_000 / rate;
}

/** At what rate it goes on; notes in the row what the meeting was. */
export function newRate(state: LimiterState, met: Met): number {
  const { row } = state.underWay;
  if (met.isLasting) return afterLasting(state, met);
  if (met.meeting.isBan && !met.isFirst) return afterBan(state, met);
  const isFound = met.meeting.isBan && state.underWay.climb.bans;
  if (met.isFirst) return isFound ? afterSlowClimb(state, met) : firstRate(state, met);
  if (row.settling > 0 && !met.isFar) return whileSettling(state, met);
  if (met.raised !== undefined) return settle(row, met.raised.rate);
  row.far = met.isFar && !met.isLong && state.learned.noise === 0 ? (row.far ?? 0) + 1 : 0;
  if (met.isFar && row.far < FAR_IN_ROW && !isRaised(state, met)) {
    return settle(row, Math.max((met.inAll ?? 0) * (1 - CUT / 2), state.learned.limit * (1 - CUT / 4)));
  }
  if (met.isLong) return afterWindow(state, met);
  if (met.isFar) return afterFar(state, met);
  return met.isEarly ? afterEarly(row, met) : atTheTop(state, met);
}

/** So long a pause ends a window; the last recovery may have been from noise in the middle of it. */
function afterLasting({ learned, underWay: { capacity, row } }: LimiterState, { meeting, now }: Met): number {
  const average = bestSinceRecovery(capacity, now) / (1 - learned.noise);
  return settle(row, Math.min(meeting.rate, average) * (1 - CUT / 2));
}

/** Over a long cycle no more went through than before: the limit is the same, and its window is long. */
function isRaised({ learned: { limit }, underWay: { row } }: LimiterState, { inAll }: Met): boolean {
  return inAll === undefined || inAll > RAISED * Math.max(limit, row.known ?? 0);
}

function settle(row: SavedRow, rate: number): number {
  Object.assign(row, { settling: 0, early: 0, sound: rate });
  return rate;
}

/** Every one costs a minute: better a little too low. */
function afterBan({ learned: { limit }, underWay: { row } }: LimiterState, { meeting, isEarly, isFar }: Met): number {
  // What was fine for long is fine, and so was the beginning of the climb beyond it.
  if (isFar && !isEarly) return settle(row, (limit + banCut.beyond * (meeting.rate - limit)) * (1 - CUT));
  row.early += 1;
  const rate = meeting.rate * (1 - Math.min(banCut.first * 2 ** row.early, banCut.most));
  Object.assign(row, { settling: 0, sound: rate });
  return rate;
}

/** The rate grew slowly, so that the limit was overrun by little. */
function afterSlowClimb({ underWay: { row } }: LimiterState, { meeting }: Met): number {
  return settle(row, banCut.found * meeting.rate);
}

function firstRate({ learned, underWay }: LimiterState, { meeting, now, pauseMs, anchored, isLong }: Met): number {
  const { capacity, row } = underWay;
  const leastMs = Math.max(learned.noise > 0 ? least.noisy : least.first, 3 * pauseMs);
  const best = highestSince(capacity, now, leastMs);
  const perSecond = best.perSecond / (1 - learned.noise);
  if (perSecond > anchored) capacity.anchor = best.from;
  row.settling = SETTLE;
  return within(capacity, meeting, Math.max(perSecond, anchored), isLong);
}

/** Whatever was overrun is still full: what went through since then comes ever closer to the limit. */
function whileSettling({ learned, underWay: { capacity, row } }: LimiterState, met: Met): number {
  const rate = within(
    capacity,
    met.meeting,
    met.isLong && !met.isAgain && learned.noise === 0 ? met.allowed : met.anchored,
  );
  const isSettled = rate > met.meeting.rate * 0.93 && !met.isAgain;
  Object.assign(row, { settling: isSettled ? 0 : row.settling - 1, early: 0, sound: rate });
  return rate;
}

/** From one end of a window to the next, the average is the limit. */
function afterWindow({ learned, underWay: { capacity, row } }: LimiterState, met: Met): number {
  const average = met.isEarly ? Math.max(met.allowed, met.anchored) : met.allowed;
  const whole = met.isFar
    ? Math.max(highestSince(capacity, met.now, Math.max(least.first, 3 * met.pauseMs)).perSecond, learned.limit)
    : average;
  Object.assign(row, { early: met.isEarly ? row.early + 1 : 0, sound: Math.min(row.sound, whole) });
  // The first of such cycles may have begun in the middle of a window.
  return within(capacity, met.meeting, row.long > 1 ? whole : Math.sqrt(whole * met.meeting.rate));
}

/** No more than was refused, and not far below it where few successes were counted. */
function within(capacity: SavedCapacity, { rate }: Meeting, average: number, isLong = false): number {
  const isLittle = capacity.ok - capacity.anchor.ok < least.ok;
  // A window that was used up in one climb allows far less than its rate.
  const floor = isLittle ? Math.max(0.6 * rate, least.rate) : isLong ? 0 : 0.1 * rate;
  return Math.min(rate, Math.max(average, floor)) * (1 - CUT / 2);
}

/** Half of the height was fine one doubling ago. */
function afterFar({ learned: { limit }, underWay: { row } }: LimiterState, { meeting, allowed }: Met): number {
  Object.assign(row, { early: 0, sound: Math.max(limit * (1 - CUT), allowed) });
  return Math.max(allowed, (limit + meeting.rate) / 2) * (1 - CUT);
}

function atTheTop({ learned, underWay: { capacity, row } }: LimiterState, { meeting, allowed }: Met): number {
  const sent = whileSending(capacity, meeting.at) / (1 - learned.noise);
  const rate = Math.max(allowed * (1 - CUT / 2), Math.min(meeting.rate, sent * (1 + CUT / 2)) * (1 - CUT));
  return settle(row, rate);
}

function afterEarly(
  row: SavedRow,
  { meeting: { rate }, isAgain, isLone, anchored, allowed, hasFallen, isPlainFall, lately }: Met,
): number {
  // Refused at once far above what went through for long: a window of long memory took the excess in.
  if (rate > row.sound * 1.03)
    return isAgain ? Math.max(row.sound, rate * (1 - MOST_CUT)) : betweenSoundAnd(rate, row.sound);
  if (isAgain && row.full < PATIENCE) return rate;
  if (hasFallen) {
    // Our own waits are in it: it may be too low.
    if (isPlainFall) row.far = FAR_IN_ROW - 1;
    return settle(row, lately * (1 - CUT / 2));
  }
  if (isLone) return rate * (1 - CUT);
  row.early += 1;
  const floor = Math.min(row.early <= 3 ? anchored : allowed, rate) * (1 - (CUT / 2) * 2 ** Math.min(3, row.early));
  row.sound = Math.max(floor, rate * (1 - Math.min(CUT * 2 ** row.early, MOST_CUT)));
  return row.sound;
}

function betweenSoundAnd(refused: number, sound: number): number {
  const rate = Math.min(refused * (1 - CUT), (sound + refused) / 2);
  return rate < sound * 1.015 ? sound : rate;
}

/** Whether the limit fell: several short cycles in a row let far less through than the rate. */
interface Fall {
  /** No overrun explains it. */
  hasFallen: boolean;
  /** From where the limit was known to be; noise makes it fall from anywhere, again and again. */
  isPlainFall: boolean;
  /** Successes a second of the best of the latest cycles. */
  lately: number;
}

/** Waits without a decision before the rate is cut although the window may only be full. */
const PATIENCE = 2;
/** To such a part of the rate a limit falls at once; what is left of less was not sent. */
const FALLEN = { least: 0.25, most: 0.8 };
/** The rate is so near to what was known. */
const NEAR = 0.15;
const LEAST_CYCLE_MS = 500;

function readFall(
  { learned, underWay }: { learned: LearnedRate; underWay: UnderWay },
  meeting: Meeting,
  now: number,
): Fall {
  const { known, refused } = underWay.row;
  const best = bestCycle(underWay.capacity, now, PATIENCE + 1) / (1 - learned.noise);
  const hasFallen = meeting.tries === 0 && isFallen(underWay, now, best / meeting.rate);
  const isKnown = learned.noise === 0 && known !== undefined && Math.abs(meeting.rate / known - 1) < NEAR;
  // A pause that was rounded up lets a bucket fill, and what it saved up is not known.
  const isPlainFall = hasFallen && isKnown && !isWhole(meeting.toldMs);
  return { hasFallen, isPlainFall, lately: isPlainFall ? Math.max(best, sinceRefusal(refused, meeting)) : best };
}

/** A window that remembers for longer than these cycles lasted may only echo what was sent one window ago. */
function isFallen({ row, suspicion, capacity }: UnderWay, now: number, part: number): boolean {
  const lastedMs = now - (capacity.marks.filter((one) => one.recovery).at(-PATIENCE - 1)?.at ?? now);
  const mayEcho = now < suspicion.calmUntil || lastedMs < (row.memoryMs ?? 0);
  return row.full >= PATIENCE && !mayEcho && part > FALLEN.least && part < FALLEN.most;
}

/** From one refusal to the next: what a bucket saved up in our own waits is used up at both. */
function sinceRefusal(last: SavedRow['refused'], { at, ok = 0 }: Meeting): number {
  return last === undefined || at - last.at < LEAST_CYCLE_MS ? 0 : ((ok - last.ok) * 1000) / (at - last.at);
}
