import { expect, test } from 'vitest';
import { open } from './open-campaigns.ts';
import type { Json } from './open-sandbox.ts';

test.each([
  [
    'through the day',
    { callTime: '18:30' },
    '18:30',
    '2026-01-05T10:30:00.000Z',
    ['19:30 0', '21:00 0', '09:00 1', '10:30 1'],
  ],
  [
    'today no more',
    { callTime: '17:00' },
    '17:00',
    '2026-01-06T09:00:00.000Z',
    ['18:00 0', '19:30 0', '21:00 0', '09:00 1'],
  ],
  [
    'at the very end',
    { callTime: '21:00' },
    '21:00',
    '2026-01-05T13:00:00.000Z',
    ['09:00 1', '10:30 1', '12:00 1', '13:30 1'],
  ],
  [
    'after hours',
    { callTime: '21:01' },
    '09:00',
    '2026-01-06T01:00:00.000Z',
    ['10:00 0', '11:30 0', '13:00 0', '14:30 0'],
  ],
  [
    'before hours',
    { callTime: '06:15' },
    '09:00',
    '2026-01-06T01:00:00.000Z',
    ['10:00 0', '11:30 0', '13:00 0', '14:30 0'],
  ],
  [
    'with the start in UTC, which wins',
    { callTime: '10:00', callStartTimeUtc: '2026-02-01T11:30:00Z' },
    '19:30',
    '2026-02-01T11:30:00.000Z',
    ['20:30 0', '09:00 1', '10:30 1', '12:00 1'],
  ],
  [
    'with a start in UTC that is night there',
    { callStartTimeUtc: '2026-02-01T15:00:00Z' },
    '09:00',
    '2026-02-02T01:00:00.000Z',
    ['10:00 0', '11:30 0', '13:00 0', '14:30 0'],
  ],
  [
    'with retries of its own',
    {
      callTime: '10:00',
      followUpRetries: [
        { time: '16:00', delayDays: 2 },
        { time: '22:00', delayDays: 3 },
      ],
    },
    '10:00',
    '2026-01-06T02:00:00.000Z',
    ['16:00 2', '09:00 4'],
  ],
  [
    'with retries in UTC, which win',
    { callTime: '10:00', followUpRetries: [], retryScheduleUtc: ['2026-01-06T04:00:00Z', '2026-01-08T00:00:00Z'] },
    '10:00',
    '2026-01-06T02:00:00.000Z',
    ['12:00 0', '09:00 2'],
  ],
  ['with no retries', { callTime: '10:00', followUpRetries: [] }, '10:00', '2026-01-06T02:00:00.000Z', []],
])('calls %s', async (_name, times, local, utc, retries) => {
  await using sandbox = await open();
  const { schedule } = (await sandbox.send(times)).campaign;
  expect([schedule.callSchedule.startTimeLocal, schedule.callSchedule.startTimeUtc]).toEqual([local, utc]);
  expect(schedule.callSchedule.timeBasis).toBe('callStartTimeUtc' in times ? 'UTC' : 'LOCAL');
  expect(schedule.followUpRetries.map((slot: Json) => `${slot.time} ${slot.delayDays}`)).toEqual(retries);
});

test('summer time moves no call out of its hour', async () => {
  await using sandbox = await open();
  const times = { timezone: 'Europe/London', callStartTimeUtc: '2026-03-28T20:00:00Z' };
  const { schedule } = (await sandbox.send(times)).campaign;
  expect(schedule.callTimeDisplay).toBe('8:00 PM');
  expect(schedule.followUpRetries.map((slot: Json) => `${slot.time} ${slot.delayDays}`)).toEqual([
    '21:00 0',
    '09:00 1',
    '10:30 1',
    '12:00 1',
  ]);
});
