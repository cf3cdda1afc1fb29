import { bestCycle } from './capacity.ts';
import type { SavedRow } from './saved-meetings.ts';
import { isWhole, type LearnedRate, type Meeting, type UnderWay } from './saved-rate-limit.ts';

/** Whether the limit fell: several short cycles in a row let far less through than the rate. */
export interface Fall {
  /** No overrun explains it. */
  hasFallen: boolean;
  /** From where the limit was known to be; noise makes it fall from anywhere, again and again. */
  isPlainFall: boolean;
  /** Successes a second of the best of the latest cycles. */
  lately: number;
}

/** Waits without a decision before the rate is cut although the window may only be full. */
export const PATIENCE = 2;
/** To such a part of the rate a limit falls at once; what is left of less was not sent. */
const FALLEN = { least: 0.25, most: 0.8 };
/** The rate is so near to what was known. */
const NEAR = 0.15;
const LEAST_CYCLE_MS = 500;

export function readFall(
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
