import { expect, test } from 'vitest';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';

const ROUND_TRIP_MS = 20;

/**
 * A tenant that calls every three seconds for a minute, then has 200 live calls to make at once while the partner
 * refuses everything for `refusedMs`, and nothing afterwards. Seconds from the end of the trouble to the last call.
 */
function secondsToRecover(refusedMs: number): number {
  let clockMs = 1_000_000;
  const limiter = createRateLimiter({ now: () => clockMs, random: () => 0.5 });
  const call = (isRefused: boolean): void => {
    const sentAt = clockMs;
    clockMs += ROUND_TRIP_MS;
    const refusal = isRefused ? { status: 429, retryAfterMs: 60_000 } : { status: 200 };
    limiter.answered({ sentAt, headers: {}, inFlight: 1, ...refusal });
  };
  const whenAllowed = (): void => {
    for (let waitMs = limiter.ask('live'); waitMs > 0; waitMs = limiter.ask('live')) clockMs += waitMs;
  };
  for (let n = 0; n < 20; n += 1) {
    whenAllowed();
    call(false);
    clockMs += 3_000;
  }
  const over = clockMs + refusedMs;
  for (let done = 0; done < 200; ) {
    whenAllowed();
    const isRefused = clockMs < over;
    call(isRefused);
    if (!isRefused) done += 1;
  }
  return (clockMs - over) / 1_000;
}

test('a refusal after a rest teaches nothing: what little was sent before it is not what is allowed', () => {
  expect(secondsToRecover(45_000)).toBeLessThan(60);
  expect(secondsToRecover(200_000)).toBeLessThan(90);
});
