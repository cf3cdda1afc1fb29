import { noteBan, noteSilence } from './bans.ts';
import { anchorAt, beginCycle, leaveOut, mark, sinceAnchor } from './capacity.ts';
import { CUT } from './climb.ts';
import { type LimiterState, type Met, newRate, readMeeting } from './new-rate.ts';
import { isWhole, type Meeting, type UnderWay } from './saved-rate-limit.ts';
import { suspect } from './suspicion.ts';

/** One a minute: an activity that has called waits so long for its next permit (activities/activity-scope.ts). */
const LEAST_RATE = 1 / 60;
const MEMORY = 0.3;
/** A cycle so far below the best says that the limit fell. */
const FALLEN = 0.9;
const FADE = 0.0015;
/** Answers between two 429s that are no limit's. */
const DOUBT = 25;
/** Early meetings in a row that may be echoes. */
const ECHOES = 4;
/** Of what went through before the first ban. */
const WELL_BELOW = 0.25;
const MOST_MEMORY_MS = 75_000;
/** The first wait where the server does not say how long: short, unless its pauses were long twice in a row. */
const firstWait = { least: 100, most: 1_000, mostIfLong: 60_000, longTries: 4 };

/** Waits between tries where nobody says how long: they double, grow slowly up to a minute's window, then faster. */
const wait = { doubled: 15_000, window: 30_000, ban: 70_000, most: 300_000 };

/** Requests succeed again. */
export function endMeeting(state: LimiterState, meeting: Meeting, now: number): void {
  // Where something else held the rate down, it was not the rate.
  if (meeting.isChance !== true && meeting.isSpared) state.learned.limitSeen = false;
  else if (meeting.isChance !== true) decideRate(state, meeting, now);
  learnWait(state.underWay, meeting);
}

/** One that tried was refused: how long to wait now, ms. A ban is sat out. */
export function nextWait(waitedMs: number, isBan: boolean): number {
  if (isBan && waitedMs < wait.ban) return wait.ban;
  const factor = waitedMs < wait.doubled ? 2 : waitedMs < wait.window ? 1.5 : 2.25;
  return Math.min(waitedMs * factor, wait.most);
}

/** Decides at what rate it goes on. */
function decideRate(state: LimiterState, meeting: Meeting, now: number): void {
  const { learned, underWay } = state;
  const hadBans = underWay.climb.bans;
  noteBan(underWay.climb, meeting, meeting.at - (underWay.row.refused?.at ?? 0));
  if (learned.noise === 0) noteSilence(underWay.climb, meeting);
  leaveOutIdle(underWay, meeting, now - meeting.at);
  const met = readMeeting(state, meeting, now);
  if (isDoubtful(underWay, met)) return goOn(state, meeting);
  if (met.isFirst && meeting.isBan && underWay.climb.bans && !hadBans) return lookAgain(state, now);
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

/** A ban says nothing of what the limit allows, nor does the part of a wait that was rounded up. */
function leaveOutIdle({ capacity }: UnderWay, { isBan, toldMs }: Meeting, pauseMs: number): void {
  if (isBan) leaveOut(capacity, pauseMs);
  if (isWhole(toldMs)) leaveOut(capacity, 0.5 * Math.min(pauseMs, 1_000));
}

/** A long pause alone says that the rate was too high; two, that they are what a meeting costs. */
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

/** A limit would refuse more than one while the rate doubles, or refuse again soon. */
function isDoubtful({ answers, row }: UnderWay, { isFirst, isLong, meeting }: Met): boolean {
  if (!isFirst || isLong || meeting.isBan || meeting.refused > 1) return false;
  return answers - (row.doubtedAt ?? -DOUBT) >= DOUBT;
}

function goOn({ learned, underWay }: LimiterState, meeting: Meeting): void {
  learned.rate = meeting.rate;
  underWay.row.doubtedAt = underWay.answers;
}

/** The first limit ever met bans: it was overrun by far, and is looked for again from well below, slowly. */
function lookAgain({ learned, underWay }: LimiterState, now: number): void {
  learned.rate = Math.max(WELL_BELOW * sinceAnchor(underWay.capacity, now), LEAST_RATE);
  beginCycle(underWay.capacity, now);
}

/** Met early, the rate falls below what is known to be fine for long, and soon comes back: a window echoes. */
function limitAfter({ learned, underWay }: LimiterState, met: Met, limitBefore: number): number {
  const { row, suspicion } = underWay;
  if (met.raised !== undefined) return met.raised.limit;
  const limit = learned.rate * (1 + CUT);
  const mayEcho = row.early <= ECHOES || met.now < suspicion.calmUntil;
  const isPassing = met.isEarly && !met.isLong && !met.hasFallen && !met.isFar && !met.meeting.isBan && mayEcho;
  return isPassing ? Math.max(limit, Math.min(row.known ?? 0, limitBefore) * (1 - CUT / 4)) : limit;
}

function noteKnown({ row }: UnderWay, { inAll, isFirst, isLong, pauseMs, raised }: Met): void {
  row.memoryMs = Math.min(Math.max((row.memoryMs ?? 0) * (1 - FADE), isLong ? 1.2 * pauseMs : 0), MOST_MEMORY_MS);
  if (raised !== undefined) row.known = raised.limit;
  if (isFirst || inAll === undefined || raised !== undefined) return;
  const known = row.known ?? 0;
  row.known = inAll < FALLEN * known ? inAll : Math.max(inAll, known * (1 - FADE));
}

/** Where the next averages begin. */
function noteRow({ row, capacity }: UnderWay, met: Met): void {
  row.refused = { at: met.meeting.at, ok: met.meeting.ok ?? capacity.ok };
  row.full = met.isEarly && met.isAgain && !met.hasFallen ? row.full + 1 : 0;
  // What was counted before was of a lower limit.
  if (met.raised !== undefined) beginCycle(capacity, met.now);
  else mark(capacity, met.now, true);
  const isNew = !met.isFirst && !met.isFar && (!met.isEarly || row.early > 3);
  if (row.settling > 0 ? met.isLong && !met.isAgain : isNew) anchorAt(capacity, met.now);
}

/** Where the server does not say how long: a little less than what was long enough this time. */
function learnWait(own: UnderWay, { tries }: Meeting): void {
  own.longInRow = tries >= firstWait.longTries ? own.longInRow + 1 : 0;
  const isLong = own.longInRow >= 2 && own.climb.silence !== 'ban';
  const most = isLong ? firstWait.mostIfLong : firstWait.most;
  own.ownWaitMs = Math.min(Math.max(own.backoff * 0.7, firstWait.least), most);
}
