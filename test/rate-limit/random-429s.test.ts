import { expect, test } from 'vitest';
import { windowed } from '../limiter/bank.ts';
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
