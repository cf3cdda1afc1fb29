import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { booker, DAY, open, otherKey, schedule, slotsOf } from './open-booking.ts';
import type { Json } from './open-sandbox.ts';

test('a fresh company has a schedule of each profile; lists filter by profile and mode', async () => {
  await using sandbox = await open();
  const { items } = await sandbox.partner.readAll(contract.bookingSchedules.list);
  expect(items).toMatchObject([
    { name: 'First interview', scheduleProfile: 'INTERVIEW', bookingMode: 'ONLINE', expiresAt: null },
    { name: 'Open day', scheduleProfile: 'EVENT', bookingMode: 'BOTH', companySiteId: null, description: null },
  ]);
  const got = await sandbox.partner.bookingSchedules.get({ params: { bookingScheduleId: items[0]!.id } });
  expect(got.data).toEqual(items[0]);
  expect(Object.keys(got.data).toSorted()).toEqual(
    [
      'id',
      'name',
      'description',
      'durationMinutes',
      'timezone',
      'bookingMode',
      'scheduleProfile',
      'companySiteId',
      'visibleDaysAhead',
      'expiresAt',
      'allowCandidateReschedule',
      'rescheduleCutoffHours',
      'isAllDayEvent',
    ].toSorted(),
  );
  const names = async (query: string) =>
    (await sandbox.api('GET', `/booking-schedules?${query}`)).body.data?.map((one: Json) => one.name);
  expect(await names('scheduleProfile=EVENT')).toEqual(['Open day']);
  expect(await names('bookingMode=ONLINE')).toEqual(['First interview']);
  expect(await names('bookingMode=ONSITE')).toEqual([]);
  for (const query of ['scheduleProfile=PARTY', 'bookingMode=online'])
    expect((await sandbox.api('GET', `/booking-schedules?${query}`)).body.error.code).toBe('INVALID_REQUEST');
  await sandbox.control.act('deleteBookingSchedule', { bookingScheduleId: items[0]!.id });
  expect(await names('')).toEqual(['Open day']);
  expect((await sandbox.api('GET', `/booking-schedules/${items[0]!.id}`)).status).toBe(404);
});

test("an unknown schedule and another company's are 404 on every path", async () => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  for (const key of [otherKey, sandbox.key]) {
    const known = key === otherKey ? id : 'none';
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/slots?${DAY}`],
      ['GET', '/locations'],
      ['GET', '/questions'],
      ['POST', '/links'],
      ['POST', '/bookings'],
    ] as const) {
      const body = method === 'POST' ? {} : undefined;
      const answered = await sandbox.api(method, `/booking-schedules/${known}${path}`, body, { key });
      expect([path, answered.status, answered.body.error.code]).toEqual([path, 404, 'NOT_FOUND']);
    }
  }
});

test('two who book the last seat at once: one has it, one is told', async () => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  const book = booker(sandbox, id);
  const outcomes = await Promise.all(sandbox.people.map((person) => book(person, '2026-01-06T10:00:00+00:00')));
  expect(outcomes.map((one) => one.status).toSorted()).toEqual([200, 409, 409]);
});

test('a link snapshots the person, comes back while it is active, and is REPLACED once expired', async () => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  const [entityId = ''] = sandbox.people;
  const ask = async (body: object = {}) =>
    (
      await sandbox.partner.bookingSchedules.createLink({
        params: { bookingScheduleId: id },
        body: { entityType: 'JOB_CANDIDATE', entityId, ...body },
      })
    ).data;
  const first = await ask({ expiresInHours: 2 });
  const { firstName, lastName, email, phone } = sandbox.records[0].candidate_details;
  expect(first).toMatchObject({
    status: 'ACTIVE',
    entityType: 'JOB_CANDIDATE',
    entityId,
    firstName,
    lastName,
    email,
    phone,
    createdAt: '2026-01-05T09:00:00.000Z',
    expiresAt: '2026-01-05T11:00:00.000Z',
  });
  expect(first.url).toContain(first.token);
  expect(await ask({ expiresInHours: 50 })).toEqual(first);
  await sandbox.control.act('advanceClock', { ms: 2 * 3_600_000 });
  const second = await ask();
  expect(second).toMatchObject({ status: 'ACTIVE', expiresAt: null });
  const links = async () =>
    (await sandbox.control.act('listBookingLinks', { bookingScheduleId: id })).links.map((link) => link['status']);
  expect(await links()).toEqual(['REPLACED', 'ACTIVE']);
  await sandbox.control.act('revokeBookingLink', { bookingLinkId: second.id });
  await expect(sandbox.control.act('revokeBookingLink', { bookingLinkId: second.id })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
  const third = await ask();
  expect(await links()).toEqual(['REPLACED', 'REVOKED', 'ACTIVE']);
  await expect(
    sandbox.control.act('bookThroughLink', { bookingLinkId: second.id, scheduledStartAt: '2026-01-06T09:00:00Z' }),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await sandbox.control.act('deleteBookingSchedule', { bookingScheduleId: id });
  expect((await links()).at(-1)).toBe('REVOKED');
  expect(third.id).not.toBe(second.id);
});

test("without expiresInHours a link expires with its schedule's own expiry", async () => {
  await using sandbox = await open();
  const { id } = await schedule(sandbox, { expiresAt: '2026-02-01T00:00:00Z' });
  const entity = { entityType: 'JOB_CANDIDATE', entityId: sandbox.people[0] };
  const { data } = (await sandbox.api('POST', `/booking-schedules/${id}/links`, entity)).body;
  expect(data.expiresAt).toBe('2026-02-01T00:00:00.000Z');
});

test('a booking locks the active link of the person, through the link or through the API', async () => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  const link = async (entityId: string) =>
    (await sandbox.api('POST', `/booking-schedules/${id}/links`, { entityType: 'JOB_CANDIDATE', entityId })).body.data;
  const [one = '', two = '', three = ''] = sandbox.people;
  const [first, second] = [await link(one), await link(two)];
  await sandbox.control.act('bookThroughLink', { bookingLinkId: first.id, scheduledStartAt: '2026-01-06T09:00:00Z' });
  const booked = await sandbox.partner.bookingSchedules.createBooking({
    params: { bookingScheduleId: id },
    body: { entityType: 'JOB_CANDIDATE', entityId: two, scheduledStartAt: '2026-01-06T10:30:00+01:00' },
  });
  expect(booked.data).toMatchObject({
    bookingLinkId: second.id,
    entityType: 'JOB_CANDIDATE',
    entityId: two,
    scheduledStartAt: '2026-01-06T09:30:00.000Z',
    selectedFormat: null,
    selectedLocationId: null,
    bookingAnswers: {},
  });
  expect((await booker(sandbox, id)(three, '2026-01-06T10:00:00Z')).data.bookingLinkId).toBeNull();
  const { links } = await sandbox.control.act('listBookingLinks', { bookingScheduleId: id });
  expect(links.map((each) => each['status'])).toEqual(['LOCKED', 'LOCKED']);
  await sandbox.control.act('cancelBooking', { bookingId: booked.data.id! });
  expect((await slotsOf(sandbox, id)).map((slot) => slot.startAt)).toContain('2026-01-06T09:30:00.000Z');
  const again = await link(two);
  expect([again.status, again.id === second.id]).toEqual(['ACTIVE', false]);
});

test.each([
  ['no entity type', { entityId: '1' }, 400],
  ['an unknown entity type', { entityType: 'CANDIDATE', entityId: '1' }, 400],
  ['a number as entity id', { entityType: 'JOB_CANDIDATE', entityId: 600001 }, 400],
  ['a lifetime of 0 hours', { entityType: 'JOB_CANDIDATE', entityId: '600001', expiresInHours: 0 }, 400],
  ['an unknown job candidate', { entityType: 'JOB_CANDIDATE', entityId: '999' }, 404],
  ['text that is no id', { entityType: 'JOB_CANDIDATE', entityId: 'ada' }, 404],
  ['a campaign lead', { entityType: 'OUTREACH_CAMPAIGN_CANDIDATE', entityId: '7' }, 404],
])('a link or a booking for %s is refused', async (_name, body, status) => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  const link = await sandbox.api('POST', `/booking-schedules/${id}/links`, body);
  const booked = await sandbox.api('POST', `/booking-schedules/${id}/bookings`, {
    scheduledStartAt: '2026-01-06T09:00:00Z',
    ...body,
  });
  const code = status === 404 ? 'NOT_FOUND' : 'INVALID_REQUEST';
  expect([link.status, link.body.error.code]).toEqual([status, code]);
  // The lifetime of a link is an unknown key to a booking.
  if (!('expiresInHours' in body)) expect([booked.status, booked.body.error.code]).toEqual([status, code]);
});

test('bookings are listed by entity type and link, with those of campaign leads among them', async () => {
  await using sandbox = await open();
  const { id } = (await sandbox.api('GET', '/booking-schedules')).body.data[0];
  const entity = { entityType: 'JOB_CANDIDATE' as const, entityId: sandbox.people[0] ?? '' };
  const link = (await sandbox.api('POST', `/booking-schedules/${id}/links`, entity)).body.data;
  const mine = await booker(sandbox, id)(entity.entityId, '2026-01-06T09:00:00Z');
  await sandbox.control.act('book', {
    bookingScheduleId: id,
    entityId: 'lead-7',
    scheduledStartAt: '2026-01-06T10:00:00Z',
  });
  const types = (list: readonly { entityType?: string | null | undefined }[]) => list.map((one) => one.entityType);
  const { items } = await sandbox.partner.readAll(contract.bookings.list);
  expect(types(items)).toEqual(['JOB_CANDIDATE', 'OUTREACH_CAMPAIGN_CANDIDATE']);
  const { data } = (await sandbox.api('GET', `/bookings?bookingLinkId=${link.id}`)).body;
  expect(data).toEqual([mine.data]);
  expect(types((await sandbox.api('GET', '/bookings?entityType=OUTREACH_CAMPAIGN_CANDIDATE')).body.data)).toEqual([
    'OUTREACH_CAMPAIGN_CANDIDATE',
  ]);
  expect((await sandbox.api('GET', '/bookings?bookingLinkId=none')).body.data).toEqual([]);
  expect((await sandbox.api('GET', '/bookings', undefined, { key: otherKey })).body.data).toEqual([]);
  expect((await sandbox.api('GET', '/bookings?entityType=GHOST')).body.error.code).toBe('INVALID_REQUEST');
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toMatchObject({ booking: 2, 'booking-link': 1 });
});
