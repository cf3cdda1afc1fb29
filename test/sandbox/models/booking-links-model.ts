/** Sections 2.8, 3 and 4.8: links to schedules, the slots that bookings take, and what becomes of a link. */
import assert from 'node:assert/strict';
import type { Company, Json } from './in-memory-sandbox.ts';
import { accepted, chosen, type Pick } from './model-run.ts';

interface Schedule {
  id: string;
  event: boolean;
  /** ONLINE and ONSITE: a booking names the format. */
  both: boolean;
  expiresAt: number | null;
  locationId: number | undefined;
  deleted: boolean;
}

interface Link {
  id: string;
  scheduleId: string;
  entityId: string;
  status: string;
  expiresAt: number | null;
}

interface Booking {
  id: string;
  scheduleId: string;
  entityId: string;
  startAt: string;
  linkId: string | null;
}

export interface Bookings {
  schedules: Schedule[];
  /** Job candidate to e-mail. */
  people: Array<{ id: string; email: string }>;
  links: Link[];
  bookings: Booking[];
  foreign: { scheduleId: string; jobCandidateId: string };
}

export const HOUR = 3_600_000;

const NOBODY = '6c7b8a90-0000-4000-8000-000000000000';

/** Every slot is for one. */
const availability = { days: [1, 2, 3, 4, 5, 6, 7], from: '09:00', to: '12:00', capacity: 1 };

/**
 * An ACTIVE link of the same person and schedule is locked and named (B3); whether one that has expired is, is not
 * described.
 */
export function keep(
  model: Bookings,
  company: Company,
  schedule: Schedule,
  entityId: string,
  startAt: string,
  made: Json,
): void {
  const active = activeLink(model, schedule.id, entityId);
  const right = active === undefined ? [null] : isOver(active, company.now()) ? [active.id, null] : [active.id];
  assert.ok(right.includes(made.bookingLinkId), `the booking names ${made.bookingLinkId}`);
  assert.equal(made.scheduledStartAt, startAt);
  if (active !== undefined && made.bookingLinkId === active.id) active.status = 'LOCKED';
  model.bookings.push({ id: made.id, scheduleId: schedule.id, entityId, startAt, linkId: made.bookingLinkId });
}

export function slotsOf(company: Company, { id }: Schedule): string[] {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const path = `/booking-schedules/${id}/slots?from=${day(company.now())}&to=${day(company.now() + 4 * 24 * HOUR)}`;
  const slots = accepted(company.api('GET', path), 200, 'slots') as Array<{
    startAt: string;
    remainingCapacity: number;
  }>;
  assert.ok(slots.every(({ remainingCapacity }) => remainingCapacity > 0));
  return slots.map(({ startAt }) => startAt);
}

export function isOver({ expiresAt }: { expiresAt: number | null }, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

export function activeLink({ links }: Bookings, scheduleIdOf: string, entityId: string): Link | undefined {
  return links.find((one) => one.scheduleId === scheduleIdOf && one.entityId === entityId && one.status === 'ACTIVE');
}

export function there(model: Bookings, which: Pick): Schedule | undefined {
  const schedule = chosen(model.schedules, which);
  return schedule?.deleted === false ? schedule : undefined;
}

export function scheduleId(model: Bookings, which: Pick): string {
  return chosen(model.schedules, which)?.id ?? (which.kind === 'foreign' ? model.foreign.scheduleId : NOBODY);
}

export function strangerId(model: Bookings, which: Pick): string {
  return which.kind === 'foreign' ? model.foreign.jobCandidateId : '987654';
}

export function person(company: Company, jobId: number, email: string): { id: string; email: string } {
  return { id: String(company.api('POST', '/candidates', { email, jobId }).body.data.jobCandidateId), email };
}

function newJob(company: Company): number {
  return company.api('POST', '/jobs', { title: 'Porter', city: 'Oslo', state: '', country: 'Norway' }).body.id;
}

export function begin(company: Company, foreign: Company): Bookings {
  const soon = company.now() + 20 * HOUR;
  const kinds = [
    { bookingMode: 'ONLINE', scheduleProfile: 'INTERVIEW' },
    { bookingMode: 'BOTH', scheduleProfile: 'INTERVIEW', expiresAt: new Date(soon).toISOString() },
    { bookingMode: 'ONSITE', scheduleProfile: 'EVENT' },
  ];
  const schedules = kinds.map((kind) => {
    const made = company.act('createBookingSchedule', {
      durationMinutes: 60,
      timezone: 'UTC',
      availability,
      ...kind,
    });
    return {
      id: made.id,
      event: kind.scheduleProfile === 'EVENT',
      both: kind.bookingMode === 'BOTH',
      expiresAt: kind.expiresAt === undefined ? null : soon,
      locationId: made.locationIds[0],
      deleted: false,
    };
  });
  const jobId = newJob(company);
  const [theirs] = foreign.api('GET', '/booking-schedules').body.data;
  return {
    schedules,
    people: ['ada@example.org', 'bo@example.org'].map((email) => person(company, jobId, email)),
    links: [],
    bookings: [],
    foreign: { scheduleId: theirs.id, jobCandidateId: person(foreign, newJob(foreign), 'x@example.org').id },
  };
}

export function compare(model: Bookings, company: Company): void {
  for (const { id, deleted } of model.schedules) {
    assert.equal(company.api('GET', `/booking-schedules/${id}`).code, deleted ? 'NOT_FOUND' : undefined);
    if (deleted) continue;
    const { links } = company.act('listBookingLinks', { bookingScheduleId: id });
    assert.deepEqual(
      links.map((one: Json) => [
        one.id,
        one.entityId,
        one.status,
        one.expiresAt === null ? null : Date.parse(one.expiresAt),
      ]),
      model.links
        .filter((one) => one.scheduleId === id)
        .map((one) => [one.id, one.entityId, one.status, one.expiresAt]),
    );
  }
  const shown = company
    .api('GET', '/bookings')
    .body.data.map((one: Json) => [one.id, one.bookingLinkId, one.scheduledStartAt]);
  assert.deepEqual(shown.toSorted(), model.bookings.map((one) => [one.id, one.linkId, one.startAt]).toSorted());
}
