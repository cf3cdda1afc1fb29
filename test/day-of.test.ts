import { expect, test } from 'vitest';
import { dayOf } from '../src/day-of.ts';

const EVENING = Date.parse('2026-03-01T23:30:00Z');

test.each([
  [undefined, '2026-03-01'],
  ['Europe/Berlin', '2026-03-02'],
  ['America/Los_Angeles', '2026-03-01'],
])('the same moment is a day of its own in %s: %s', (zone, day) => {
  expect(dayOf(EVENING, zone)).toBe(day);
});
