import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { createSecretPages } from '../../src/receiver/secret-pages.ts';
import { makeFeed, revokeFeed } from '../../src/store/calendars.ts';
import { markPerson } from '../../src/store/person-marks.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { openPushWorld } from '../activities/push-world.ts';

/** Bookings of a real partner, kept by the stream, and the pages over a socket. */
async function calendarWorld() {
  const world = await openPushWorld('calendar', { candidates: 40 }, async () => ({}));
  const { sandbox, store, once } = world;
  await readTenantState(store, 'acme');
  const server = createServer((request, response) => {
    if (!pages(request, response)) response.writeHead(418).end();
  });
  const pages = createSecretPages(() => store);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const made = await sandbox.control.act('createBookingSchedule', { name: 'Second talk', timezone: 'Asia/Kolkata' });
  const bookingScheduleId = String(made.id);
  const { now } = await sandbox.control.health();
  const day = (n: number) => new Date(now + n * 86_400_000).toISOString().slice(0, 10);
  const params = { bookingScheduleId };
  const slots = await sandbox.partner.readAll(contract.bookingSchedules.listSlots, {
    params,
    query: { from: day(1), to: day(15) },
  });
  let runs = 0;
  return {
    ...world,
    bookingScheduleId,
    slots: slots.items.map(({ startAt }) => new Date(String(startAt)).toISOString()),
    pass: () => once(`run-${(runs += 1)}`),
    feed: (schedules: string[] = []) => makeFeed(store, { tenantId: 'acme', schedules, by: 'ada' }),
    get: (token: string, method = 'GET') => fetch(`http://127.0.0.1:${port}/calendars/${token}.ics`, { method }),
  };
}

/** The events of a calendar, each property by its name; folded lines are one (RFC 5545, 3.1). */
function eventsIn(text: string): Record<string, string>[] {
  expect(text).toMatch(/^BEGIN:VCALENDAR\r\n[^]*\r\nEND:VCALENDAR$/);
  const [, ...blocks] = text.replaceAll('\r\n ', '').split('BEGIN:VEVENT\r\n');
  return blocks.map((block) => {
    const [lines = ''] = block.split('\r\nEND:VEVENT');
    return Object.fromEntries(
      lines.split('\r\n').map((line) => /^([A-Z-]+)[^:]*:(.*)$/.exec(line)?.slice(1) ?? ['', '']),
    );
  });
}

const stamp = (instant: string): string => instant.replaceAll(/[-:]|\.\d+/g, '');

test('a booking stands in the calendar, and follows: moved, not come, cancelled', async () => {
  const { sandbox, slots, bookingScheduleId, pass, feed, get } = await calendarWorld();
  const [one = '', other = ''] = slots;
  const booked = await sandbox.control.act('book', { bookingScheduleId, entityId: '7', scheduledStartAt: one });
  const bookingId = String((booked as { id: unknown }).id);
  const { token } = await feed([bookingScheduleId]);
  const shown = async () => eventsIn(await (await get(token)).text())[0] ?? {};
  expect(await pass()).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  const first = await shown();
  expect(first).toMatchObject({
    DTSTART: stamp(one),
    SEQUENCE: '0',
    STATUS: 'CONFIRMED',
    SUMMARY: 'Second talk',
    UID: `${bookingId}@acme.hirebridge`,
  });
  // Half an hour before the whole hour there: the zone of the schedule, not ours.
  expect(first['DESCRIPTION']).toMatch(/Record 7\\n\d{4}-\d\d-\d\d \d\d:\d\d in Asia\/Kolkata/);
  expect(await pass()).toMatchObject({ counts: { created: 0, updated: 0 } });
  expect(await shown()).toEqual(first);

  await sandbox.control.act('rescheduleBooking', { bookingId, scheduledStartAt: other });
  await pass();
  expect(await shown()).toMatchObject({ DTSTART: stamp(other), SEQUENCE: '1', STATUS: 'CONFIRMED', UID: first['UID'] });
  await sandbox.control.act('markNoShow', { bookingId });
  await pass();
  expect(await shown()).toMatchObject({ SEQUENCE: '2', SUMMARY: 'Second talk (no-show)' });
  await sandbox.control.act('cancelBooking', { bookingId });
  await pass();
  expect(await shown()).toMatchObject({ SEQUENCE: '2', STATUS: 'CONFIRMED' });
  await pass();
  expect(await shown()).toMatchObject({ SEQUENCE: '3', STATUS: 'CANCELLED' });
});

test('a booking without an id and without a link is in the calendar too', async () => {
  const { sandbox, slots, bookingScheduleId, partnerSays, pass, feed, get } = await calendarWorld();
  await sandbox.control.act('book', { bookingScheduleId, entityId: '7', scheduledStartAt: slots[0] ?? '' });
  partnerSays.change = (name, answer) => {
    if (name !== 'bookings.list') return;
    const { data } = (answer as { body: { data: Record<string, unknown>[] } }).body;
    for (const one of data) Object.assign(one, { id: undefined, bookingLinkId: null });
  };
  expect(await pass()).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  const { token } = await feed([bookingScheduleId]);
  expect(eventsIn(await (await get(token)).text())).toMatchObject([{ DTSTART: stamp(slots[0] ?? '') }]);
});

test('an address shows its schedules alone, no name, and nothing once it is revoked; nobody guesses one', async () => {
  const { sandbox, store, slots, bookingScheduleId, pass, feed, get } = await calendarWorld();
  const { items } = await sandbox.partner.readAll(contract.jobCandidates.listByStageType, {
    query: { stageType: 'APPLIED' },
  });
  const [person] = items;
  const entityId = String(person?.jobCandidateDetails.id);
  const link = await sandbox.control.act('sendBookingLink', { bookingScheduleId, jobCandidateId: Number(entityId) });
  await sandbox.control.act('bookThroughLink', { bookingLinkId: String(link['id']), scheduledStartAt: slots[0] ?? '' });
  await pass();
  const [whole, ofOther] = [await feed([bookingScheduleId]), await feed(['another'])];
  const answer = await get(whole.token);
  expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
  const text = await answer.text();
  expect(eventsIn(text)).toMatchObject([{ DESCRIPTION: expect.stringContaining(`Application ${entityId}`) }]);
  const { firstName = '', lastName = '', email = '' } = (person?.candidate_details ?? {}) as Record<string, string>;
  for (const word of [firstName, lastName, email]) expect(text).not.toContain(word);
  expect(eventsIn(await (await get(ofOther.token)).text())).toEqual([]);

  expect((await get(whole.token, 'POST')).status).toBe(405);
  expect(await (await get(whole.token, 'HEAD')).text()).toBe('');
  const guess = await get('a'.repeat(43));
  expect(await revokeFeed(store, { tenantId: 'acme', feedId: whole.feedId, by: 'ada' })).toBe(true);
  const revoked = await get(whole.token);
  expect([revoked.status, await revoked.text()]).toEqual([guess.status, await guess.text()]);
  expect(guess.status).toBe(404);
  expect(await revokeFeed(store, { tenantId: 'acme', feedId: whole.feedId, by: 'ada' })).toBe(false);
  expect(JSON.stringify(await store.kysely.selectFrom('calendar_feeds').selectAll().execute())).not.toContain(
    whole.token,
  );
  const statuses = [];
  for (let n = 0; n < 40; n += 1) statuses.push((await get(ofOther.token)).status);
  expect(statuses.at(-1)).toBe(429);
  const guesses = [];
  for (let n = 0; n < 320; n += 1) guesses.push((await get(String(n).padEnd(43, 'b'))).status);
  expect(guesses.at(-1)).toBe(429);
  const another = await feed(['another']);
  expect((await get(another.token)).status, 'guesses keep out nobody who knows an address').toBe(200);

  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'job-candidate', id: entityId },
  ]);
  await store.kysely.deleteFrom('calendar_events').execute();
  await pass();
  const left = await store.kysely.selectFrom('calendar_events').select('entity_id').execute();
  expect(left.length).toBeGreaterThan(0);
  expect(left.map((row) => row.entity_id)).not.toContain(entityId);
});
