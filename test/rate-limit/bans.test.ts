import { expect, test } from 'vitest';
import { noteBan, noteRefusal } from '../../src/rate-limit/bans.ts';
import { freshClimb } from '../../src/rate-limit/climb.ts';
import { beginMeeting, type Meeting } from '../../src/rate-limit/saved-rate-limit.ts';

/** A meeting whose refusals told these waits. */
function meet([firstMs, ...others]: number[]): Meeting {
  const first = { at: 0, rate: 10, isBan: false, isSpared: false, isChance: false };
  const meeting = beginMeeting(first, firstMs);
  for (const toldMs of others) noteRefusal(meeting, toldMs);
  return meeting;
}

/** Whether bans are expected after these meetings, ten minutes apart. */
function bansAfter(...meetings: number[][]): boolean {
  const climb = { ...freshClimb };
  for (const told of meetings) noteBan(climb, meet(told), 600_000);
  return climb.bans;
}

test('waits that double again and again are bans', () => {
  expect(bansAfter([2_000, 4_000, 8_000])).toBe(true);
  expect(bansAfter([2_000, 4_000], [2_000, 4_000])).toBe(true);
});

test('a random 429 before the end of a window is no ban', () => {
  expect(bansAfter([1_000, 15_000, 14_900, 1_000, 14_500])).toBe(false);
  expect(bansAfter([1_000, 15_000], [9_000, 8_990], [1_000, 12_000])).toBe(false);
});

test('a server that no longer lengthens waits has no bans any more', () => {
  const lengthened = [2_000, 4_000, 8_000];
  expect(bansAfter(lengthened, [2_000, 2_000], [2_000, 1_900])).toBe(false);
});

test('a ban that is as long as bans become is one of them', () => {
  expect(bansAfter([2_000, 4_000, 8_000], [8_000, 8_000], [8_000, 7_900], [8_000, 8_000])).toBe(true);
});

test.each([
  { quietMs: 5_000, bans: false },
  { quietMs: 120_000, bans: true },
])('a lone short wait $quietMs ms after a ban: bans are expected: $bans', ({ quietMs, bans }) => {
  const climb = { ...freshClimb };
  noteBan(climb, meet([2_000, 4_000, 8_000]), 600_000);
  noteBan(climb, meet([1_000]), quietMs);
  expect(climb.bans).toBe(bans);
});
