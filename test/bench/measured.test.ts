import { expect, test } from 'vitest';
import { drawCurve } from './draw-curve.ts';
import { median, openLedger, ratioOf, verdictOf } from './measured.ts';

test('a ratio is taken within each round, so that a slow round hits both sides', () => {
  const ledger = openLedger('pull');
  for (const [floor, own] of [
    [100, 50],
    [10, 5],
    [40, 30],
  ] as const) {
    ledger.add('bytes', 'records/s', floor);
    ledger.add('first pass', 'records/s', own, { floor: 'bytes', goal: { least: 0.75 } });
  }
  const all = ledger.measured();
  const [bytes, pass] = all;
  expect(pass && ratioOf(pass, all)).toBe(0.5);
  expect(pass && verdictOf(pass, all)).toBe('falls short');
  expect(bytes && verdictOf(bytes, all)).toBe('');
});

test.each([
  [{ most: 80 }, 'holds'],
  [{ most: 79 }, 'falls short'],
  [{ least: 80, most: 90 }, 'holds'],
  [{ least: 81 }, 'falls short'],
])('without a floor the median itself is judged: %j %s', (goal, verdict) => {
  const one = { bench: 'memory', what: 'peak', unit: 'MB', values: [70, 80, 200], goal };
  expect(verdictOf(one, [one])).toBe(verdict);
});

test('the median of an even number of values lies between the middle two', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('a curve has one line a name, its highest value at the top and its names escaped', () => {
  const svg = drawCurve('a < b', 'MB', [{ name: 'one & two', values: [0, 10] }]);
  expect(svg.match(/<polyline/g)).toHaveLength(1);
  expect(svg).toContain('points="40.0,200.0 600.0,40.0"');
  expect(svg).toContain('one &amp; two');
  expect(svg).toContain('a &lt; b');
});
