import { expect, test } from 'vitest';
import { halved, windowed } from '../limiter/bank.ts';
import { drive } from '../limiter/drive.ts';

test.each([1, 2, 3])('a window of a second that allows half is followed within ten seconds (seed %i)', (seed) => {
  const server = windowed('fixed', 20, 1, { change: halved, minutes: 12 });
  const { admitted, refused } = drive(server, 'exact', seed);
  const afterTenSeconds = (times: number[]) =>
    times.filter((at) => at >= halved.atMs + 10_000 && at < halved.atMs + 20_000).length;
  expect(afterTenSeconds(admitted)).toBeGreaterThan(85);
  expect(afterTenSeconds(refused)).toBeLessThan(4);
});
