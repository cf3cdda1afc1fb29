/** Counts successes between moments, to tell what a limit allows: averages over whole cycles, pauses included. */
export interface SavedCapacity {
  /** Successes ever. */
  ok: number;
  /** The latest recoveries from a pause, and moments in a climb since the last of them. */
  marks: { at: number; ok: number; recovery: boolean }[];
}

const MOST_MARKS = 8;
/** An average over fewer successes says little. */
const LEAST_OK = 10;

export function freshCapacity(now: number): SavedCapacity {
  return { ok: 0, marks: [{ at: now, ok: 0, recovery: true }] };
}

export function mark(saved: SavedCapacity, now: number, recovery: boolean): void {
  const [recoveries, others] = [saved.marks.filter((one) => one.recovery), saved.marks.filter((one) => !one.recovery)];
  // A recovery ends the climb.
  saved.marks = [...recoveries.slice(-MOST_MARKS), ...(recovery ? [] : others.slice(-MOST_MARKS))];
  saved.marks.push({ at: now, ok: saved.ok, recovery });
}

/**
 * Successes a second from the recovery so many cycles ago until now, one as well: such a span starts and ends with a
 * limit used up, so that it holds what the limit allows, whatever its kind. Short cycles are taken together.
 */
export function betweenRecoveries(saved: SavedCapacity, now: number, cycles = 1): number {
  const { ok, marks } = saved;
  const long = marks.filter((one) => one.recovery && ok - one.ok >= LEAST_OK * cycles && now - one.at >= 500);
  const from = long.at(-cycles) ?? marks.find((one) => one.recovery) ?? { at: now, ok };
  return ((ok - from.ok) * 1000) / Math.max(now - from.at, 500);
}

/** A time that does not count: a ban says nothing of what the limit allows. */
export function leaveOut(saved: SavedCapacity, ms: number): void {
  for (const one of saved.marks) one.at += ms;
}

/** How long the cycle that ends now has lasted. */
export function cycleMs({ marks }: SavedCapacity, now: number): number {
  return now - (marks.findLast((one) => one.recovery)?.at ?? now);
}

/** Successes of the cycle that ends now. */
export function lastCycle({ ok, marks }: SavedCapacity): number {
  return ok - (marks.findLast((one) => one.recovery)?.ok ?? 0);
}

/** The highest average since a moment of the climb: a cycle that began far below the limit tells too little. */
export function sinceClimb({ ok, marks }: SavedCapacity, now: number, pauseMs: number): number {
  const least = Math.max(6_000, 3 * pauseMs);
  const spans = marks.filter((one) => now - one.at >= least && ok - one.ok >= 2 * LEAST_OK);
  return Math.max(0, ...spans.map((one) => ((ok - one.ok) * 1000) / (now - one.at)));
}
