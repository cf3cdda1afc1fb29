import { CUT, NOISY_CUT, type SavedClimb, toothOf } from './climb.ts';
import {
  beginCycle,
  beginTest,
  bestCycle,
  bestSinceRecovery,
  freshWatch,
  highestSince,
  MOST_NOISE,
  type NoiseTest,
  overLast,
  type SavedCapacity,
  shareOf,
  sinceAnchor,
  sinceLongAgo,
  sinceRecovery,
  whileSending,
} from './measures.ts';
import {
  freshRow,
  freshSuspicion,
  isWhole,
  type LearnedRate,
  type Meeting,
  type SavedRow,
  type SavedSuspicion,
  type UnderWay,
} from './saved-rate-limit.ts';

/** What a limiter knows. Changed in place. */
export interface LimiterState {
  learned: LearnedRate;
  underWay: UnderWay;
}

const RAISED = 1.012;
const MOST_CUT = 0.35;
const AGAIN = 20;
const LONE = 50;
const LASTING_MS = 60_000;
const LONG_MEMORY_MS = 10_000;
const SETTLE = 6;
const least = { first: 6_000, noisy: 2_500, ok: 20, rate: 3 };
/**
 * After a ban: range of the cuts, the part of a far climb that still counts as fine, and the part of the rate that a
 * slow climb reached.
 */
const banCut = { first: 0.04, most: 0.3, beyond: 0.25, found: 0.75 };
/**
 * With a long window, a meeting far above the limit is followed by prompt refusals, never by another far meeting. Two
 * far meetings in a row therefore mean a higher limit.
 */
const FAR_IN_ROW = 2;

/** A limit that is met again at once is a full sliding window, which stays full for longer than Retry-After says. */
export function leastWait({ learned, underWay: { climb, row } }: LimiterState): number {
  const isFull = learned.limitSeen && climb.clean < AGAIN && row.full < SETTLE;
  return isFull ? Math.min(250 * 2 ** row.full, 4_000) : 0;
}

/** A meeting with the limit that is over, and what went through until then. */
export type Met = ReturnType<typeof readMeeting>;

export function readMeeting(state: LimiterState, meeting: Meeting, now: number) {
  const { learned, underWay } = state;
  const { limitSeen, limit, noise } = learned;
  const pauseMs = now - meeting.at;
  const inAll = sinceLongAgo(underWay.capacity, now, underWay.row.memoryMs);
  const isLong = !meeting.isBan && pauseMs > longPause(meeting) + leastWait(state) * (1 + 3 * meeting.tries);
  return {
    meeting,
    now,
    pauseMs,
    isFirst: !limitSeen,
    isEarly: limitSeen && isEarly(underWay.climb, limit, noise),
    /** The rate was far above the known limit. */
    isFar: limitSeen && meeting.rate > limit * (1 + 2 * CUT),
    /** So soon after the last meeting that it is practically the same one. */
    isAgain: underWay.climb.clean < AGAIN,
    /** A single 429 after many successes; it may come from a limit or be noise. */
    isLone: meeting.toldMs !== undefined && underWay.climb.clean >= LONE && meeting.refused === 1,
    ...readFall(state, meeting, now),
    /** The pause lasted until the end of a window. */
    isLong,
    /** The pause came from a quota that lasts minutes or hours. */
    isLasting: isLong && pauseMs > LASTING_MS,
    /** Successes per second since the last recovery and since the anchor, pauses included. */
    allowed: sinceRecovery(underWay.capacity, now) / (1 - noise),
    anchored: sinceAnchor(underWay.capacity, now) / (1 - noise),
    /** The new limit if it was raised and has a window with a long memory, and the rate that it allows at first. */
    raised: meeting.isBan ? undefined : raisedTo(state, meeting, now),
    /** Successes per second over whole cycles, if these were long enough to tell. */
    inAll: inAll === undefined ? undefined : inAll / (1 - noise),
  };
}

/**
 * The limit is what went through during a whole window memory. At first, only what was sent at its start frees room.
 */
function raisedTo({ learned, underWay }: LimiterState, { at, rate }: Meeting, now: number) {
  const { limit, limitSeen, noise } = learned;
  const { memoryMs } = underWay.row;
  const isWindow = memoryMs >= LONG_MEMORY_MS && now - at < memoryMs / 20;
  if (!limitSeen || !isWindow || rate < limit * (1 + 2 * CUT)) return undefined;
  const last = overLast(underWay.capacity, now, memoryMs);
  const average = (last?.average ?? 0) / (1 - noise);
  if (last === undefined || average < RAISED * limit) return undefined;
  return { limit: average, rate: Math.min(Math.max(last.begun / (1 - noise), limit), average) * (1 - CUT) };
}

/** Neither rounding, round trips nor the next permit of a bucket explain a longer pause than this. */
function longPause({ rate, toldMs }: Meeting): number {
  if (toldMs === undefined) return 2_500;
  return 300 + (isWhole(toldMs) ? 1_200 : 0) + 2_000 / rate;
}

/** Chooses the rate to go on with, and notes in the row what the meeting was. */
export function newRate(state: LimiterState, met: Met): number {
  const { row } = state.underWay;
  if (met.isLasting) return afterLasting(state, met);
  if (met.meeting.isBan && !met.isFirst) return afterBan(state, met);
  // A ban at the end of a slow climb: the rate exceeded the limit only a little.
  if (met.isFirst && met.meeting.isBan && state.underWay.climb.bans)
    return settle(row, banCut.found * met.meeting.rate);
  if (met.isFirst) return firstRate(state, met);
  if (row.settling > 0 && !met.isFar) return whileSettling(state, met);
  if (met.raised !== undefined) return settle(row, met.raised.rate);
  row.far = met.isFar && !met.isLong && state.learned.noise === 0 ? row.far + 1 : 0;
  if (met.isFar && row.far < FAR_IN_ROW && !isRaised(state, met)) {
    return settle(row, Math.max((met.inAll ?? 0) * (1 - CUT / 2), state.learned.limit * (1 - CUT / 4)));
  }
  if (met.isLong) return afterWindow(state, met);
  if (met.isFar) return afterFar(state, met);
  return met.isEarly ? afterEarly(row, met) : atTheTop(state, met);
}

/** So long a pause ends a window, but the last recovery may have come from noise in the middle of that window. */
function afterLasting({ learned, underWay: { capacity, row } }: LimiterState, { meeting, now }: Met): number {
  const average = bestSinceRecovery(capacity, now) / (1 - learned.noise);
  return settle(row, Math.min(meeting.rate, average) * (1 - CUT / 2));
}

/** If no more than before went through over a long cycle, the limit is unchanged and its window is long. */
function isRaised({ learned: { limit }, underWay: { row } }: LimiterState, { inAll }: Met): boolean {
  return inAll === undefined || inAll > RAISED * Math.max(limit, row.known);
}

function settle(row: SavedRow, rate: number): number {
  Object.assign(row, { settling: 0, early: 0, sound: rate });
  return rate;
}

/** Each ban costs a minute, so the rate is set rather too low. */
function afterBan({ learned: { limit }, underWay: { row } }: LimiterState, { meeting, isEarly, isFar }: Met): number {
  // A rate that worked for long is fine, and so was the beginning of the climb beyond it.
  if (isFar && !isEarly) return settle(row, (limit + banCut.beyond * (meeting.rate - limit)) * (1 - CUT));
  row.early += 1;
  const rate = meeting.rate * (1 - Math.min(banCut.first * 2 ** row.early, banCut.most));
  Object.assign(row, { settling: 0, sound: rate });
  return rate;
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

/** The exceeded window or bucket is still full: what went through since then approaches the limit. */
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
  // The first of these cycles may have begun in the middle of a window.
  return within(capacity, met.meeting, row.long > 1 ? whole : Math.sqrt(whole * met.meeting.rate));
}

/** Never above the refused rate, and not far below it if few successes were counted. */
function within(capacity: SavedCapacity, { rate }: Meeting, average: number, isLong = false): number {
  const isLittle = capacity.ok - capacity.anchor.ok < least.ok;
  // A window that one climb used up allows far less than the rate of that climb.
  const floor = isLittle ? Math.max(0.6 * rate, least.rate) : isLong ? 0 : 0.1 * rate;
  return Math.min(rate, Math.max(average, floor)) * (1 - CUT / 2);
}

/** The rate halfway up the climb was fine one doubling earlier. */
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
  // Refused at once, far above what went through for long: a window with a long memory had absorbed the excess.
  if (rate > row.sound * 1.03)
    return isAgain ? Math.max(row.sound, rate * (1 - MOST_CUT)) : betweenSoundAnd(rate, row.sound);
  if (isAgain && row.full < PATIENCE) return rate;
  if (hasFallen) {
    // The average includes our own waits, so it may be too low.
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

/** Number of waits for which the rate is kept, because the window may only be full; then it is cut. */
const PATIENCE = 2;
/** A limit that falls at once ends up within these parts of the rate; below that, too little was sent to tell. */
const FALLEN = { least: 0.25, most: 0.8 };
/** Largest distance from the known limit at which the rate still counts as near. */
const NEAR = 0.15;
const LEAST_CYCLE_MS = 500;

/** Whether the limit fell: several short cycles in a row let far less through than the rate. */
function readFall({ learned, underWay }: LimiterState, meeting: Meeting, now: number) {
  const { known, refused } = underWay.row;
  const best = bestCycle(underWay.capacity, now, PATIENCE + 1) / (1 - learned.noise);
  /** Exceeding an unchanged limit does not explain the cycles. */
  const hasFallen = meeting.tries === 0 && isFallen(underWay, now, best / meeting.rate);
  const isKnown = learned.noise === 0 && Math.abs(meeting.rate / known - 1) < NEAR;
  /**
   * The rate was near the known limit before the fall. Without this check, noise would look like a fall at any rate. A
   * pause that was rounded up lets a bucket fill, and how much it saved up is unknown.
   */
  const isPlainFall = hasFallen && isKnown && !isWhole(meeting.toldMs);
  /** Successes per second in the best of the latest cycles. */
  const lately = isPlainFall ? Math.max(best, sinceRefusal(refused, meeting)) : best;
  return { hasFallen, isPlainFall, lately };
}

/** If the window remembers longer than these cycles lasted, they may only echo what was sent one window ago. */
function isFallen({ row, suspicion, capacity }: UnderWay, now: number, part: number): boolean {
  const lastedMs = now - (capacity.marks.filter((one) => one.recovery).at(-PATIENCE - 1)?.at ?? now);
  const mayEcho = now < suspicion.calmUntil || lastedMs < row.memoryMs;
  return row.full >= PATIENCE && !mayEcho && part > FALLEN.least && part < FALLEN.most;
}

/** Average from one refusal to the next: both times, a bucket has used up what it saved during our waits. */
function sinceRefusal(last: SavedRow['refused'], { at, ok = 0 }: Meeting): number {
  return last === undefined || at - last.at < LEAST_CYCLE_MS ? 0 : ((ok - last.ok) * 1000) / (at - last.at);
}

/** A random 429 before a window's end looks like a ban too, so a single one does not count. */
const TELLING = 2;
const MOST = 3;
/** After this long without a refusal, a ban starts short again. */
const FORGIVEN_MS = 60_000;
/** Windows end within a minute or last far longer. In between lie bans that our own tries prolonged. */
const silence = { leastMs: 61_000, mostMs: 300_000 };

/**
 * Ends a meeting: a limit that does not prolong its waits has no bans, unless it waited as long as in the last ban.
 * `quietMs`: time since the meeting before. A single 429 counts against bans only if it comes soon after a ban, with a
 * far shorter wait.
 */
export function noteBan(climb: SavedClimb, meeting: Meeting, quietMs: number): void {
  const { refused, longer, longestMs } = meeting;
  if (longer > 0) climb.bannedMs = longestMs;
  const part = refused > 1 ? 0.9 : quietMs < FORGIVEN_MS ? 0.5 : 0;
  const without = longer === 0 && longestMs < part * climb.bannedMs ? 1 : 0;
  climb.longer = Math.min(Math.max(climb.longer + longer - without, 0), MOST);
  climb.bans = climb.longer >= TELLING;
}

/**
 * Ends a meeting without a stated wait, and decides whether its refusals lasted as long as only a ban does. It was a
 * window after all if next time the first retry passes, or a client that was quiet for that long is refused.
 */
export function noteSilence(climb: SavedClimb, meeting: Meeting): void {
  if (meeting.toldMs !== undefined || climb.silence === 'window') return;
  const refusedMs = (meeting.refusedAt ?? meeting.at) - meeting.at;
  const isLetIn = climb.silence === 'ban' && meeting.tries === 0;
  if (refusedMs < silence.leastMs && !isLetIn) return;
  const isBan = climb.silence === undefined && refusedMs < silence.mostMs;
  Object.assign(climb, { silence: isBan ? 'ban' : 'window', bans: isBan, longer: isBan ? MOST : 0 });
  meeting.isBan = isBan;
}

/** At a rate this far below the highest limit, the limit could no longer be met. */
const FAR_FALLEN = 0.82;
const fade = { peak: 0.99, met: 0.9 };
/** Answers before the next test. */
const AGAIN_AFTER = 1_000;
const AGAIN_BELOW = 0.85;
const DEEP = 0.5;
const STILL_NOISY = 0.7;
/** Recent meetings look like noise if this share had a single 429, after this part of a sawtooth climb. */
const LONE_RUN = { met: 4, share: 0.75, tooth: 0.35 };
/** Refusals after the first ones needed to tell a limit from noise. */
const PLAIN = 3;
/** A window that was exceeded refuses for this long. */
const CALM_MS = 20_000;

/** Notes a meeting that is decided, and begins a test if noise is likely. */
export function suspect(state: LimiterState, met: Met, limitBefore: number): void {
  const { learned, underWay } = state;
  const { row, suspicion: saved, climb } = underWay;
  const isSettling = row.settling > 0 && !met.isAgain;
  const isOther = met.isFirst || met.isFar || isSettling || met.isLasting || (met.isLong && !met.isEarly);
  if (met.isFirst) Object.assign(saved, { met: 0, answers: 0, lone: 0 });
  // A limit far above anything known is only a guess.
  const isGuess = met.isFar || (met.now < saved.calmUntil && !met.isFirst);
  const peak = isGuess ? Math.min(learned.limit, row.sound) : learned.limit;
  saved.peak = isOther ? peak : Math.max(saved.peak * (met.isEarly ? 1 : fade.peak), peak);
  noteMeeting(saved, climb.clean, met.meeting.refused);
  noteUnderWay(saved, met);
  if (met.isFirst || (met.isFar && met.meeting.rate > 1.1 * limitBefore))
    saved.calmUntil = met.now + Math.max(CALM_MS, row.memoryMs);
  if ((met.hasFallen || met.isLong) && isPlain(saved)) saved.peak = learned.limit;
  if (!met.isEarly || met.isLong || met.meeting.isBan || met.isPlainFall || !isLikely(state, met.now)) return;
  underWay.test = beginTest(saved.peak, learned.rate, saved.met / Math.max(1, saved.answers));
}

function noteUnderWay(saved: SavedSuspicion, { isEarly, meeting: { refused, passed } }: Met): void {
  const before = isEarly ? saved.underWay : freshSuspicion.underWay;
  saved.underWay = { refused: before.refused + refused - 1, passed: before.passed + passed };
}

/** Whether the limit was met long before the sawtooth was climbed. */
function isEarly(saved: SavedClimb, limit: number, noise: number): boolean {
  return saved.clean < toothOf(saved, limit, noise) / 4;
}

/** Once a limit is met, most requests in flight are refused as well; noise refuses only its share of them. */
function isPlain({ underWay }: SavedSuspicion): boolean {
  return underWay.refused >= PLAIN && underWay.refused > underWay.passed;
}

function noteMeeting(saved: SavedSuspicion, clean: number, refused: number): void {
  saved.met = saved.met * fade.met + 1;
  saved.answers = saved.answers * fade.met + clean + refused;
  saved.lone = saved.lone * fade.met + (refused === 1 ? 1 : 0);
}

function isLikely(state: LimiterState, now: number): boolean {
  const { learned, underWay } = state;
  const { row, suspicion: saved, tested, answers } = underWay;
  if (learned.noise > 0 || (learned.rate > FAR_FALLEN * saved.peak && !areLone(state))) return false;
  // An exceeded window does not make the rate fall this far.
  const isDeep = learned.rate < DEEP * saved.peak;
  const isFull = row.full > 0 && row.full < SETTLE;
  if (!isDeep && (isFull || now < saved.calmUntil)) return false;
  return answers - tested.answers >= AGAIN_AFTER || learned.rate <= AGAIN_BELOW * tested.rate;
}

/**
 * A limit is met at the top of a sawtooth climb or by several requests at once, not by single ones long before the top.
 */
function areLone({ learned, underWay: { climb, suspicion } }: LimiterState): boolean {
  const { met, answers, lone } = suspicion;
  return (
    met >= LONE_RUN.met &&
    lone >= LONE_RUN.share * met &&
    answers < LONE_RUN.tooth * met * toothOf(climb, learned.limit, 0)
  );
}

/** The 429s were noise: the rate climbs again from where it was cut, fast until something else refuses. */
export function believeNoise({ learned, underWay }: LimiterState, test: NoiseTest, now: number): void {
  const share = shareOf(test);
  Object.assign(underWay, { watch: { ...freshWatch }, mostNoise: mostNoiseOf(share), row: { ...freshRow } });
  underWay.suspicion.peak = 0;
  beginCycle(underWay.capacity, now);
  const rate = Math.max(test.before, learned.rate);
  Object.assign(learned, { noise: share, rate, limit: rate, limitSeen: false });
}

/** More was refused than noise explains, but not everything: the rate falls to what went through. */
export function cutByExcess({ learned, underWay }: LimiterState): void {
  const { climb, watch, suspicion } = underWay;
  const share = watch.limited / watch.answers;
  Object.assign(climb, { clean: 0, beyond: 0 });
  if (learned.rate < STILL_NOISY * suspicion.peak) return raiseNoise({ learned, underWay }, share);
  const excess = Math.min(Math.max(share - learned.noise, CUT), 0.5);
  const limit = learned.rate * (1 - excess);
  Object.assign(learned, { limit, rate: limit * (1 - NOISY_CUT), limitSeen: true });
  suspicion.peak = Math.max(suspicion.peak, limit);
}

/** This far below a rate that was fine, there is no limit: there is more noise than the test saw. */
function raiseNoise({ learned, underWay }: LimiterState, share: number): void {
  learned.noise = Math.min(share, MOST_NOISE);
  learned.limitSeen = false;
  underWay.mostNoise = mostNoiseOf(learned.noise);
  underWay.suspicion.peak = 0;
}

function mostNoiseOf(share: number): number {
  return Math.min(MOST_NOISE, 1.3 * share + 0.01);
}
