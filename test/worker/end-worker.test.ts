import { expect, onTestFinished, test, vi } from 'vitest';
import { endWorker, SHUTDOWN, type WorkerEnds } from '../../src/app.ts';

/** Each end as `ends` has it, and when each was begun, ms. */
function timed(ends: () => Promise<unknown>): { begun: Record<string, number>; parts: WorkerEnds } {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const since = Date.now();
  const begun: Record<string, number> = {};
  const part = (name: string) => () => {
    begun[name] = Date.now() - since;
    return [ends()];
  };
  return { begun, parts: { work: part('work'), connections: part('connections'), stores: part('stores') } };
}

test('a worker ends in less than five seconds, although everything in it hangs', async () => {
  const { begun, parts } = timed(() => new Promise(() => undefined));
  let isOver = false;
  const ending = endWorker(parts).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(SHUTDOWN.forceMs);
  expect(begun).toEqual({ work: 0 });
  await vi.advanceTimersByTimeAsync(4_500 - SHUTDOWN.forceMs);
  expect(isOver).toBe(true);
  expect(Object.keys(begun)).toEqual(['work', 'connections', 'stores']);
  await ending;
});

test('a worker in which nothing hangs ends at once, in order, and although an end fails', async () => {
  const { begun, parts } = timed(() => Promise.reject(new Error('gone')));
  await endWorker(parts);
  expect(begun).toEqual({ work: 0, connections: 0, stores: 0 });
});
