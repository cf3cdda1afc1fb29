/** What is done to booking schedules and their links, in the sandbox and in the model. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  activeLink,
  type Bookings,
  begin,
  compare,
  HOUR,
  isOver,
  keep,
  scheduleId,
  slotsOf,
  strangerId,
  there,
} from './booking-links-model.ts';
import { accepted, chosen, type Family, pick, refusedAs, type Step, step } from './model-run.ts';

const createLink = step(
  'create link',
  fc.record({
    schedule: pick,
    person: pick,
    asNumber: fc.nat(9),
    type: fc.nat(9),
    hours: fc.constantFrom(undefined, undefined, 1, 1, 1, 30, 0, 8_761),
  }),
  (model: Bookings, company, drawn) => {
    const schedule = there(model, drawn.schedule);
    const person = chosen(model.people, drawn.person);
    const entityId = person?.id ?? strangerId(model, drawn.person);
    const answer = company.api('POST', `/booking-schedules/${scheduleId(model, drawn.schedule)}/links`, {
      entityType: drawn.type === 0 ? 'NOVA_CANDIDATE' : 'JOB_CANDIDATE',
      entityId: drawn.asNumber === 0 ? Number(entityId) : entityId,
      expiresInHours: drawn.hours,
    });
    const broken = [
      ...(schedule === undefined || person === undefined || drawn.type === 0 ? ['NOT_FOUND'] : []),
      ...(drawn.asNumber === 0 || drawn.hours === 0 || drawn.hours === 8_761 ? ['INVALID_REQUEST'] : []),
      ...(schedule !== undefined && (schedule.event || isOver(schedule, company.now())) ? ['INVALID_REQUEST'] : []),
    ];
    if (schedule === undefined || person === undefined || broken.length > 0)
      return refusedAs(answer, broken, 'the link');
    const data = accepted(answer, 200, 'a link');
    assert.deepEqual([data.entityType, data.entityId, data.email], ['JOB_CANDIDATE', person.id, person.email]);
    const active = activeLink(model, schedule.id, person.id);
    if (active !== undefined && !isOver(active, company.now())) {
      assert.deepEqual([data.id, data.status], [active.id, 'ACTIVE'], 'the existing active link, not a duplicate');
      return;
    }
    assert.ok(!model.links.some(({ id }) => id === data.id), 'a new link');
    if (active !== undefined) active.status = 'REPLACED';
    const expiresAt = drawn.hours === undefined ? schedule.expiresAt : company.now() + drawn.hours * HOUR;
    model.links.push({ id: data.id, scheduleId: schedule.id, entityId: person.id, status: 'ACTIVE', expiresAt });
  },
);

const book = step(
  'book',
  fc.record({ schedule: pick, person: pick, slot: fc.nat(9), taken: fc.nat(5), format: fc.nat(5) }),
  (model: Bookings, company, drawn) => {
    const schedule = there(model, drawn.schedule);
    const person = chosen(model.people, drawn.person);
    const entityId = person?.id ?? strangerId(model, drawn.person);
    const own = model.bookings.filter((one) => one.scheduleId === schedule?.id);
    const free = schedule === undefined ? [] : slotsOf(company, schedule);
    const takenAt = drawn.taken === 0 ? own.at(-1)?.startAt : undefined;
    const startAt = takenAt ?? free[drawn.slot % Math.max(1, free.length)] ?? '2030-01-01T10:00:00.000Z';
    const format = drawn.format === 0 ? undefined : 'ONLINE';
    const answer = company.api('POST', `/booking-schedules/${scheduleId(model, drawn.schedule)}/bookings`, {
      entityType: 'JOB_CANDIDATE',
      entityId,
      scheduledStartAt: startAt,
      ...((schedule?.both ?? false) && format !== undefined ? { selectedFormat: format } : {}),
      ...(schedule?.locationId === undefined ? {} : { selectedLocationId: schedule.locationId }),
    });
    const again = own.some((one) => one.entityId === entityId);
    const broken = [
      ...(schedule === undefined || person === undefined ? ['NOT_FOUND'] : []),
      ...(schedule !== undefined && (isOver(schedule, company.now()) || (schedule.both && format === undefined))
        ? ['INVALID_REQUEST']
        : []),
      ...(!free.includes(startAt) || again ? ['SLOT_UNAVAILABLE'] : []),
    ];
    if (schedule === undefined || person === undefined || broken.length > 0)
      return refusedAs(answer, broken, 'the booking');
    keep(model, company, schedule, person.id, startAt, accepted(answer, 200, 'a booking'));
  },
);

const bookThroughLink = step(
  'book through the link',
  fc.record({ link: fc.nat(9), slot: fc.nat(9) }),
  (model: Bookings, company, drawn) => {
    const link = model.links[drawn.link % Math.max(1, model.links.length)];
    const schedule = model.schedules.find(({ id }) => id === link?.scheduleId);
    if (link === undefined || schedule === undefined) return;
    const free = schedule.deleted ? [] : slotsOf(company, schedule);
    const startAt = free[drawn.slot % Math.max(1, free.length)] ?? '2030-01-01T10:00:00.000Z';
    const format = schedule.both ? { selectedFormat: 'ONSITE' } : {};
    const done = company.act('bookThroughLink', { bookingLinkId: link.id, scheduledStartAt: startAt, ...format });
    const open =
      link.status === 'ACTIVE' && !isOver(link, company.now()) && !schedule.deleted && !isOver(schedule, company.now());
    const again = model.bookings.some((one) => one.scheduleId === schedule.id && one.entityId === link.entityId);
    if (!open || again || free.length === 0) {
      assert.ok(done.refused !== undefined, 'a link that is not open, or without a free slot, books nothing');
      return;
    }
    keep(model, company, schedule, link.entityId, startAt, done);
    assert.equal(link.status, 'LOCKED');
  },
);

const cancel = step('cancel booking', fc.record({ booking: fc.nat(9) }), (model: Bookings, company, drawn) => {
  const booking = model.bookings[drawn.booking % Math.max(1, model.bookings.length)];
  if (booking === undefined) return;
  company.act('cancelBooking', { bookingId: booking.id });
  // Its slot is free again; its link stays LOCKED, which `compare` sees.
  model.bookings = model.bookings.filter((one) => one !== booking);
});

const revoke = step('revoke', fc.record({ link: fc.nat(9) }), (model: Bookings, company, drawn) => {
  const link = model.links[drawn.link % Math.max(1, model.links.length)];
  if (link === undefined) return;
  const done = company.act('revokeBookingLink', { bookingLinkId: link.id });
  if (link.status === 'ACTIVE') link.status = 'REVOKED';
  else assert.ok(done.refused !== undefined, `a link that is ${link.status} stays so`);
});

const wait = step('wait hours', fc.constantFrom(1, 5, 26), (_model: Bookings, company, hours) =>
  company.advance(hours * HOUR),
);

const deleteSchedule = step(
  'delete schedule',
  fc.record({ schedule: fc.nat(20) }),
  (model: Bookings, company, drawn) => {
    // Seldom, or nothing is left to do.
    const schedule = drawn.schedule === 0 ? model.schedules.find((one) => !one.deleted) : undefined;
    if (schedule === undefined) return;
    company.act('deleteBookingSchedule', { bookingScheduleId: schedule.id });
    schedule.deleted = true;
    for (const link of model.links)
      if (link.scheduleId === schedule.id && link.status === 'ACTIVE') link.status = 'REVOKED';
  },
);

export const bookingLinks: Family<Bookings> = {
  name: 'booking links',
  begin,
  steps: [
    createLink,
    createLink,
    createLink,
    book,
    bookThroughLink,
    cancel,
    revoke,
    wait,
    wait,
    deleteSchedule,
  ] as Array<fc.Arbitrary<Step<Bookings>>>,
  compare,
};
