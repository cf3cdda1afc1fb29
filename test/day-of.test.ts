import { expect, test } from 'vitest';
import { dayBefore, dayOf } from '../src/day-of.ts';

const EVENING = Date.parse('2026-03-01T23:30:00Z');

test.each([
  [undefined, '2026-03-01'],
  ['Europe/Berlin', '2026-03-02'],
  ['America/Los_Angeles', '2026-03-01'],
])('the same moment is a day of its own in %s: %s', (zone, day) => {
  expect(dayOf(EVENING, zone)).toBe(day);
});

const DAY_MS = 86_400_000;

test.each([
  ['a day of 23 hours', 'Europe/Berlin', '2026-03-29T22:30:00Z', '2026-03-29'],
  ['a day of 25 hours', 'Europe/Berlin', '2026-10-25T22:30:00Z', '2026-10-24'],
  ['a day that begins at one o’clock', 'America/Santiago', '2026-09-07T03:30:00Z', '2026-09-06'],
  ['a day on which midnight comes twice', 'America/Havana', '2026-11-02T04:30:00Z', '2026-10-31'],
])('the day before counts %s as one', (_what, zone, at, day) => {
  expect(dayBefore(Date.parse(at), DAY_MS, zone)).toBe(day);
});

test('hours beside whole days count as hours', () => {
  expect(dayBefore(Date.parse('2026-03-03T10:00:00Z'), 1.5 * DAY_MS)).toBe('2026-03-01');
});
