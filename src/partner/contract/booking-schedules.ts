import { z } from 'zod';
import { defineEndpoint, errorsOf, notFound, refusal, statusData, statusList } from './endpoint.ts';
import {
  AnyObject,
  Email,
  IntegerId,
  IsoTime,
  instant,
  LooseNumber,
  openEnum,
  pathText,
  queryTime,
  TextId,
} from './shapes.ts';

export const scheduleProfiles = ['INTERVIEW', 'EVENT'] as const;
export const bookingModes = ['ONLINE', 'ONSITE', 'BOTH'] as const;
export const linkStatuses = ['ACTIVE', 'LOCKED', 'REVOKED', 'REPLACED'] as const;
export const bookingEntityTypes = ['JOB_CANDIDATE', 'OUTREACH_CAMPAIGN_CANDIDATE', 'NOVA_CANDIDATE'] as const;
export const locationTypes = ['video', 'phone', 'in_person', 'custom'] as const;
export const bookingQuestionTypes = ['text', 'textarea', 'phone', 'single_choice', 'multi_choice'] as const;

const BookingSchedule = z
  .looseObject({
    id: TextId,
    name: z.string().nullish(),
    description: z.string().nullish(),
    durationMinutes: LooseNumber.nullish(),
    timezone: z.string().nullish(),
    bookingMode: openEnum(bookingModes).nullish(),
    scheduleProfile: openEnum(scheduleProfiles).nullish(),
    companySiteId: IntegerId.nullish(),
    visibleDaysAhead: LooseNumber.nullish(),
    expiresAt: IsoTime.nullish(),
    allowCandidateReschedule: z.boolean().nullish(),
    rescheduleCutoffHours: LooseNumber.nullish(),
    isAllDayEvent: z.boolean().nullish(),
  })
  .meta({ id: 'BookingSchedule' });

/** Any positive remainingCapacity is bookable. */
const Slot = z
  .looseObject({ startAt: IsoTime, endAt: IsoTime, remainingCapacity: LooseNumber.nullish() })
  .meta({ id: 'Slot' });

const BookingLocation = z
  .looseObject({
    id: IntegerId,
    type: openEnum(locationTypes).nullish(),
    label: z.string().nullish(),
    details: z.string().nullish(),
    instructions: z.string().nullish(),
    lat: LooseNumber.nullish(),
    lng: LooseNumber.nullish(),
    photoUrls: z.array(z.string()).max(5).nullish(),
  })
  .meta({ id: 'BookingLocation' });

const BookingQuestion = z
  .looseObject({
    id: TextId,
    type: openEnum(bookingQuestionTypes).nullish(),
    label: z.string().nullish(),
    required: z.boolean().nullish(),
    options: z.array(z.unknown()).nullish(),
    maxLength: LooseNumber.nullish(),
  })
  .meta({ id: 'BookingQuestion' });

const BookingLink = z
  .looseObject({
    id: TextId,
    token: z.string().nullish(),
    url: z.string().nullish(),
    status: openEnum(linkStatuses).nullish(),
    entityType: openEnum(bookingEntityTypes).nullish(),
    entityId: TextId.nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    email: Email.nullish(),
    phone: z.string().nullish(),
    expiresAt: IsoTime.nullish(),
    createdAt: IsoTime.nullish(),
  })
  .meta({ id: 'BookingLink' });

/** Fields beyond these, an id among them, are not shown. */
const Booking = z
  .looseObject({
    id: TextId.nullish(),
    bookingLinkId: TextId.nullish(),
    entityType: openEnum(bookingEntityTypes).nullish(),
    entityId: TextId.nullish(),
    scheduledStartAt: IsoTime.nullish(),
    selectedFormat: z.string().nullish(),
    selectedLocationId: IntegerId.nullish(),
    bookingAnswers: AnyObject.nullish(),
  })
  .meta({ id: 'Booking' });

const BookingLinkInput = z
  .object({
    entityType: z.enum(bookingEntityTypes),
    entityId: z.string().min(1),
    expiresInHours: z.int().min(1).max(8760).optional(),
  })
  .meta({ id: 'BookingLinkInput' });

/** The field table is not shown (B2): names are those of the booking record. */
export const BookingInput = z
  .object({
    entityType: z.enum(bookingEntityTypes),
    entityId: z.string().min(1),
    scheduledStartAt: instant(),
    selectedFormat: z.enum(['ONLINE', 'ONSITE']).optional(),
    selectedLocationId: z.int().optional(),
    bookingAnswers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
  })
  .meta({ id: 'BookingInput' });
export type BookingInput = z.input<typeof BookingInput>;

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
