import { isLate } from './live-lead.ts';

/** Permits that a process has leased and not used yet: when each may be used, its own clock. */
export interface HeldPermits {
  /** In order. */
  all(): readonly number[];
  /** When the next may be used; infinite where there is none. */
  first(): number;
  /** Whether so many live requests have no permits, or would wait although others may send. */
  areLate(live: number, everyMs: number): boolean;
  /** Gives how many are left. */
  use(): number;
  /** The last one goes instead of the first. */
  useLast(): void;
  add(permits: readonly number[]): void;
  /** Exchanges the last ones for as many of these places. */
  lead(places: readonly number[]): void;
  /** Somebody else goes first. */
  moveBack(ms: number): void;
  /** Those before a moment go; gives how many. */
  drop(before: number): number;
}

export function createHeldPermits(): HeldPermits {
  let permits: number[] = [];
  function add(more: readonly number[]): void {
    permits = [...permits, ...more].sort((a, b) => a - b);
  }
  return {
    all: () => permits,
    first: () => permits[0] ?? Number.POSITIVE_INFINITY,
    areLate: (live, everyMs) =>
      live > permits.length ||
      isLate(live, permits, { now: performance.now(), tat: Number.POSITIVE_INFINITY, everyMs }),
    use() {
      permits.shift();
      return permits.length;
    },
    useLast: () => void permits.pop(),
    add,
    lead(places) {
      const exchanged = permits.splice(Math.max(0, permits.length - places.length));
      add(places.slice(0, exchanged.length));
    },
    moveBack(ms) {
      const now = performance.now();
      // Those that are overdue keep their distances.
      const lateMs = Math.max(0, now - (permits[0] ?? now));
      const moved = permits.map((permit) => permit + (permit < now ? lateMs : 0) + ms);
      if (ms > 0) permits = moved.sort((a, b) => a - b);
    },
    drop(before) {
      const kept = permits.filter((permit) => permit >= before);
      const dropped = permits.length - kept.length;
      permits = kept;
      return dropped;
    },
  };
}
