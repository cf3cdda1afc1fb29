import { expect, test } from 'vitest';
import { freshClimb } from '../../src/rate-limit/climb.ts';
import { beginMeeting, noteRefusal } from '../../src/rate-limit/learned-rate-limit.ts';
import { noteBan } from '../../src/rate-limit/new-rate.ts';
import type { Meeting } from '../../src/rate-limit/saved-rate-limit.ts';
import { banned, token, windowed } from '../limiter/bank.ts';
import { conclude } from '../limiter/conclude.ts';
import { drive } from '../limiter/drive.ts';

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

test('waits that differ by more than noise and one limit tell are a ban, in whatever order the answers come', () => {
  expect(bansAfter([28_000, 7_000, 14_000, 56_000])).toBe(true);
  expect(bansAfter([15_000, 1_000, 15_000, 1_000, 14_900])).toBe(false);
});

/** A limiter that is told no wait, before one that bans who comes again for twice as long, up to a minute. */
function usedWithoutWaits(seed: number): number {
  const server = banned(token(15, 15), 2_000);
  return conclude(server, drive(server, 'none', seed)).used;
}

test.each([1, 2, 3])('bans that nobody tells the length of are sat out, and rare (seed %i)', (seed) => {
  expect(usedWithoutWaits(seed)).toBeGreaterThan(0.8);
});

test('a quota of two minutes that tells no wait is not taken for bans for long', () => {
  const server = windowed('fixed', 600, 120, { minutes: 30 });
  expect(conclude(server, drive(server, 'none', 1)).used).toBeGreaterThan(0.85);
});
