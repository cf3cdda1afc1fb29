/** Section 2.8: booking schedules, slots, locations, questions, links and bookings. */
import { z } from 'zod';
import { Email } from './email.ts';
import { AnyObject, IntegerId, IsoTime, LooseNumber, openEnum, TextId } from './shapes.ts';

export const scheduleProfiles = ['INTERVIEW', 'EVENT'] as const;
export const bookingModes = ['ONLINE', 'ONSITE', 'BOTH'] as const;
export const linkStatuses = ['ACTIVE', 'LOCKED', 'REVOKED', 'REPLACED'] as const;
export const bookingEntityTypes = ['JOB_CANDIDATE', 'OUTREACH_CAMPAIGN_CANDIDATE', 'NOVA_CANDIDATE'] as const;
export const locationTypes = ['video', 'phone', 'in_person', 'custom'] as const;
export const bookingQuestionTypes = ['text', 'textarea', 'phone', 'single_choice', 'multi_choice'] as const;

export const BookingSchedule = z
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
export type BookingSchedule = z.infer<typeof BookingSchedule>;

/** Any positive remainingCapacity is bookable. */
export const Slot = z
  .looseObject({ startAt: IsoTime, endAt: IsoTime, remainingCapacity: LooseNumber.nullish() })
  .meta({ id: 'Slot' });
export type Slot = z.infer<typeof Slot>;

export const BookingLocation = z
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
export type BookingLocation = z.infer<typeof BookingLocation>;

export const BookingQuestion = z
  .looseObject({
    id: TextId,
    type: openEnum(bookingQuestionTypes).nullish(),
    label: z.string().nullish(),
    required: z.boolean().nullish(),
    options: z.array(z.unknown()).nullish(),
    maxLength: LooseNumber.nullish(),
  })
  .meta({ id: 'BookingQuestion' });
export type BookingQuestion = z.infer<typeof BookingQuestion>;

export const BookingLink = z
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
export type BookingLink = z.infer<typeof BookingLink>;

/** Fields beyond these, an id among them, are not shown. */
export const Booking = z
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
export type Booking = z.infer<typeof Booking>;

export const BookingLinkInput = z
  .object({
    entityType: z.enum(bookingEntityTypes),
    entityId: z.string().min(1),
    expiresInHours: z.int().min(1).max(8760).optional(),
  })
  .meta({ id: 'BookingLinkInput' });
export type BookingLinkInput = z.input<typeof BookingLinkInput>;

/** The field table is not shown (B2): names are those of the booking record. */
export const BookingInput = z
  .object({
    entityType: z.enum(bookingEntityTypes),
    entityId: z.string().min(1),
    scheduledStartAt: z.iso.datetime({ offset: true }),
    selectedFormat: z.enum(['ONLINE', 'ONSITE']).optional(),
    selectedLocationId: z.int().optional(),
    bookingAnswers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
  })
  .meta({ id: 'BookingInput' });
export type BookingInput = z.input<typeof BookingInput>;
