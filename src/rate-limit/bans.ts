import type { SavedClimb } from './climb.ts';
import type { Meeting } from './saved-rate-limit.ts';

/** A shorter Retry-After may be the length of a round trip. */
const LEAST_MS = 900;
/** A random 429 before a window's end looks like a ban, too: one alone says nothing of the next. */
const TELLING = 2;
const MOST = 3;
/** Whoever was quiet for so long begins with a short ban again. */
const FORGIVEN_MS = 60_000;
/** Windows end within a minute or last far longer; between are the bans that our own tries made longer. */
const silence = { leastMs: 61_000, mostMs: 300_000 };

/** Counts a refusal while the limit is met. Who comes again and is kept away for longer meets a ban. */
export function noteRefusal(meeting: Meeting, toldMs: number): void {
  meeting.refused += 1;
  const longest = meeting.longestMs ?? meeting.toldMs ?? 0;
  meeting.longestMs = Math.max(longest, toldMs);
  const isLonger = longest >= LEAST_MS && toldMs > 1.4 * longest + 300;
  if (!isOneMore(meeting, toldMs) && !isLonger) return;
  meeting.longer = (meeting.longer ?? 0) + 1;
  meeting.isBan = true;
}

/** Answers to what was under way together pass one another: three waits that differ are a ban's, two also noise's. */
function isOneMore(meeting: Meeting, toldMs: number): boolean {
  meeting.waits ??= [meeting.toldMs ?? 0].filter((ms) => ms >= LEAST_MS);
  if (meeting.tries > 0 || toldMs < LEAST_MS || !meeting.waits.every((ms) => differ(ms, toldMs))) return false;
  return meeting.waits.push(toldMs) > 2;
}

function differ(oneMs: number, otherMs: number): boolean {
  return Math.max(oneMs, otherMs) > 1.4 * Math.min(oneMs, otherMs) + 300;
}

/**
 * A meeting is over: a limit that keeps nobody away for longer has no bans, unless it did so for as long as before.
 * `quietMs`: since the meeting before. One 429 soon after a ban and of a far shorter wait is none of its.
 */
export function noteBan(climb: SavedClimb, meeting: Meeting, quietMs: number): void {
  const { refused, longer = 0, longestMs = 0 } = meeting;
  if (longer > 0) climb.bannedMs = longestMs;
  const part = refused > 1 ? 0.9 : quietMs < FORGIVEN_MS ? 0.5 : 0;
  const without = longer === 0 && longestMs < part * (climb.bannedMs ?? 0) ? 1 : 0;
  climb.longer = Math.min(Math.max((climb.longer ?? 0) + longer - without, 0), MOST);
  climb.bans = climb.longer >= TELLING;
}

/**
 * A meeting is over that told no wait: whether those who tried were refused for so long as only a ban refuses. If the
 * next time the first who tries is let in, or one is refused who was quiet for that long, it was a window.
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
