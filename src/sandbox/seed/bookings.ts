import type { Context } from '../context.ts';
import { linkFor } from '../records/booking/booking-links.ts';
import { listSchedules, type Schedule } from '../records/booking/booking-schedules.ts';
import { freeSlots } from '../records/booking/booking-slots.ts';
import { type Booking, book, cancelBooking, setAttendance } from '../records/booking/bookings.ts';

const WEEK_MS = 7 * 86_400_000;

const PAST: readonly ((ctx: Context, booking: Booking) => void)[] = [
  (ctx, { id }) => void setAttendance(ctx, id, 'CHECKED_IN'),
  (ctx, { id }) => void setAttendance(ctx, id, 'NO_SHOW'),
  (ctx, { id }) => void cancelBooking(ctx, id),
];

/** Some have come, not come or cancelled three weeks ago, some will come next week, some only hold a link. */
export function seedBookings(ctx: Context, jobCandidateIds: readonly number[]): void {
  const [interview] = listSchedules(ctx, 'INTERVIEW', null);
  const [event] = listSchedules(ctx, 'EVENT', null);
  if (interview === undefined || event === undefined) return;
  const third = Math.ceil(jobCandidateIds.length / 3);
  const [past, next, linked] = [0, 1, 2].map((part) => jobCandidateIds.slice(part * third, (part + 1) * third));
  const before: Context = { ...ctx, now: ctx.now - 4 * WEEK_MS };
  for (const [index, id] of (past ?? []).entries()) {
    const booking = bookNext(before, index % 2 === 0 ? interview : event, id);
    if (booking !== undefined) PAST[index % PAST.length]?.(before, booking);
  }
  for (const [index, id] of (next ?? []).entries()) bookNext(ctx, index % 2 === 0 ? interview : event, id);
  for (const id of linked ?? []) linkFor(ctx, interview, entityOf(id), undefined);
}

function entityOf(jobCandidateId: number): { entityType: 'JOB_CANDIDATE'; entityId: string } {
  return { entityType: 'JOB_CANDIDATE', entityId: String(jobCandidateId) };
}

/** The first free slot of a week from now. */
function bookNext(ctx: Context, schedule: Schedule, jobCandidateId: number): Booking | undefined {
  const [slot] = freeSlots(ctx, schedule, ctx.now + WEEK_MS, ctx.now + 2 * WEEK_MS);
  if (slot === undefined) return undefined;
  const [place] = schedule.locations;
  return book(ctx, schedule, {
    ...entityOf(jobCandidateId),
    scheduledStartAt: new Date(slot.start).toISOString(),
    ...(schedule.bookingMode === 'BOTH' ? { selectedFormat: 'ONSITE' as const } : {}),
    ...(place === undefined ? {} : { selectedLocationId: place.id }),
    bookingAnswers: schedule.questions.length === 0 ? {} : { shift: 'Day', phone: '+447700900123' },
  });
}
