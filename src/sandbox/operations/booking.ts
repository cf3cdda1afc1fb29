/** Section 4.8: candidate self-scheduling. Section 6 shows no booking events, so none are sent. */
import { personOf } from '../records/booking/booking-entities.ts';
import { linkFor, renderLink } from '../records/booking/booking-links.ts';
import { findSchedule, listSchedules, renderLocation, renderSchedule } from '../records/booking/booking-schedules.ts';
import { freeSlots, instantIn, renderSlot } from '../records/booking/booking-slots.ts';
import { book, listBookings, renderBooking } from '../records/booking/bookings.ts';
import { type OperationTree, success } from './operation.ts';

export const bookingSchedules = {
  list: (ctx, { query: { scheduleProfile, bookingMode } }) =>
    success(listSchedules(ctx, scheduleProfile ?? null, bookingMode ?? null).map(renderSchedule)),

  get: (ctx, { params }) => success(renderSchedule(findSchedule(ctx, params.bookingScheduleId))),

  listSlots(ctx, { params, query }) {
    const schedule = findSchedule(ctx, params.bookingScheduleId);
    const slots = freeSlots(ctx, schedule, instantIn(schedule, query.from), instantIn(schedule, query.to));
    return success(slots.map(renderSlot));
  },

  listLocations: (ctx, { params }) =>
    success(findSchedule(ctx, params.bookingScheduleId).locations.map(renderLocation)),

  listQuestions: (ctx, { params }) => success(findSchedule(ctx, params.bookingScheduleId).questions),

  createLink(ctx, { params, body: { expiresInHours, ...entity } }) {
    return success(renderLink(ctx, linkFor(ctx, findSchedule(ctx, params.bookingScheduleId), entity, expiresInHours)));
  },

  createBooking(ctx, { params, body }) {
    const schedule = findSchedule(ctx, params.bookingScheduleId);
    personOf(ctx, body);
    return success(renderBooking(book(ctx, schedule, body)));
  },
} satisfies OperationTree['bookingSchedules'];

export const bookings = {
  list: (ctx, { query }) =>
    success(listBookings(ctx, query.entityType ?? null, query.bookingLinkId ?? null).map(renderBooking)),
} satisfies OperationTree['bookings'];
