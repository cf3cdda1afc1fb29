import { expect, test } from 'vitest';
import { booker, open, schedule, slotsOf } from './open-booking.ts';

test('slots follow the opening hours, from inclusive, to exclusive, in the time of the schedule', async () => {
  await using sandbox = await open();
  const { id } = await schedule(sandbox, {
    timezone: 'Asia/Manila',
    durationMinutes: 60,
    availability: { from: '09:00', to: '11:30' },
  });
  const { data } = await sandbox.partner.bookingSchedules.listSlots({
    params: { bookingScheduleId: id },
    query: { from: '2026-01-06', to: '2026-01-08' },
  });
  expect(data).toEqual(
    ['06T01', '06T02', '07T01', '07T02'].map((hour) => ({
      startAt: `2026-01-${hour}:00:00.000Z`,
      endAt: `2026-01-${hour.replace('02', '03').replace('01', '02')}:00:00.000Z`,
      remainingCapacity: 1,
    })),
  );
  const exact = await slotsOf(sandbox, id, 'from=2026-01-06T02:00:00Z&to=2026-01-07T01:00:00Z');
  expect(exact.map((slot) => slot.startAt)).toEqual(['2026-01-06T02:00:00.000Z']);
  expect(await slotsOf(sandbox, id, 'from=2026-01-10&to=2026-01-12')).toEqual([]);
});

test('slots keep their hour when summer time begins', async () => {
  await using sandbox = await open();
  const { id } = await schedule(sandbox, {
    visibleDaysAhead: 100,
    durationMinutes: 480,
    availability: { days: [1, 2, 3, 4, 5, 6, 7] },
  });
  const starts = (await slotsOf(sandbox, id, 'from=2026-03-28&to=2026-03-31')).map((slot) => slot.startAt.slice(5, 16));
  expect(starts).toEqual(['03-28T09:00', '03-29T08:00', '03-30T08:00']);
});

test('slots that have begun are gone, visibleDaysAhead caps silently, an expired schedule has none', async () => {
  await using sandbox = await open();
  const { id } = await schedule(sandbox, {
    durationMinutes: 60,
    visibleDaysAhead: 2,
    expiresAt: '2026-01-06T12:00:00Z',
  });
  const all = await slotsOf(sandbox, id, 'from=2020-01-01&to=2030-01-01');
  expect([all[0]?.startAt, all.at(-1)?.startAt]).toEqual(['2026-01-05T10:00:00.000Z', '2026-01-07T16:00:00.000Z']);
  await sandbox.control.act('advanceClock', { ms: 2 * 3_600_000 });
  expect((await slotsOf(sandbox, id, 'from=2020-01-01&to=2030-01-01'))[0]?.startAt).toBe('2026-01-05T12:00:00.000Z');
  await sandbox.control.act('advanceClock', { ms: 25 * 3_600_000 });
  expect(await slotsOf(sandbox, id, 'from=2026-01-07&to=2026-01-08')).toEqual([]);
  const entity = { entityType: 'JOB_CANDIDATE', entityId: sandbox.people[0] };
  const link = await sandbox.api('POST', `/booking-schedules/${id}/links`, entity);
  expect([link.status, link.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  expect(await booker(sandbox, id)(sandbox.people[0]!, '2026-01-07T12:00:00Z')).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
  });
});

test.each(['', 'from=2026-01-06', 'to=2026-01-06', 'from=today&to=2026-01-07', 'from=2026-01-07&to=2026-01-07'])(
  'slots asked for with "%s" are 400',
  async (query) => {
    await using sandbox = await open();
    const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
    const { status, body } = await sandbox.api('GET', `/booking-schedules/${id}/slots?${query}`);
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  },
);

test('an unlimited slot says 999999 and is never full; one of two fills and disappears', async () => {
  await using sandbox = await open();
  const hours = { from: '09:00', to: '10:00' };
  const two = (await schedule(sandbox, { durationMinutes: 60, availability: { ...hours, capacity: 2 } })).id;
  const [slot] = await slotsOf(sandbox, two);
  const book = booker(sandbox, two);
  expect(slot?.remainingCapacity).toBe(2);
  expect((await book(sandbox.people[0]!, slot?.startAt)).status).toBe(200);
  expect((await slotsOf(sandbox, two))[0]?.remainingCapacity).toBe(1);
  expect((await book(sandbox.people[1]!, slot?.startAt)).status).toBe(200);
  expect(await slotsOf(sandbox, two)).toEqual([]);
  expect(await book(sandbox.people[2]!, slot?.startAt)).toMatchObject({ status: 409, code: 'SLOT_UNAVAILABLE' });
  const endless = (await schedule(sandbox, { durationMinutes: 60, availability: { ...hours, capacity: null } })).id;
  await booker(sandbox, endless)(sandbox.people[0]!, slot?.startAt);
  expect((await slotsOf(sandbox, endless))[0]?.remainingCapacity).toBe(999_999);
});

test('a time that is no free slot, and a second booking of a person, are 409 SLOT_UNAVAILABLE', async () => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  const book = booker(sandbox, id);
  for (const at of ['2026-01-06T09:10:00Z', '2026-01-04T09:00:00Z', '2026-06-01T09:00:00Z', '2026-01-10T09:00:00Z'])
    expect([at, (await book(sandbox.people[0]!, at)).code]).toEqual([at, 'SLOT_UNAVAILABLE']);
  expect((await book(sandbox.people[0]!, '2026-01-06T09:00:00Z')).status).toBe(200);
  expect((await book(sandbox.people[0]!, '2026-01-06T09:30:00Z')).code).toBe('SLOT_UNAVAILABLE');
});

test('an all-day event is one slot a day', async () => {
  await using sandbox = await open();
  const { id, locationIds } = await schedule(sandbox, {
    scheduleProfile: 'EVENT',
    isAllDayEvent: true,
    timezone: 'America/New_York',
    availability: { capacity: null },
  });
  const [slot] = await slotsOf(sandbox, id);
  expect([slot?.startAt, slot?.endAt]).toEqual(['2026-01-06T05:00:00.000Z', '2026-01-07T05:00:00.000Z']);
  const place = { selectedLocationId: locationIds[0] };
  expect((await booker(sandbox, id)(sandbox.people[0]!, slot?.startAt, place)).status).toBe(200);
});
