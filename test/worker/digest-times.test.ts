import { expect, test } from 'vitest';
import { dueDigest } from '../../src/worker/outgoing.ts';

const notify = { url: 'https://hooks.example/a', form: 'webhook' as const, digest: '08:00', timezone: 'Europe/Berlin' };

function due(lastDay: string | null, now: string) {
  const found = dueDigest(notify, lastDay, new Date(now));
  return found && { day: found.day, from: new Date(found.from).toISOString(), to: new Date(found.to).toISOString() };
}

test('a digest is due from its time on, in the tenant’s time zone, once a day', () => {
  expect(due('2026-07-01', '2026-07-02T05:59:59Z')).toBeUndefined();
  expect(due('2026-07-01', '2026-07-02T06:00:00Z')).toEqual({
    day: '2026-07-02',
    from: '2026-07-01T06:00:00.000Z',
    to: '2026-07-02T06:00:00.000Z',
  });
  expect(due('2026-07-02', '2026-07-02T23:00:00Z')).toBeUndefined();
});

test('a digest that nobody could send is sent later, its last day alone', () => {
  expect(due('2026-06-20', '2026-07-02T03:00:00Z')).toMatchObject({ day: '2026-07-01' });
});

test('a tenant that never had a digest gets its first at the next time', () => {
  expect(due(null, '2026-07-02T12:00:00Z')).toBeUndefined();
  expect(due(null, '2026-07-03T06:00:10Z')).toMatchObject({ day: '2026-07-03' });
});

test('the day on which clocks change has 23 or 25 hours', () => {
  expect(due('2026-10-24', '2026-10-25T07:00:00Z')).toMatchObject({ from: '2026-10-24T06:00:00.000Z' });
});

test('a digest comes once on a day whose time is missing, and on one that has it twice', () => {
  const at = (timezone: string, digest: string, lastDay: string, now: string) =>
    dueDigest({ ...notify, timezone, digest }, lastDay, new Date(now))?.day;
  expect(at('America/Santiago', '00:00', '2026-09-05', '2026-09-06T03:59:00Z')).toBeUndefined();
  expect(at('America/Santiago', '00:00', '2026-09-05', '2026-09-06T04:00:00Z')).toBe('2026-09-06');
  expect(at('Europe/Berlin', '02:30', '2026-10-24', '2026-10-25T00:30:00Z')).toBe('2026-10-25');
  expect(at('Europe/Berlin', '02:30', '2026-10-25', '2026-10-25T01:30:00Z')).toBeUndefined();
});

test('without a time there is no digest', () => {
  expect(dueDigest({ ...notify, digest: undefined }, null, new Date())).toBeUndefined();
});
