import { betweenRecoveries, cycleMs, lastCycle, leaveOut, mark, sinceClimb } from './capacity.ts';
import { CUT, toothOf } from './climb.ts';
import { beginTest } from './noise.ts';
import { addSuccess, noteMeeting } from './repeating-window.ts';
import type { LearnedRate, Meeting, UnderWay } from './saved-rate-limit.ts';

/** What a limiter knows; changed in place. */
export interface LimiterState {
  learned: LearnedRate;
  underWay: UnderWay;
}

/** An average over so long is worth remembering. */
const LONG_CYCLE_MS = 30_000;
const LEAST_RATE = 0.01;
/** Early meetings in a row that make noise likely, and answers until it may be tested again. */
const suspicion = { early: 3, earlyInWindow: 6, again: 1_000 };

export function countSuccess({ capacity, spans }: UnderWay, now: number): void {
  capacity.ok += 1;
  addSuccess(spans, now);
}

/** The limit is met again long before the sawtooth is climbed. */
function isEarly({ learned, underWay: { climb } }: LimiterState): boolean {
  return climb.clean < toothOf(climb, learned.limit, learned.noise) / 4;
}

/** A sliding window that is full stays full for longer than Retry-After says. */
export function leastWait(state: LimiterState): number {
  const { climb, isWindow } = state.underWay;
  const isFull = isEarly(state) && (climb.early < 0 || isWindow);
  return isFull ? Math.min(500 * 2 ** (climb.early + 2), 4_000) : 0;
}

/** Requests succeed again after a meeting with the limit: decides at what rate it goes on. */
export function decideRate(state: LimiterState, meeting: Meeting, now: number): void {
  const { learned, underWay } = state;
  const { climb, capacity } = underWay;
  const pauseMs = now - meeting.at;
  if (meeting.isBan) forgetBan(underWay, pauseMs);
  const wasEarly = learned.limitSeen && isEarly(state);
  const isFar = !learned.limitSeen || meeting.rate > learned.limit * (1 + 2 * climb.cut);
  if (learned.limitSeen) climb.perHit += 0.3 * (meeting.refused - climb.perHit);
  if (!wasEarly && !isFar) notePause(underWay, pauseMs);
  if (cycleMs(capacity, now) >= LONG_CYCLE_MS)
    climb.proven = Math.max(climb.proven * 0.9, betweenRecoveries(capacity, now) / (1 - learned.noise));
  const rate = learned.limitSeen ? Math.min(meeting.rate, learned.limit) : meeting.rate;
  noteEarly(underWay, wasEarly, isFar && learned.limitSeen, { rate, refused: meeting.refused });
  learned.limit = Math.max(newLimit(state, { refusedAt: meeting.rate, isFar, pauseMs }, now), LEAST_RATE);
  // An average over whole cycles needs no room for doubt.
  if (learned.limit < 0.9 * meeting.rate && !meeting.isBan) climb.cut = CUT.first;
  learned.rate = learned.limit * (1 - climb.cut);
  learned.limitSeen = true;
  mark(capacity, now, true);
  Object.assign(climb, { clean: 0, beyond: 0 });
  suspectNoise(state);
}

/** More was refused than noise explains, though not everything: the rate falls to what went through. */
export function cutByExcess(state: LimiterState): void {
  const { learned, underWay } = state;
  const { climb, watch } = underWay;
  const { rate } = learned;
  const excess = Math.min(Math.max(watch.limited / watch.answers - learned.noise, CUT.first), 0.5);
  const wasEarly = isEarly(state);
  learned.limit = rate * (1 - excess);
  learned.rate = learned.limit * (1 - climb.cut);
  noteEarly(underWay, wasEarly, false, { rate, refused: watch.limited });
  Object.assign(climb, { clean: 0, beyond: 0 });
  suspectNoise(state);
}

/** A ban says nothing of what the limit allows. */
function forgetBan(underWay: UnderWay, pauseMs: number): void {
  underWay.bans = true;
  leaveOut(underWay.capacity, pauseMs);
  // A bucket filled up meanwhile, so that the averages say too much.
  underWay.climb.cut = Math.max(underWay.climb.cut, 3 * CUT.first);
}

/** A long pause alone says that the rate was too high; two, that they are what a meeting costs. */
function notePause({ climb }: UnderWay, pauseMs: number): void {
  climb.pauseMs += 0.3 * (Math.min(pauseMs, climb.lastPauseMs) - climb.pauseMs);
  climb.lastPauseMs = pauseMs;
}

function noteEarly(
  { climb }: UnderWay,
  wasEarly: boolean,
  isFar: boolean,
  { rate, refused }: Pick<Meeting, 'rate' | 'refused'>,
): void {
  if (!wasEarly) {
    climb.cut = Math.max(climb.cut * 0.7, CUT.first);
    // A climb past the limit leaves a window full: what is refused after it is no surprise.
    Object.assign(climb, { early: isFar ? -2 : 0, earlyAnswers: 0, rateBefore: rate });
    return;
  }
  if (climb.early >= 0) climb.cut = Math.min(climb.cut * 2, CUT.most);
  climb.early += 1;
  climb.earlyAnswers += climb.clean + refused;
  // Not a window that was full: the limit itself has fallen.
  if (climb.early > 2) climb.proven = 0;
}

interface Refused {
  refusedAt: number;
  /** Refused far above the limit known so far, or before any was known. */
  isFar: boolean;
  pauseMs: number;
}

function newLimit(state: LimiterState, refused: Refused, now: number): number {
  const { learned, underWay } = state;
  const repeated = noteMeeting(underWay.spans, now);
  underWay.isWindow = repeated !== undefined;
  if (repeated === undefined) return limitByCycles(state, refused, now);
  const allowed = repeated / (1 - learned.noise);
  // A window that is full refuses whatever the rate: it is waited for, and the rate stays.
  if (underWay.climb.early !== 0 && !refused.isFar) return allowed * 1.005;
  return Math.min(refused.refusedAt, allowed * 1.01);
}

function limitByCycles({ learned, underWay }: LimiterState, refused: Refused, now: number): number {
  const { refusedAt, isFar, pauseMs } = refused;
  const { climb, capacity } = underWay;
  const { limitSeen, noise } = learned;
  // One cycle may have begun in the middle of a window; two early ones tell that the limit itself has fallen.
  const longer = climb.early < 2 ? betweenRecoveries(capacity, now, 2) : 0;
  const average = Math.max(betweenRecoveries(capacity, now), longer) / (1 - noise);
  const least = Math.max(leastLimit(underWay, refusedAt, limitSeen), 0.05 * refusedAt);
  if (isFar) {
    const climbed = Math.max(average, sinceClimb(capacity, now, pauseMs) / (1 - noise), limitSeen ? learned.limit : 0);
    return Math.max(least, Math.min(refusedAt, climbed));
  }
  if (average >= refusedAt * (1 - 2 * climb.cut - 0.02)) return refusedAt;
  return Math.max(least, average * (1 + climb.cut / 2));
}

/** A few refusals in a row are no reason to go below what went well for long, nor far below what went well shortly. */
function leastLimit({ climb, capacity }: UnderWay, refusedAt: number, limitSeen: boolean): number {
  const known = climb.early <= 2 ? Math.min(0.98 * climb.proven, refusedAt) : 0;
  const isShort = lastCycle(capacity) < 10;
  return Math.max(known, isShort ? refusedAt * (limitSeen && climb.early <= 1 ? 0.85 : 0.7) : 0);
}

function suspectNoise({ learned, underWay }: LimiterState): void {
  const { tested, answers, climb, isWindow } = underWay;
  if (climb.early < (isWindow ? suspicion.earlyInWindow : suspicion.early)) return;
  if (answers - tested.answers < suspicion.again && learned.rate > 0.5 * tested.rate) return;
  underWay.test = beginTest(climb.rateBefore, learned.rate, climb.early / Math.max(1, climb.earlyAnswers));
  climb.early = 0;
}
