/** How a stream finds what changed, and when it was last read whole; times are ms on the database's clock. */
export interface Freshness {
  now: number;
  wholeAt: number | null;
  /** How often it runs by itself. */
  every: number | undefined;
  /** The whole list is read again within this time. */
  wholeWithin: number;
  /** Hints can be followed by reading records by their ids. */
  hasHints: boolean;
}

/** Whether a run should read the whole list: so early that the pass ends before the stated age. */
export function isWholeDue({ now, wholeAt, every = 0, wholeWithin, hasHints }: Freshness): boolean {
  if (wholeAt === null || !hasHints) return true;
  return now - wholeAt >= wholeWithin - Math.min(2 * every, wholeWithin / 4);
}
