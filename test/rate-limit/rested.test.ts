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

/**
 * A tenant that made 60 calls at its own pace is refused once for a second, and has nothing to send for two minutes.
 * The rate that it goes on with; `holdsPermit`: its process had leased the next permit before it stood still.
 */
function rateAfterSilence({ holdsPermit }: { holdsPermit: boolean }): number {
  let clockMs = 1_000_000;
  const limiter = createRateLimiter({ now: () => clockMs, random: () => 0.5 });
  const whenAllowed = (): void => {
    for (let waitMs = limiter.ask('live'); waitMs > 0; waitMs = limiter.ask('live')) clockMs += waitMs;
  };
  const answer = (status: number): void => {
    const sentAt = clockMs;
    clockMs += ROUND_TRIP_MS;
    limiter.answered({ sentAt, headers: {}, inFlight: 1, status, ...(status === 429 ? { retryAfterMs: 1_000 } : {}) });
  };
  for (let n = 0; n < 60; n += 1) {
    whenAllowed();
    // The first is not believed, the second is met as a limit is.
    answer(n === 45 || n === 55 ? 429 : 200);
  }
  whenAllowed();
  answer(429);
  if (holdsPermit) whenAllowed();
  clockMs += 120_000;
  if (!holdsPermit) whenAllowed();
  answer(200);
  return limiter.save().rate;
}

test.each([false, true])(
  'a silence in which nobody sent is no pause of the limit, permit leased: %s',
  (holdsPermit) => {
    expect(rateAfterSilence({ holdsPermit })).toBeGreaterThan(8);
  },
);

test.each([undefined, 1_000])(
  'a partner that goes on refusing is asked ever less often, though each call comes after a rest; told to wait %s ms',
  (retryAfterMs) => {
    let clockMs = 1_000_000;
    const limiter = createRateLimiter({ now: () => clockMs, random: () => 0.5 });
    let calls = 0;
    for (const until = clockMs + 3_600_000; clockMs < until; clockMs += 5_000) {
      if (limiter.ask('live') > 0) continue;
      calls += 1;
      const refusal = { status: 429, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      limiter.answered({ sentAt: clockMs, headers: {}, inFlight: 1, ...refusal });
    }
    expect(calls).toBeLessThan(40);
  },
);

test('a rate so low that callers give up before their permit comes grows all the same', () => {
  let clockMs = 1_000_000;
  const limiter = createRateLimiter(
    { now: () => clockMs, random: () => 0.5 },
    { rate: 0.2, limit: 0.2, noise: 0, limitSeen: true },
  );
  for (let n = 0; n < 200; n += 1) {
    // Waited for, given up, and asked for again a little after it was due.
    clockMs += limiter.ask('live') + 700;
    while (limiter.ask('live') > 0) clockMs += 100;
    limiter.answered({ sentAt: clockMs, headers: {}, inFlight: 1, status: 200 });
    clockMs += ROUND_TRIP_MS;
  }
  expect(limiter.save().rate).toBeGreaterThan(0.22);
});
