import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inScope, patient } from '../../activities/activity-scope.ts';
import type { RateLimitKeeper } from '../../src/rate-limit/rate-limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A keeper that gives no permit and says how long it would take. */
function keeperThatWaits(waitMs: number) {
  const asked = { times: 0 };
  const keeper: RateLimitKeeper = {
    acquire: (_priority, signal) => {
      asked.times += 1;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    },
    answered: () => undefined,
    waitMs: () => waitMs,
    perSecond: () => 20,
  };
  return { asked, keeper: patient(keeper) };
}

function errorOf(work: Promise<void>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('a permit that is an hour away is not waited for: the activity hears when to come back', async () => {
  const { asked, keeper } = keeperThatWaits(3_600_000);
  await expect(keeper.acquire('live')).rejects.toMatchObject({
    code: 'RATE_LIMIT_WAIT',
    action: 'throttle',
    retryAfterMs: 3_600_000,
  });
  expect(asked.times).toBe(0);
});

test('a permit that should have come within five seconds is given up then, with the wait that remains', async () => {
  const { keeper } = keeperThatWaits(4_000);
  const refusal = errorOf(keeper.acquire('bulk'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await refusal).toMatchObject({ code: 'RATE_LIMIT_WAIT', retryAfterMs: 4_000 });
});

test('a permit is not waited for once its activity is cancelled', async () => {
  const { keeper } = keeperThatWaits(4_000);
  const stop = new AbortController();
  const refusal = errorOf(inScope(stop.signal, 'acme', () => keeper.acquire('live')));
  stop.abort();
  expect(await refusal).toMatchObject({ code: 'ABORTED' });
});

test('a caller with a signal of its own hears its own reason', async () => {
  const { keeper } = keeperThatWaits(4_000);
  const own = new AbortController();
  const refusal = errorOf(keeper.acquire('live', own.signal));
  own.abort(new Error('my own'));
  expect(await refusal).toEqual(new Error('my own'));
});

/** An activity whose second permit comes after so long, at this learned rate. */
function callTwice(perSecond: number, ms: number): Promise<unknown> {
  const permits = [Promise.resolve(), new Promise<void>((resolve) => void setTimeout(resolve, ms))];
  const keeper = patient({
    acquire: (_priority, signal) =>
      Promise.race([
        permits.shift() ?? Promise.reject(new Error('no third permit')),
        new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
      ]),
    answered: () => undefined,
    waitMs: () => 0,
    perSecond: () => perSecond,
  });
  const calls = async () => {
    await keeper.acquire('live');
    await keeper.acquire('live');
  };
  return errorOf(inScope(new AbortController().signal, 'acme', calls));
}

test('an activity that has called waits for a permit where they are rare, not to begin again', async () => {
  const ended = callTwice(1 / 50, 50_000);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(await ended).toBeUndefined();
});

test('an activity that has called gives a pause five seconds where permits are not rare', async () => {
  const ended = callTwice(20, 50_000);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await ended).toMatchObject({ code: 'RATE_LIMIT_WAIT' });
});
