/** How many requests succeeded lately, for averages over whole cycles of an unknown limit. */
export interface SuccessWindow {
  add(at: number): void;
  /** Successes a second over the last `spanMs`, pauses included; over less where less is known. */
  rate(now: number, spanMs: number): number;
}

/** Plain data: counts of consecutive spans of 250 ms. */
export interface SavedSuccesses {
  startedAt: number;
  /** Number of the first span since 1970. */
  first: number;
  counts: number[];
}

const BUCKET_MS = 250;
const KEPT_BUCKETS = 60_000 / BUCKET_MS;

/** Counts in buckets of 250 ms, one minute long: bounded memory at any rate. Changes `saved` in place. */
export function createSuccessWindow(saved: SavedSuccesses): SuccessWindow {
  return {
    add(at) {
      const bucket = Math.floor(at / BUCKET_MS);
      const { counts } = saved;
      if (counts.length === 0 || bucket - saved.first > 2 * KEPT_BUCKETS) [saved.first, counts.length] = [bucket, 0];
      while (counts.length <= bucket - saved.first) counts.push(0);
      // What is reported late counts as of now.
      counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
      saved.first += counts.splice(0, counts.length - KEPT_BUCKETS - 1).length;
    },
    rate(now, spanMs) {
      // Under half a second one success would look like a high rate.
      const known = Math.min(spanMs, Math.max(now - saved.startedAt, 500));
      const from = Math.max(0, Math.ceil((now - known) / BUCKET_MS) - saved.first);
      const count = saved.counts.slice(from).reduce((sum, one) => sum + one, 0);
      return (count * 1000) / known;
    },
  };
}
