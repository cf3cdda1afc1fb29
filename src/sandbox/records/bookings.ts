import type { BookingInput, linkStatuses } from '../../partner/contract/booking-schedules.ts';
import { isPhone } from '../../partner/contract/shapes.ts';
import { type Context, effect, invalidRequest, iso, notFound, refuse } from '../context.ts';
import { stableUuid } from '../random.ts';
import {
  type Entity,
  findSchedule,
  freeSlotAt,
  isExpired,
  type Person,
  personOf,
  type Question,
  type Schedule,
  type Slot,
} from './booking-schedules.ts';

type BookingOrder = Entity & Omit<BookingInput, keyof Entity>;

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
 * recruiter always. A booking that was attended or missed cannot be moved.
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

type Answer = string | string[];

/** Section 2.8: every required question answered, each answer in the form of its type. Details by question. */
function checkAnswers(questions: readonly Question[], answers: Record<string, Answer>): void {
  const details: Record<string, string> = {};
  for (const id of Object.keys(answers))
    if (questions.every((question) => question.id !== id)) details[`bookingAnswers.${id}`] = 'unknown question';
  for (const question of questions) {
    const given = Object.hasOwn(answers, question.id) ? answers[question.id] : undefined;
    const wrong = given === undefined || given.length === 0 ? missing(question) : wrongIn(question, given);
    if (wrong !== undefined) details[`bookingAnswers.${question.id}`] = wrong;
  }
  if (Object.keys(details).length > 0) throw invalidRequest('The answers do not fit the questions', details);
}

function missing(question: Question): string | undefined {
  return question.required ? 'is required' : undefined;
}

function wrongIn(question: Question, given: Answer): string | undefined {
  const { type, options = [], maxLength } = question;
  if (Array.isArray(given) !== (type === 'multi_choice'))
    return type === 'multi_choice' ? 'must be an array of strings' : 'must be a string';
  if (type === 'phone' && typeof given === 'string' && !isPhone(given)) return 'must be a phone number';
  if (type.endsWith('_choice') && [given].flat().some((one) => !options.includes(one))) return 'is no option';
  if (maxLength !== undefined && given.length > maxLength) return `must be at most ${String(maxLength)} characters`;
  return typeof given === 'string' && question.required && given.trim() === '' ? 'is required' : undefined;
}

export interface BookingLink {
  id: string;
  scheduleId: string;
  token: string;
  status: (typeof linkStatuses)[number];
  entityType: Entity['entityType'];
  entityId: string;
  /** JSON text of the snapshot. */
  person: string;
  expiresAt: number | null;
  createdAt: number;
}

const LINK = `select id, schedule_id as scheduleId, token, status, entity_type as entityType, entity_id as entityId,
  person,
  expires_at as expiresAt, created_at as createdAt from booking_links`;

/**
 * The active link of this person and schedule, with its expiry as it was (B1, B17, assumed), or a new one; one that has
 * expired is then REPLACED. The person is a snapshot.
 */
export function linkFor(
  ctx: Context,
  schedule: Schedule,
  entity: Entity,
  expiresInHours: number | undefined,
): BookingLink {
  if (schedule.scheduleProfile !== 'INTERVIEW')
    throw invalidRequest('Links are for INTERVIEW schedules only', { bookingScheduleId: 'is an EVENT schedule' });
  const person = personOf(ctx, entity);
  refuseExpired(ctx, schedule);
  const active = activeLink(ctx, schedule.id, entity);
  if (active !== undefined && isOpen(ctx, active)) return active;
  if (active !== undefined) setLinkStatus(ctx, active, 'REPLACED');
  return createLink(ctx, schedule, entity, person, expiresInHours);
}

function createLink(
  ctx: Context,
  schedule: Schedule,
  entity: Entity,
  person: Person,
  expiresInHours: number | undefined,
): BookingLink {
  const { state, company, now } = ctx;
  const seq = state.nextId('booking-link');
  const id = stableUuid(state.seed, 'booking-link', seq);
  state.run(
    `insert into booking_links (id, company_id, schedule_id, token, status, entity_type, entity_id, person,
      expires_at, created_at)
     values (?, ?, ?, ?, 'ACTIVE', ?, ?, ?, ?, ?)`,
    id,
    company.id,
    schedule.id,
    stableUuid(state.seed, 'booking-token', seq).replaceAll('-', ''),
    entity.entityType,
    entity.entityId,
    JSON.stringify(person),
    // B10, assumed.
    expiresInHours === undefined ? schedule.expiresAt : now + expiresInHours * HOUR_MS,
    now,
  );
  effect(ctx, 'booking-link', id);
  return findLink(ctx, id);
}

/** B15, assumed. */
function refuseExpired(ctx: Context, schedule: Schedule): void {
  if (isExpired(ctx, schedule))
    throw invalidRequest('The booking schedule has expired', { bookingScheduleId: 'has expired' });
}

/** The ACTIVE link of a person in a schedule, expired or not. */
function activeLink(ctx: Context, scheduleId: string, entity: Entity): BookingLink | undefined {
  return ctx.state.one<BookingLink>(
    `${LINK} where schedule_id = ? and entity_type = ? and entity_id = ? and status = 'ACTIVE'`,
    scheduleId,
    entity.entityType,
    entity.entityId,
  );
}

export function isOpen(ctx: Context, link: BookingLink): boolean {
  return link.status === 'ACTIVE' && (link.expiresAt === null || link.expiresAt > ctx.now);
}

export function findLink(ctx: Context, id: string): BookingLink {
  const link = ctx.state.one<BookingLink>(`${LINK} where id = ? and company_id = ?`, id, ctx.company.id);
  if (link === undefined) throw notFound('Booking link');
  return link;
}

/** 404 for an address that nobody was given. */
export function linkByToken(ctx: Context, token: string): BookingLink {
  const link = ctx.state.one<BookingLink>(`${LINK} where token = ? and company_id = ?`, token, ctx.company.id);
  if (link === undefined) throw notFound('Booking link');
  return link;
}

export function listLinks(ctx: Context, scheduleId: string): BookingLink[] {
  return ctx.state.all<BookingLink>(
    `${LINK} where schedule_id = ? and company_id = ? order by created_at, rowid`,
    scheduleId,
    ctx.company.id,
  );
}

/** Section 3: only an ACTIVE link is locked, revoked or replaced; LOCKED is for good (B18, assumed). */
export function setLinkStatus(ctx: Context, link: BookingLink, status: BookingLink['status']): BookingLink {
  if (link.status !== 'ACTIVE') throw invalidRequest('Only an ACTIVE link changes', { status: `is ${link.status}` });
  ctx.state.run('update booking_links set status = ? where id = ?', status, link.id);
  effect(ctx, 'booking-link-status', link.id, { status });
  return findLink(ctx, link.id);
}

/** The record of section 2.8. */
export function renderLink({ state }: Context, link: BookingLink): Record<string, unknown> {
  const { id, token, status, entityType, entityId, person, expiresAt, createdAt } = link;
  return {
    id,
    token,
    url: `${state.publicUrl}/book/${token}`,
    status,
    entityType,
    entityId,
    ...(JSON.parse(person) as Person),
    expiresAt: expiresAt === null ? null : iso(expiresAt),
    createdAt: iso(createdAt),
  };
}
