/** Writes of the store: one in so many ms in the long run, and so many more at once. */
const WRITES = { everyMs: 500, atOnce: 3 };

export interface WriteBudget {
  /** When the next write is allowed. */
  nextAt(): number;
  written(): void;
}

export function createWriteBudget(): WriteBudget {
  /** When the writes so far would have ended at an even rate. */
  let endAt = 0;
  return {
    nextAt: () => endAt - WRITES.atOnce * WRITES.everyMs,
    written() {
      endAt = Math.max(endAt, performance.now()) + WRITES.everyMs;
    },
  };
}
