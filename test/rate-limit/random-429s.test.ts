import { expect, test } from 'vitest';
import { token, windowed } from '../limiter/bank.ts';
import { conclude } from '../limiter/conclude.ts';
import { drive } from '../limiter/drive.ts';

test.each([0.01, 0.03, 0.1, 0.2])(
  'a share of %d of random 429s does not hold a tenant far below its window',
  (noise) => {
    const server = { ...windowed('log', 300, 30, { noise }), isPlain: true };
    const used = [1, 2, 3].map((seed) => conclude(server, drive(server, 'exact', seed)).used);
    expect(Math.min(...used)).toBeGreaterThan(0.6);
  },
);

test.each([
  { what: 'taken for bans', server: windowed('fixed', 100, 10, { noise: 0.01 }), told: 'exact', seed: 5003 },
  { what: 'in a window', server: windowed('counter', 240, 60, { noise: 0.01 }), told: 'none', seed: 5000 },
] as const)('random 429s $what do not hold a tenant at a fraction of its limit', ({ server, told, seed }) => {
  expect(conclude(server, drive({ ...server, isPlain: true }, told, seed)).used).toBeGreaterThan(0.5);
});

test('rare random 429s are told from a slow limit at nearly its rate', () => {
  const server = { ...token(4, 8, { noise: 0.01 }), isPlain: true };
  const used = Array.from({ length: 20 }, (_, seed) => conclude(server, drive(server, 'none', seed)).used);
  expect(used.reduce((sum, one) => sum + one, 0) / used.length).toBeGreaterThan(0.75);
});
