import type { SteppedClock } from '../../src/sandbox/quirks.ts';

/** Longer than any seed takes on any machine. */
const AHEAD_MS = 6 * 3_600_000;
/** Timers this long end what hangs: a request, an idle connection. Shorter ones are waits on the way. */
const BOUND_MS = 1_000;
const NEVER_MS = 2 ** 31 - 1;

/**
 * While `play` runs, the product's clocks and timeouts are the seed's: a slow machine changes nothing, and a process
 * that stood still knows it.
 */
export async function inOwnTime<T>(clock: SteppedClock, play: () => Promise<T>): Promise<T> {
  const real = {
    steady: performance.now,
    wall: Date.now,
    timeout: AbortSignal.timeout,
    immediate: setImmediate,
    timer: setTimeout,
    clear: clearTimeout,
  };
  const [startedAt, from] = [Date.now(), clock.now()];
  performance.now = clock.now;
  // The HR system's database has the machine's clock: what is to be written by a certain time must be ahead of it,
  // however slowly the seed is played.
  Date.now = () => startedAt + AHEAD_MS + clock.now() - from;
  // When the machine's event loop turns is chance, and a seed is to play the same each time.
  globalThis.setImmediate = ((then: () => void) => queueMicrotask(then)) as typeof setImmediate;
  // A wait is over once nobody else has anything to do. The bound of a request would come on a slow machine alone, and
  // wake a process that stands still, or one that died.
  const waits = new WeakSet<object>();
  globalThis.setTimeout = ((then: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    if (ms >= BOUND_MS) return real.timer(then, NEVER_MS).unref();
    const wait = real.immediate(then, ...args);
    waits.add(wait);
    return wait;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((one: NodeJS.Timeout | undefined) => {
    if (typeof one === 'object' && waits.has(one)) clearImmediate(one as unknown as NodeJS.Immediate);
    else real.clear(one);
  }) as typeof clearTimeout;
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
    globalThis.setTimeout = real.timer;
    globalThis.clearTimeout = real.clear;
  }
}
