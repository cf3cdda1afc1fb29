import { SHARE_MS } from './sharers.ts';

/**
 * Live requests go before bulk, in whichever process these wait: who asks for live requests takes the next places of
 * what all have leased (a lead), and everybody else's permits move back by as much, once they look. No permit is made
 * or lost by it. Plain data; times are of the clock that all sharers have.
 */
export interface SavedLeads {
  /** By how much permits were moved back so far, in all, ms: whoever leased before moves by what was added since. */
  movedMs: number;
  /** When all leads so far would end, one after the other. */
  until: number;
}

/** A live request is seldom alone: a hire makes about so many, one after the other, and each would ask the store. */
export const LIVE_RUN = 10;
/** Between the places of a lead, one in twenty is left to bulk. */
const STRETCH = 20 / 19;
/** A lead is of the permits of so many ms at most, unless more requests wait. */
const LEAD_MS = 2 * SHARE_MS;
/** However slow it was when others took the lead, nobody waits longer for a place. */
export const LEAD_REACH_MS = 5_000;

/** A moment of before; one so far ahead was saved before the clock was set back, and is past. */
export function unlessSetBack(at: number, now: number, everyMs = 0): number {
  return at > now + 2 * LEAD_REACH_MS + everyMs ? now : at;
}

/** Whether live requests wait although others may send: their permits, or the next one to be leased, are far ahead. */
export function isLate(live: number, permits: readonly number[], { now, tat, everyMs }: Schedule): boolean {
  return live > 0 && (permits[live - 1] ?? tat) > now + live * everyMs;
}

export interface Schedule {
  now: number;
  /** When the next permit to be leased is due. */
  tat: number;
  /** Between two permits. */
  everyMs: number;
}

/** How many permits go first: none where no live request is late; else those of the next second or so. */
export function leadLength(live: number, permits: readonly number[], schedule: Schedule): number {
  if (!isLate(live, permits, schedule)) return 0;
  return Math.max(live, Math.min(LIVE_RUN, Math.floor(LEAD_MS / schedule.everyMs)));
}

/** Moves so many of these permits to the front: the places that they have then. None where they come no sooner. */
export function takeLead(
  known: SavedLeads | undefined,
  { length, permits }: { length: number; permits: readonly number[] },
  { now, tat, everyMs }: Schedule,
): { leads: SavedLeads; places: number[] } {
  const movedMs = known?.movedMs ?? 0;
  const until = unlessSetBack(known?.until ?? 0, now);
  const spaceMs = everyMs * STRETCH;
  // Two leads may run at once, of two processes; more would be a burst.
  const earliest = Math.max(now, until - LEAD_MS);
  // A place of the schedule, so that nothing leaves between two others.
  const first = earliest + (Math.max(0, tat - earliest) % everyMs);
  const count = Math.min(length, permits.length);
  if (count === 0 || first + everyMs > Math.min(...permits)) return { leads: { movedMs, until }, places: [] };
  return {
    leads: {
      movedMs: movedMs + count * everyMs,
      until: Math.min(Math.max(first, until) + count * spaceMs, now + LEAD_REACH_MS),
    },
    places: Array.from({ length: count }, (_, n) => first + n * spaceMs),
  };
}
