/** Writes of the store: one in so many ms in the long run, and so many more at once; two a second in any minute. */
const WRITES = { everyMs: 525, atOnce: 3 };

export interface WriteBudget {
  /** When the next write is allowed; one that can wait leaves one for those that cannot. */
  nextAt(isUrgent: boolean): number;
  written(): void;
}

export function createWriteBudget(): WriteBudget {
  /** When the writes so far would have ended at an even rate. */
  let endAt = 0;
  return {
    nextAt: (isUrgent) => endAt - (WRITES.atOnce - (isUrgent ? 0 : 1)) * WRITES.everyMs,
    written() {
      endAt = Math.max(endAt, performance.now()) + WRITES.everyMs;
    },
  };
}
