import type { SteppedClock } from '../../src/sandbox/quirks.ts';

/** Longer than any seed takes on any machine. */
const AHEAD_MS = 6 * 3_600_000;

/**
 * While `play` runs, the product's clocks and timeouts are the seed's: a slow machine changes nothing, and a process
 * that stood still knows it.
 */
export async function inOwnTime<T>(clock: SteppedClock, play: () => Promise<T>): Promise<T> {
  const real = { steady: performance.now, wall: Date.now, timeout: AbortSignal.timeout, immediate: setImmediate };
  const [startedAt, from] = [Date.now(), clock.now()];
  performance.now = clock.now;
  // The HR system's database has the machine's clock: what is to be written by a certain time must be ahead of it,
  // however slowly the seed is played.
  Date.now = () => startedAt + AHEAD_MS + clock.now() - from;
  // When the machine's event loop turns is chance, and a seed is to play the same each time.
  globalThis.setImmediate = ((then: () => void) => queueMicrotask(then)) as typeof setImmediate;
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    clock.at(clock.now() + ms, () => controller.abort(new DOMException('The time is over', 'TimeoutError')));
    return controller.signal;
  };
  try {
    return await play();
  } finally {
    performance.now = real.steady;
    Date.now = real.wall;
    AbortSignal.timeout = real.timeout;
    globalThis.setImmediate = real.immediate;
  }
}
