import type {
  bookingModes,
  bookingQuestionTypes,
  locationTypes,
  scheduleProfiles,
} from '../../../partner/contract/booking-schedule.ts';
import type { Context } from '../../context.ts';
import { effect, iso } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { stableUuid } from '../../random.ts';

/** Weekly opening hours in the schedule's time zone; capacity null is unlimited. */
export interface Availability {
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

export interface ScheduleInput {
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
