/** A clock set back by more, or an answer that was away for longer: what was known of the two clocks is forgotten. */
const MOST_LATE_MS = 1_000;
/** Two clocks drift apart by so much of the time at most: what NTP corrects without a jump. */
const DRIFT = 0.0005;
/** A clock that was set back by less is followed once what it showed before is so old. */
const REMEMBERED_MS = 60_000;

/**
 * The store's clock beside the own one. What the store showed is some ms old when it arrives, and of an exchange that
 * was held up much older; so of the last minute the one that came fastest counts. Otherwise each exchange would shift
 * the permits of those before, and a request that left at the very end of a pause would seem to have left within it.
 */
export interface StoreClock {
  /** When the store's clock, which showed `now` in an answer that has just come, showed it: the own clock, ms. */
  ownTimeOf(now: number): number;
}

export function createStoreClock(): StoreClock {
  /** The own clock less the store's, as each answer showed it. */
  let seen: { at: number; aheadMs: number }[] = [];
  return {
    ownTimeOf(now) {
      const at = performance.now();
      seen = seen.filter((one) => at - one.at < REMEMBERED_MS);
      const known = Math.min(...seen.map((one) => one.aheadMs + DRIFT * (at - one.at)));
      if (at - now > known + MOST_LATE_MS) seen = [];
      seen.push({ at, aheadMs: at - now });
      return now + (seen.length === 1 ? at - now : Math.min(known, at - now));
    },
  };
}
