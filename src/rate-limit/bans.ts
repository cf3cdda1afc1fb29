import type { SavedClimb } from './climb.ts';
import type { Meeting } from './saved-rate-limit.ts';

/** A shorter Retry-After may be the length of a round trip. */
const LEAST_MS = 900;
/** A random 429 before a window's end looks like a ban, too: one alone says nothing of the next. */
const TELLING = 2;
const MOST = 3;
/** Whoever was quiet for so long begins with a short ban again. */
const FORGIVEN_MS = 60_000;

/** Counts a refusal while the limit is met. Who comes again and is kept away for longer meets a ban. */
export function noteRefusal(meeting: Meeting, toldMs: number): void {
  meeting.refused += 1;
  const longest = meeting.longestMs ?? meeting.toldMs ?? 0;
  meeting.longestMs = Math.max(longest, toldMs);
  if (longest < LEAST_MS || toldMs <= 1.4 * longest + 300) return;
  meeting.longer = (meeting.longer ?? 0) + 1;
  meeting.isBan = true;
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
