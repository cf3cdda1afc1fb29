import { DateTime } from 'luxon';
import type { Context } from '../../context.ts';
import { iso } from '../../context.ts';
import type { Schedule } from './booking-schedules.ts';
import { isExpired } from './booking-schedules.ts';

/** What an unlimited slot has left (B13, assumed). */
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
