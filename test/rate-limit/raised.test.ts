import { expect, test } from 'vitest';
import { doubled, windowed } from '../limiter/bank.ts';
import { conclude } from '../limiter/conclude.ts';
import { drive } from '../limiter/drive.ts';

test.each([
  ['log', 1],
  ['counter', 2],
] as const)('a sliding %s of a minute that allows twice as much is soon used (seed %i)', (kind, seed) => {
  const server = windowed(kind, 300, 60, { change: doubled });
  const { used, refused } = conclude(server, drive(server, 'exact', seed));
  expect(used).toBeGreaterThan(0.9);
  expect(refused).toBeLessThan(0.006);
});
