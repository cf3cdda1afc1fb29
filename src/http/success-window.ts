/** How many requests succeeded lately, for averages over whole cycles of an unknown limit. */
export interface SuccessWindow {
  add(at: number): void;
  /** Successes a second over the last `spanMs`, pauses included; over less where less is known. */
  rate(now: number, spanMs: number): number;
}

const bucketMs = 250;
const keptMs = 60_000;

/** Counts in buckets of 250 ms, one minute long: bounded memory at any rate. */
export function createSuccessWindow(startedAt: number): SuccessWindow {
  const buckets: { at: number; count: number }[] = [];
  return {
    add(at) {
      const start = Math.floor(at / bucketMs) * bucketMs;
      const last = buckets.at(-1);
      if (last !== undefined && last.at >= start) last.count += 1;
      else buckets.push({ at: start, count: 1 });
      while (buckets[0] !== undefined && buckets[0].at < at - keptMs) buckets.shift();
    },
    rate(now, spanMs) {
      // Under half a second one success would look like a high rate.
      const known = Math.min(spanMs, Math.max(now - startedAt, 500));
      const count = buckets.reduce((sum, bucket) => (bucket.at >= now - known ? sum + bucket.count : sum), 0);
      return (count * 1000) / known;
    },
  };
}
