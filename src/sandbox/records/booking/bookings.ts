import type { BookingInput } from '../../../partner/contract/booking-schedule.ts';
import type { Context } from '../../context.ts';
import { effect, iso } from '../../context.ts';
import { invalidRequest, notFound, refuse } from '../../errors.ts';
import { stableUuid } from '../../random.ts';
import { checkAnswers } from './booking-answers.ts';
import type { Entity } from './booking-entities.ts';
import { activeLink, isOpen, refuseExpired, setLinkStatus } from './booking-links.ts';
import type { Schedule } from './booking-schedules.ts';
import { findSchedule } from './booking-schedules.ts';
import { freeSlotAt, type Slot } from './booking-slots.ts';

export type BookingOrder = Entity & Omit<BookingInput, keyof Entity>;

/** How it ended; not shown (BOOKING, assumed). */
type Attendance = 'CHECKED_IN' | 'NO_SHOW';

export interface Booking {
  id: string;
  scheduleId: string;
  linkId: string | null;
  entityType: string;
  entityId: string;
  startAt: number;
  endAt: number;
  format: string | null;
  locationId: number | null;
  /** JSON text. */
  answers: string;
  attendance: Attendance | null;
  createdAt: number;
}

const BOOKING = `select id, schedule_id as scheduleId, link_id as linkId, entity_type as entityType,
  entity_id as entityId,
  start_at as startAt, end_at as endAt, format, location_id as locationId, answers, attendance,
  created_at as createdAt from bookings`;

/**
 * Books a slot for someone who exists. Needs no link; an open one of the same person and schedule is locked by it (B3,
 * assumed). A taken slot, and a second booking of the same person in the schedule, is 409 SLOT_UNAVAILABLE (B4,
 * assumed).
 */
export function book(ctx: Context, schedule: Schedule, order: BookingOrder): Booking {
  refuseExpired(ctx, schedule);
  checkChoices(schedule, order);
  if (bookingOf(ctx, schedule.id, order) !== undefined)
    throw refuse('SLOT_UNAVAILABLE', 'This person holds a booking in the schedule already');
  const slot = freeSlotAt(ctx, schedule, Date.parse(order.scheduledStartAt));
  if (slot === undefined) throw refuse('SLOT_UNAVAILABLE', 'The slot is no longer available');
  const link = activeLink(ctx, schedule.id, order);
  const open = link !== undefined && isOpen(ctx, link) ? setLinkStatus(ctx, link, 'LOCKED') : undefined;
  return insert(ctx, schedule, order, slot, open?.id ?? null);
}

/** Format for BOTH schedules only (B5, assumed); location and required answers for EVENT ones. */
function checkChoices(schedule: Schedule, order: BookingOrder): void {
  const { selectedFormat, selectedLocationId, bookingAnswers = {} } = order;
  if (schedule.bookingMode === 'BOTH' && selectedFormat === undefined)
    throw invalidRequest('A BOTH schedule asks for a format', { selectedFormat: 'is required' });
  if (schedule.bookingMode !== 'BOTH' && selectedFormat !== undefined)
    throw invalidRequest(`The schedule is ${schedule.bookingMode}`, { selectedFormat: 'must be left out' });
  if (schedule.scheduleProfile === 'EVENT' && selectedLocationId === undefined)
    throw invalidRequest('An EVENT schedule asks for a location', { selectedLocationId: 'is required' });
  if (selectedLocationId !== undefined && schedule.locations.every(({ id }) => id !== selectedLocationId))
    throw invalidRequest('The schedule has no such location', { selectedLocationId: 'unknown' });
  checkAnswers(schedule.questions, bookingAnswers);
}

function insert(ctx: Context, schedule: Schedule, order: BookingOrder, slot: Slot, linkId: string | null): Booking {
  const { state, company, now } = ctx;
  const seq = state.nextId('booking');
  const id = stableUuid(state.seed, 'booking', seq);
  state.run(
    `insert into bookings (id, company_id, seq, schedule_id, link_id, entity_type, entity_id, start_at, end_at,
      format, location_id, answers, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    schedule.id,
    linkId,
    order.entityType,
    order.entityId,
    slot.start,
    slot.end,
    order.selectedFormat ?? null,
    order.selectedLocationId ?? null,
    JSON.stringify(order.bookingAnswers ?? {}),
    now,
  );
  effect(ctx, 'booking', id, { linkId });
  return findBooking(ctx, id);
}

function bookingOf(ctx: Context, scheduleId: string, entity: Entity): Booking | undefined {
  return ctx.state.one<Booking>(
    `${BOOKING} where schedule_id = ? and cancelled = 0 and entity_type = ? and entity_id = ?`,
    scheduleId,
    entity.entityType,
    entity.entityId,
  );
}

function findBooking(ctx: Context, id: string): Booking {
  const found = ctx.state.one<Booking>(
    `${BOOKING} where id = ? and company_id = ? and cancelled = 0`,
    id,
    ctx.company.id,
  );
  if (found === undefined) throw notFound('Booking');
  return found;
}

/** A cancelled booking frees its slot and is listed no longer (BOOKING, assumed); its link stays LOCKED (B18). */
export function cancelBooking(ctx: Context, id: string): Booking {
  const booking = findBooking(ctx, id);
  ctx.state.run('update bookings set cancelled = 1 where id = ?', id);
  effect(ctx, 'booking-cancelled', id);
  return booking;
}

/**
 * Moves a booking to another free slot. A candidate may only where the schedule allows it, and until its cutoff; a
 * recruiter always. Whoever has come or has failed to come is not moved any more.
 */
export function rescheduleBooking(ctx: Context, id: string, startAt: number, by: 'candidate' | 'recruiter'): Booking {
  const booking = findBooking(ctx, id);
  const schedule = findSchedule(ctx, booking.scheduleId);
  if (booking.attendance !== null)
    throw invalidRequest('The appointment is over', { bookingId: `is ${booking.attendance}` });
  if (by === 'candidate') refuseCandidate(ctx, schedule, booking);
  const slot = freeSlotAt(ctx, schedule, startAt);
  if (slot === undefined) throw refuse('SLOT_UNAVAILABLE', 'The slot is not available');
  ctx.state.run('update bookings set start_at = ?, end_at = ? where id = ?', slot.start, slot.end, id);
  effect(ctx, 'booking-rescheduled', id, { from: iso(booking.startAt), to: iso(slot.start) });
  return findBooking(ctx, id);
}

const HOUR_MS = 3_600_000;

function refuseCandidate(ctx: Context, schedule: Schedule, booking: Booking): void {
  if (schedule.allowCandidateReschedule === false)
    throw invalidRequest('The schedule lets no candidate reschedule', { by: 'must be recruiter' });
  const hours = schedule.rescheduleCutoffHours ?? 0;
  if (booking.startAt - ctx.now < hours * HOUR_MS)
    throw invalidRequest(`Candidates reschedule at least ${String(hours)} hours before`, { by: 'must be recruiter' });
}

/** Whether the person came; the last word counts, so that a mistake can be put right. */
export function setAttendance(ctx: Context, id: string, attendance: Attendance): Booking {
  findBooking(ctx, id);
  ctx.state.run('update bookings set attendance = ? where id = ?', attendance, id);
  effect(ctx, 'booking-attendance', id, { attendance });
  return findBooking(ctx, id);
}

export function listBookings(ctx: Context, entityType: string | null, linkId: string | null): Booking[] {
  return ctx.state.all<Booking>(
    `${BOOKING} where company_id = ? and cancelled = 0 and (? is null or entity_type = ?)
       and (? is null or link_id = ?) order by seq`,
    ctx.company.id,
    entityType,
    entityType,
    linkId,
    linkId,
  );
}

/** Fields beyond section 2.8 are not shown (BOOKING, assumed). */
export function renderBooking(booking: Booking): Record<string, unknown> {
  return {
    id: booking.id,
    bookingScheduleId: booking.scheduleId,
    bookingLinkId: booking.linkId,
    entityType: booking.entityType,
    entityId: booking.entityId,
    scheduledStartAt: iso(booking.startAt),
    scheduledEndAt: iso(booking.endAt),
    selectedFormat: booking.format,
    selectedLocationId: booking.locationId,
    bookingAnswers: JSON.parse(booking.answers) as unknown,
    attendance: booking.attendance,
    createdAt: iso(booking.createdAt),
  };
}
