import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createRootLogger } from '../../src/log.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startChores } from '../../src/worker/chores.ts';

test('no round of chores begins before the last one has ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await openStore('sqlite::memory:');
  onTestFinished(() => store.close());
  let rounds = 0;
  const tenants = () => {
    rounds += 1;
    return [];
  };
  const deps = { store, log: createRootLogger(undefined, 'silent') } as unknown as ActivityDeps;
  const chores = startChores(deps, tenants, 1_000);
  // Nothing that a round awaits is answered while only this clock moves.
  vi.advanceTimersByTime(5_000);
  expect(rounds).toBe(1);
  while (rounds === 1) {
    await setImmediate();
    vi.advanceTimersByTime(1_000);
  }
  expect(rounds).toBe(2);
  await chores.close();
});
