import { LIVE_RUN } from './live-lead.ts';

/** How many live requests of one process come one after the other: a hire makes several, a single read is alone. */
export interface LiveRuns {
  /** One came. */
  note(): void;
  /** Of a run, so many are expected by now, the one that waits included. */
  expected(): number;
}

/** A run has ended when nothing came for so long. */
const ENDS_MS = 1_500;
const MEMORY = 0.3;

export function createLiveRuns(): LiveRuns {
  let usual = LIVE_RUN;
  let current = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    note() {
      const now = performance.now();
      if (now - lastAt > ENDS_MS && current > 0) {
        usual += MEMORY * (Math.min(current, LIVE_RUN) - usual);
        current = 0;
      }
      current += 1;
      lastAt = now;
    },
    // One that is longer than usual may be of any length.
    expected: () => (current > Math.ceil(usual) ? LIVE_RUN : Math.max(1, Math.ceil(usual) - current + 1)),
  };
}
