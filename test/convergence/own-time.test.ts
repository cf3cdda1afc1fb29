import { expect, onTestFinished, test, vi } from 'vitest';
import { createSteppedClock } from '../../src/sandbox/quirks.ts';
import { inOwnTime } from './own-time.ts';

test('on a slow machine no bound of a request ends it while a seed is played, and a wait is over', async () => {
  const timer = setTimeout;
  // What takes ten seconds on another machine is over here after ten milliseconds.
  const early = (then: () => void, ms = 0): NodeJS.Timeout => timer(then, ms / 1_000);
  vi.stubGlobal('setTimeout', early);
  onTestFinished(() => void vi.unstubAllGlobals());
  const came: string[] = [];
  await inOwnTime(createSteppedClock(0), async () => {
    const bound = setTimeout(() => came.push('bound'), 10_000);
    const wait = setTimeout(() => came.push('taken back'), 5);
    clearTimeout(wait);
    await new Promise<void>((resolve) => void setTimeout(resolve, 5));
    came.push('wait');
    await new Promise<void>((resolve) => void timer(resolve, 100));
    clearTimeout(bound);
  });
  expect(came).toEqual(['wait']);
});
