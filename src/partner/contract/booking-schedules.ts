/** Section 4.8: candidate self-scheduling. Reschedule, cancel and attendance have no route: undefined-endpoints.ts. */
import { z } from 'zod';
import {
  Booking,
  BookingInput,
  BookingLink,
  BookingLinkInput,
  BookingLocation,
  BookingQuestion,
  BookingSchedule,
  bookingEntityTypes,
  bookingModes,
  Slot,
  scheduleProfiles,
} from './booking-schedule.ts';
import { defineEndpoint } from './endpoint.ts';
import { statusData, statusList } from './envelopes.ts';
import { errorsOf, notFound, refusal } from './errors.ts';
import { pathText, queryTime } from './shapes.ts';

const params = z.object({ bookingScheduleId: pathText() });
const unknownSchedule = notFound('booking schedule');

export const bookingSchedules = {
  list: defineEndpoint({
    id: 'bookingSchedules.list',
    method: 'GET',
    path: '/booking-schedules',
    section: '4.8',
    summary: 'List booking schedules that are not deleted',
    query: z.object({
      scheduleProfile: z.enum(scheduleProfiles).optional(),
      bookingMode: z.enum(bookingModes).optional(),
    }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.schedules', 'data.bookingSchedules'),
    list: { itemsAt: 'data', item: BookingSchedule, idKey: 'id' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'scheduleProfile or bookingMode outside its values')),
    assumed: ['B16'],
  }),
  get: defineEndpoint({
    id: 'bookingSchedules.get',
    method: 'GET',
    path: '/booking-schedules/:bookingScheduleId',
    section: '4.8',
    summary: 'Get a booking schedule',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusData(BookingSchedule),
    errors: errorsOf(unknownSchedule),
    assumed: ['B16', 'G7'],
  }),
  listSlots: defineEndpoint({
    id: 'bookingSchedules.listSlots',
    method: 'GET',
    path: '/booking-schedules/:bookingScheduleId/slots',
    section: '4.8',
    summary: 'Slots that are still free; from is inclusive, to exclusive',
    params,
    query: z
      .object({ from: queryTime(), to: queryTime() })
      .refine((query) => Date.parse(query.from) < Date.parse(query.to), {
        path: ['to'],
        error: 'to must be after from',
      }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.slots'),
    list: { itemsAt: 'data', item: Slot, idKey: 'startAt' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'from or to missing, no date, or reversed'), unknownSchedule),
    assumed: ['B8', 'B9', 'B13', 'B15'],
  }),
  listLocations: defineEndpoint({
    id: 'bookingSchedules.listLocations',
    method: 'GET',
    path: '/booking-schedules/:bookingScheduleId/locations',
    section: '4.8',
    summary: 'Locations; always empty for INTERVIEW schedules',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusList('data.locations'),
    list: { itemsAt: 'data', item: BookingLocation, idKey: 'id' },
    errors: errorsOf(unknownSchedule),
    assumed: ['B7'],
  }),
  listQuestions: defineEndpoint({
    id: 'bookingSchedules.listQuestions',
    method: 'GET',
    path: '/booking-schedules/:bookingScheduleId/questions',
    section: '4.8',
    summary: 'Questions; always empty for INTERVIEW schedules',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusList('data.questions'),
    list: { itemsAt: 'data', item: BookingQuestion, idKey: 'id' },
    errors: errorsOf(unknownSchedule),
    assumed: ['B7'],
  }),
  createLink: defineEndpoint({
    id: 'bookingSchedules.createLink',
    method: 'POST',
    path: '/booking-schedules/:bookingScheduleId/links',
    section: '4.8',
    summary: 'Create a scheduling link, or get the active one; the service does not send it',
    params,
    body: BookingLinkInput,
    status: 200,
    envelope: 'status-data',
    response: statusData(BookingLink),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'missing or invalid field; EVENT schedule; expired schedule'),
      notFound('booking schedule or entity'),
    ),
    assumed: ['G1', 'B1', 'B6', 'B10', 'B11', 'B12', 'B15', 'B17'],
  }),
  createBooking: defineEndpoint({
    id: 'bookingSchedules.createBooking',
    method: 'POST',
    path: '/booking-schedules/:bookingScheduleId/bookings',
    section: '4.8',
    summary: 'Book a slot for an entity',
    params,
    body: BookingInput,
    status: 200,
    envelope: 'status-data',
    response: statusData(Booking),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'missing or invalid field, format, location or required answer'),
      notFound('booking schedule or entity'),
      refusal('SLOT_UNAVAILABLE', 'slot no longer free, or the entity has a booking in the schedule'),
    ),
    assumed: ['G1', 'B2', 'B3', 'B4', 'B5', 'B15', 'B18', 'BOOKING'],
  }),
};

export const bookings = {
  list: defineEndpoint({
    id: 'bookings.list',
    method: 'GET',
    path: '/bookings',
    section: '4.8',
    summary: 'List bookings; may include other entity types',
    query: z.object({ entityType: z.enum(bookingEntityTypes).optional(), bookingLinkId: z.string().optional() }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.bookings', 'bookings'),
    list: { itemsAt: 'data', item: Booking, idKey: 'id' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'entityType outside its values')),
    assumed: ['B14', 'BOOKING', 'G12'],
  }),
};
