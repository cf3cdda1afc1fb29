import { DateTime } from 'luxon';
import type {
  bookingEntityTypes,
  bookingModes,
  bookingQuestionTypes,
  locationTypes,
  scheduleProfiles,
} from '../../partner/contract/booking-schedules.ts';
import { type Context, effect, iso, notFound } from '../context.ts';
import { stableUuid } from '../random.ts';
import { findCandidate } from './candidates.ts';
import { findJobCandidate } from './job-candidates.ts';

/** Weekly opening hours in the schedule's time zone; capacity null is unlimited. */
interface Availability {
  /** ISO weekdays, 1 is Monday. */
  days: readonly number[];
  /** HH:mm. */
  from: string;
  to: string;
  capacity: number | null;
}

export interface Location {
  type: (typeof locationTypes)[number];
  label: string;
  details?: string | null | undefined;
  instructions?: string | null | undefined;
  lat?: number | null | undefined;
  lng?: number | null | undefined;
  photoUrls?: readonly string[] | undefined;
}

export interface Question {
  id: string;
  type: (typeof bookingQuestionTypes)[number];
  label: string;
  required: boolean;
  options?: readonly string[] | undefined;
  maxLength?: number | undefined;
}

interface ScheduleInput {
  name: string;
  description?: string | null | undefined;
  durationMinutes: number;
  timezone: string;
  bookingMode: (typeof bookingModes)[number];
  scheduleProfile: (typeof scheduleProfiles)[number];
  companySiteId?: number | null | undefined;
  visibleDaysAhead: number;
  /** Epoch ms. */
  expiresAt?: number | null | undefined;
  allowCandidateReschedule?: boolean | undefined;
  rescheduleCutoffHours?: number | null | undefined;
  isAllDayEvent?: boolean | undefined;
  availability: Availability;
  locations?: readonly Location[] | undefined;
  questions?: readonly Question[] | undefined;
}

export interface Schedule extends Omit<ScheduleInput, 'locations' | 'questions' | 'expiresAt'> {
  id: string;
  expiresAt: number | null;
  isAllDayEvent: boolean;
  locations: (Location & { id: number })[];
  questions: Question[];
}

interface Row {
  id: string;
  body: string;
  availability: string;
  locations: string;
  questions: string;
}

const SCHEDULE = 'select id, body, availability, locations, questions from booking_schedules';

function toSchedule({ id, body, availability, locations, questions }: Row): Schedule {
  return {
    ...(JSON.parse(body) as Schedule),
    id,
    availability: JSON.parse(availability) as Availability,
    locations: JSON.parse(locations) as Schedule['locations'],
    questions: JSON.parse(questions) as Question[],
  };
}

/** A schedule; only EVENT ones keep locations and questions (section 4.8: always empty for INTERVIEW). */
export function createSchedule(ctx: Context, input: ScheduleInput): Schedule {
  const { state, company, now } = ctx;
  const { availability, locations = [], questions = [], ...rest } = input;
  const isEvent = input.scheduleProfile === 'EVENT';
  const seq = state.nextId('booking-schedule');
  const id = stableUuid(state.seed, 'booking-schedule', seq);
  const body = {
    ...rest,
    description: rest.description ?? null,
    companySiteId: rest.companySiteId ?? null,
    expiresAt: rest.expiresAt ?? null,
    allowCandidateReschedule: rest.allowCandidateReschedule ?? true,
    rescheduleCutoffHours: rest.rescheduleCutoffHours ?? null,
    isAllDayEvent: isEvent && (rest.isAllDayEvent ?? false),
  };
  const placed = isEvent
    ? locations.map((location) => ({ id: state.nextId('booking-location', 701), ...location }))
    : [];
  state.run(
    `insert into booking_schedules (id, company_id, seq, profile, mode, created_at, body, availability, locations,
      questions)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    input.scheduleProfile,
    input.bookingMode,
    now,
    JSON.stringify(body),
    JSON.stringify(availability),
    JSON.stringify(placed),
    JSON.stringify(isEvent ? questions : []),
  );
  effect(ctx, 'booking-schedule', id);
  return findSchedule(ctx, id);
}

/** 404 when unknown, deleted or another company's. */
export function findSchedule(ctx: Context, id: string): Schedule {
  const row = ctx.state.one<Row>(`${SCHEDULE} where id = ? and company_id = ? and deleted = 0`, id, ctx.company.id);
  if (row === undefined) throw notFound('Booking schedule');
  return toSchedule(row);
}

export function listSchedules(ctx: Context, profile: string | null, mode: string | null): Schedule[] {
  return ctx.state
    .all<Row>(
      `${SCHEDULE} where company_id = ? and deleted = 0 and (? is null or profile = ?)
       and (? is null or mode = ?) order by seq`,
      ctx.company.id,
      profile,
      profile,
      mode,
      mode,
    )
    .map(toSchedule);
}

/** Deletes a schedule: it is no longer found, and its open links are invalidated (section 3). */
export function deleteSchedule(ctx: Context, id: string): void {
  findSchedule(ctx, id);
  ctx.state.run('update booking_schedules set deleted = 1 where id = ?', id);
  ctx.state.run("update booking_links set status = 'REVOKED' where schedule_id = ? and status = 'ACTIVE'", id);
  effect(ctx, 'booking-schedule-removed', id);
}

export function isExpired(ctx: Context, schedule: Schedule): boolean {
  return schedule.expiresAt !== null && schedule.expiresAt <= ctx.now;
}

/** The record of section 2.8. */
export function renderSchedule(schedule: Schedule): Record<string, unknown> {
  const { id, availability: _hours, locations: _places, questions: _asked, expiresAt, ...fields } = schedule;
  return { id, ...fields, expiresAt: expiresAt === null ? null : iso(expiresAt) };
}

export function renderLocation(location: Location & { id: number }): Record<string, unknown> {
  const { id, type, label, details, instructions, lat, lng, photoUrls } = location;
  return {
    id,
    type,
    label,
    details: details ?? null,
    instructions: instructions ?? null,
    lat: lat ?? null,
    lng: lng ?? null,
    photoUrls: photoUrls ?? [],
  };
}

/** Remaining capacity of an unlimited slot (B13, assumed). */
const UNLIMITED = 999_999;

export interface Slot {
  /** Epoch ms. */
  start: number;
  end: number;
  left: number;
}

/**
 * The slots that can still be booked from `from` (inclusive) to `to` (exclusive): not begun, within visibleDaysAhead
 * (silently, B9), not filled by active bookings; none of an expired schedule (B15). All assumed.
 */
export function freeSlots(ctx: Context, schedule: Schedule, from: number, to: number): Slot[] {
  if (isExpired(ctx, schedule)) return [];
  const first = Math.max(from, ctx.now + 1);
  const horizon = DateTime.fromMillis(ctx.now, { zone: schedule.timezone })
    .startOf('day')
    .plus({ days: schedule.visibleDaysAhead + 1 });
  const last = Math.min(to, horizon.toMillis());
  const taken = bookedSeats(ctx, schedule.id, first, last);
  return starts(schedule, first, last)
    .map((slot) => ({ ...slot, left: seatsLeft(schedule, taken.get(slot.start) ?? 0) }))
    .filter((slot) => slot.left > 0);
}

/** The free slot that begins at an instant. */
export function freeSlotAt(ctx: Context, schedule: Schedule, start: number): Slot | undefined {
  return freeSlots(ctx, schedule, start, start + 1).find((slot) => slot.start === start);
}

/** An instant, or the beginning of a date in the schedule's time zone (B8, assumed). */
export function instantIn(schedule: Schedule, text: string): number {
  return text.length === 10 ? DateTime.fromISO(text, { zone: schedule.timezone }).toMillis() : Date.parse(text);
}

export function renderSlot(slot: Slot): Record<string, unknown> {
  return { startAt: iso(slot.start), endAt: iso(slot.end), remainingCapacity: slot.left };
}

function seatsLeft({ availability: { capacity } }: Schedule, booked: number): number {
  return capacity === null ? UNLIMITED : capacity - booked;
}

function bookedSeats(ctx: Context, scheduleId: string, from: number, to: number): Map<number, number> {
  const rows = ctx.state.all<{ start: number; n: number }>(
    `select start_at as start, count(*) as n from bookings where schedule_id = ? and cancelled = 0
      and start_at >= ? and start_at < ? group by start_at`,
    scheduleId,
    from,
    to,
  );
  return new Map(rows.map((row) => [row.start, row.n]));
}

/**
 * Every slot that begins in the range, day by day in the schedule's own time: summer time moves the clock, not the
 * opening hours.
 */
function starts(schedule: Schedule, from: number, to: number): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let day = DateTime.fromMillis(from, { zone: schedule.timezone }).startOf('day');
  for (; day.toMillis() < to; day = day.plus({ days: 1 })) {
    if (!schedule.availability.days.includes(day.weekday)) continue;
    found.push(...slotsOfDay(schedule, day).filter((slot) => slot.start >= from && slot.start < to));
  }
  return found;
}

function slotsOfDay(schedule: Schedule, day: DateTime): { start: number; end: number }[] {
  if (schedule.isAllDayEvent) return [{ start: day.toMillis(), end: day.plus({ days: 1 }).toMillis() }];
  const length = schedule.durationMinutes * 60_000;
  const close = at(day, schedule.availability.to);
  const slots: { start: number; end: number }[] = [];
  for (let start = at(day, schedule.availability.from); start + length <= close; start += length) {
    slots.push({ start, end: start + length });
  }
  return slots;
}

function at(day: DateTime, time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return day.set({ hour, minute }).toMillis();
}

/** Whom a link or a booking is for. */
export interface Entity {
  entityType: (typeof bookingEntityTypes)[number];
  entityId: string;
}

/** The snapshot a link keeps; any may be null. */
export interface Person {
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  phone: string | null;
}

/** The person behind an entity, who must exist: 404 otherwise, as for the two kinds without a lookup (B12, assumed). */
export function personOf(ctx: Context, { entityType, entityId }: Entity): Person {
  if (entityType !== 'JOB_CANDIDATE' || !/^\d{1,15}$/.test(entityId)) throw notFound('Entity');
  const { candidateId } = findJobCandidate(ctx, Number(entityId));
  const { firstName, lastName, email, phone } = findCandidate(ctx, candidateId);
  return { firstName, lastName, email, phone };
}
