import { createRateLimiter, type RateLimiter } from '../../src/rate-limit/rate-limiter.ts';

const BATCHES = 400;
const BATCH = 500;
/** Answers of a limit in between, so that 429s are met in every state and not in one alone. */
const CLEAN_BETWEEN = 50;

export interface Cost {
  what: string;
  /** Median of one, in microseconds. */
  us: number;
  most?: number;
}

/** What deciding costs: an ask with its answer, and a 429 with the success that ends its pause, beside a no-op. */
export function measureCost(): Cost[] {
  const clock = { ms: 0 };
  const learned = { rate: 50, limit: 50, noise: 0, limitSeen: true };
  const limiter = createRateLimiter({ now: () => clock.ms, random: Math.random }, learned);
  const success = (): void => succeed(limiter, clock);
  const met: number[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    for (let n = 0; n < CLEAN_BETWEEN; n += 1) success();
    const beganAt = performance.now();
    limiter.answered({ sentAt: clock.ms, status: 429, retryAfterMs: 20, headers: {}, inFlight: 3 });
    clock.ms += 20;
    success();
    met.push((performance.now() - beganAt) * 1000);
  }
  return [
    { what: 'a no-op', us: medianOf(() => clock.ms) },
    { what: 'an ask with its answer', us: medianOf(success), most: 1.5 },
    { what: 'a 429 with its recovery', us: median(met), most: 10 },
  ];
}

function succeed(limiter: RateLimiter, clock: { ms: number }): void {
  for (let wait = limiter.ask('bulk'); wait > 0; wait = limiter.ask('bulk')) clock.ms += wait;
  limiter.answered({ sentAt: clock.ms, status: 200, headers: {}, inFlight: 3 });
}

function medianOf(act: () => unknown): number {
  const each = Array.from({ length: BATCHES }, () => {
    const beganAt = performance.now();
    for (let n = 0; n < BATCH; n += 1) act();
    return ((performance.now() - beganAt) * 1000) / BATCH;
  });
  return median(each);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
