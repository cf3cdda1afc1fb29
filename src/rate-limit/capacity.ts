/** Counts successes between moments, to tell what a limit allows: averages over whole cycles, pauses included. */
export interface SavedCapacity {
  /** Successes ever. */
  ok: number;
  /** The latest recoveries from a pause, and moments in a climb since the last of them. */
  marks: (Moment & { recovery: boolean })[];
  /** The last recovery before meetings that came too early, or the moment when a climb passed the limit. */
  anchor: Moment;
}

interface Moment {
  at: number;
  /** Successes until then. */
  ok: number;
}

const MOST_MARKS = 8;
/** An average over fewer successes, or over less time, says little. */
const LEAST_OK = 10;
const LEAST_MS = 500;
const long = { ok: 60, ms: 20_000 };

export function freshCapacity(now: number): SavedCapacity {
  return { ok: 0, anchor: { at: now, ok: 0 }, marks: [{ at: now, ok: 0, recovery: true }] };
}

export function mark(saved: SavedCapacity, now: number, recovery: boolean): void {
  const [recoveries, others] = [saved.marks.filter((one) => one.recovery), saved.marks.filter((one) => !one.recovery)];
  // A recovery ends the climb.
  saved.marks = [...recoveries.slice(-MOST_MARKS), ...(recovery ? [] : others.slice(-3 * MOST_MARKS))];
  saved.marks.push({ at: now, ok: saved.ok, recovery });
}

/** What was counted before says nothing of the limit. Returns the successes until now. */
export function beginCycle(saved: SavedCapacity, now: number): number {
  saved.marks = [];
  mark(saved, now, true);
  anchorAt(saved, now);
  return saved.ok;
}

export function anchorAt(saved: SavedCapacity, at: number): void {
  saved.anchor = { at, ok: saved.ok };
}

/** A time that does not count: a ban, or a wait that was rounded up, says nothing of what the limit allows. */
export function leaveOut(saved: SavedCapacity, ms: number): void {
  for (const one of [...saved.marks, saved.anchor]) one.at += ms;
}

/**
 * Successes a second from the last recovery until now, one as well: such a span starts and ends with a limit used up,
 * so that it holds what the limit allows, whatever its kind. Short cycles are taken together.
 */
export function sinceRecovery(saved: SavedCapacity, now: number): number {
  const recoveries = saved.marks.filter((one) => one.recovery);
  const from = recoveries.findLast((one) => saved.ok - one.ok >= LEAST_OK && now - one.at >= LEAST_MS) ?? recoveries[0];
  return from === undefined ? 0 : averageSince(saved, from, now);
}

/** The highest of these averages, of all recoveries known: the last may have been in the middle of a window. */
export function bestSinceRecovery(saved: SavedCapacity, now: number): number {
  const averages = saved.marks.filter((one) => one.recovery).map((one) => averageSince(saved, one, now));
  return Math.max(0, ...averages);
}

/** The same over a cycle, or several, that cannot have been of one burst. */
export function sinceLongAgo(saved: SavedCapacity, now: number, leastMs: number): number | undefined {
  const recoveries = saved.marks.filter((one) => one.recovery);
  const from = recoveries.findLast((one) => saved.ok - one.ok >= long.ok && now - one.at >= Math.max(long.ms, leastMs));
  return from === undefined ? undefined : averageSince(saved, from, now);
}

/** The highest average of the latest cycles, each from one recovery to the next; 0 where all of them were too short. */
export function bestCycle(saved: SavedCapacity, now: number, cycles: number): number {
  const ends = [...saved.marks.filter((one) => one.recovery).slice(-cycles), { at: now, ok: saved.ok }];
  const cycle = (n: number): number => {
    const [from, to] = [ends[n], ends[n + 1]];
    return from === undefined || to === undefined || to.ok - from.ok < LEAST_OK / 2 ? 0 : averageSince(to, from, to.at);
  };
  return Math.max(0, ...ends.map((_, n) => cycle(n)));
}

/** The average over so long, and the pace at its beginning; undefined where too little is known of it. */
export function overLast(
  saved: SavedCapacity,
  now: number,
  ms: number,
): { average: number; begun: number } | undefined {
  const place = saved.marks.findLastIndex((one) => one.at <= now - ms);
  const [from, next] = [saved.marks[place], saved.marks[place + 1]];
  if (from === undefined || next === undefined || saved.ok - from.ok < long.ok) return undefined;
  const begun = averageSince(next, from, next.at);
  const at = now - ms;
  return { average: averageSince(saved, { at, ok: from.ok + (begun * (at - from.at)) / 1000 }, now), begun };
}

export function sinceAnchor(saved: SavedCapacity, now: number): number {
  return averageSince(saved, saved.anchor, now);
}

/** From the last recovery until `at`, the pause that began then apart. */
export function whileSending({ ok, marks }: SavedCapacity, at: number): number {
  const from = marks.findLast((one) => one.recovery) ?? { at, ok };
  return ((ok - from.ok) * 1000) / Math.max(at - from.at, LEAST_MS);
}

/** The highest average since a mark that lies so long back: a cycle that began far below the limit tells too little. */
export function highestSince(saved: SavedCapacity, now: number, leastMs: number): { from: Moment; perSecond: number } {
  const spans = saved.marks.filter((one) => now - one.at >= leastMs && saved.ok - one.ok >= 2 * LEAST_OK);
  return spans
    .map(({ at, ok }) => ({ from: { at, ok }, perSecond: averageSince(saved, { at, ok }, now) }))
    .reduce((best, one) => (one.perSecond > best.perSecond ? one : best), { from: saved.anchor, perSecond: 0 });
}

function averageSince({ ok }: Pick<SavedCapacity, 'ok'>, from: Moment, now: number): number {
  return ((ok - from.ok) * 1000) / Math.max(now - from.at, LEAST_MS);
}
