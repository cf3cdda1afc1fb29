import { z } from 'zod';
import {
  BookingInput,
  bookingEntityTypes,
  bookingModes,
  bookingQuestionTypes,
  locationTypes,
  scheduleProfiles,
} from '../../partner/contract/booking-schedules.ts';
import { campaignPurposes } from '../../partner/contract/campaigns.ts';
import { notFound } from '../errors.ts';
import { createSchedule, deleteSchedule, findSchedule, renderSchedule } from '../records/booking-schedules.ts';
import {
  book,
  cancelBooking,
  findLink,
  isOpen,
  listLinks,
  renderBooking,
  renderLink,
  rescheduleBooking,
  setAttendance,
  setLinkStatus,
} from '../records/bookings.ts';
import { enablePurposes, LEAD_LABELS, type LeadStatus, setCampaign, setLeadStatus } from '../records/campaigns.ts';
import { defineAction } from './action.ts';

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const OpeningHours = z
  .strictObject({
    days: z.array(z.int().min(1).max(7)).min(1).default([1, 2, 3, 4, 5]),
    from: time.default('09:00'),
    to: time.default('17:00'),
    capacity: z.int().min(1).nullable().default(1),
  })
  .prefault({});

const Place = z.strictObject({
  type: z.enum(locationTypes),
  label: z.string().min(1),
  details: z.string().optional(),
  instructions: z.string().optional(),
  lat: z.number().optional(),
  lng: z.number().optional(),
  photoUrls: z.array(z.url()).max(5).default([]),
});

const Asked = z
  .strictObject({
    id: z.string().min(1),
    type: z.enum(bookingQuestionTypes),
    label: z.string().min(1),
    required: z.boolean().default(false),
    options: z.array(z.string()).min(1).optional(),
    maxLength: z.int().min(1).optional(),
  })
  .refine(({ type, options }) => type.endsWith('_choice') === (options !== undefined), {
    error: 'options are for choice types, which need them',
  })
  .refine(({ type, maxLength }) => maxLength === undefined || type.startsWith('text'), {
    error: 'maxLength is for text and textarea',
  });

const { entityType: _type, entityId, ...choices } = BookingInput.shape;

export const booking = {
  createBookingSchedule: defineAction({
    summary: 'Create a booking schedule with its opening hours; an EVENT has locations and may ask questions',
    input: z
      .strictObject({
        name: z.string().min(1).default('Interview'),
        description: z.string().optional(),
        durationMinutes: z.int().min(5).max(1440).default(30),
        timezone: z.string().default('Europe/London'),
        bookingMode: z.enum(bookingModes).default('ONLINE'),
        scheduleProfile: z.enum(scheduleProfiles).default('INTERVIEW'),
        companySiteId: z.int().optional(),
        visibleDaysAhead: z.int().min(1).max(365).default(30),
        expiresAt: z.iso
          .datetime({ offset: true })
          .transform((text) => Date.parse(text))
          .optional(),
        allowCandidateReschedule: z.boolean().optional(),
        rescheduleCutoffHours: z.int().min(0).optional(),
        isAllDayEvent: z.boolean().optional(),
        availability: OpeningHours,
        locations: z.array(Place).default([{ type: 'in_person', label: 'Head office', photoUrls: [] }]),
        questions: z.array(Asked).default([]),
      })
      .refine(({ scheduleProfile, locations }) => scheduleProfile === 'INTERVIEW' || locations.length > 0, {
        path: ['locations'],
        error: 'an EVENT needs at least one location: a booking must name one',
      }),
    run(ctx, input) {
      const schedule = createSchedule(ctx, input);
      return { ...renderSchedule(schedule), id: schedule.id, locationIds: schedule.locations.map(({ id }) => id) };
    },
  }),

  deleteBookingSchedule: defineAction({
    summary: 'Delete a booking schedule; its open links are revoked',
    input: z.strictObject({ bookingScheduleId: z.string() }),
    run(ctx, { bookingScheduleId }) {
      deleteSchedule(ctx, bookingScheduleId);
      return { deleted: bookingScheduleId };
    },
  }),

  listBookingLinks: defineAction({
    summary: 'The links of a schedule with their statuses',
    input: z.strictObject({ bookingScheduleId: z.string() }),
    run: (ctx, { bookingScheduleId }) => ({
      links: listLinks(ctx, bookingScheduleId).map((link) => renderLink(ctx, link)),
    }),
  }),

  revokeBookingLink: defineAction({
    summary: 'Invalidate an ACTIVE link',
    input: z.strictObject({ bookingLinkId: z.string() }),
    run: (ctx, { bookingLinkId }) => renderLink(ctx, setLinkStatus(ctx, findLink(ctx, bookingLinkId), 'REVOKED')),
  }),

  bookThroughLink: defineAction({
    summary: 'The candidate opens the link and books a slot: the link is LOCKED',
    input: z.strictObject({ bookingLinkId: z.string(), ...choices }),
    run(ctx, { bookingLinkId, ...chosen }) {
      const link = findLink(ctx, bookingLinkId);
      if (!isOpen(ctx, link)) throw notFound('An open booking link');
      const { scheduleId, entityType, entityId } = link;
      return renderBooking(book(ctx, findSchedule(ctx, scheduleId), { entityType, entityId, ...chosen }));
    },
  }),

  book: defineAction({
    summary: 'Book for anybody, also a campaign lead by its internal id',
    input: z.strictObject({
      bookingScheduleId: z.string(),
      entityType: z.enum(bookingEntityTypes).default('OUTREACH_CAMPAIGN_CANDIDATE'),
      entityId,
      ...choices,
    }),
    run: (ctx, { bookingScheduleId, ...order }) =>
      renderBooking(book(ctx, findSchedule(ctx, bookingScheduleId), order)),
  }),

  rescheduleBooking: defineAction({
    summary: 'Move a booking to another free slot; a candidate only where and until the schedule allows it',
    input: z.strictObject({
      bookingId: z.string(),
      scheduledStartAt: BookingInput.shape.scheduledStartAt,
      by: z.enum(['recruiter', 'candidate']).default('recruiter'),
    }),
    run: (ctx, { bookingId, scheduledStartAt, by }) =>
      renderBooking(rescheduleBooking(ctx, bookingId, Date.parse(scheduledStartAt), by)),
  }),

  checkIn: defineAction({
    summary: 'The person of a booking has come',
    input: z.strictObject({ bookingId: z.string() }),
    run: (ctx, { bookingId }) => renderBooking(setAttendance(ctx, bookingId, 'CHECKED_IN')),
  }),

  markNoShow: defineAction({
    summary: 'The person of a booking has not come',
    input: z.strictObject({ bookingId: z.string() }),
    run: (ctx, { bookingId }) => renderBooking(setAttendance(ctx, bookingId, 'NO_SHOW')),
  }),

  cancelBooking: defineAction({
    summary: 'Cancel a booking: its slot is free again, its link stays LOCKED',
    input: z.strictObject({ bookingId: z.string() }),
    run: (ctx, { bookingId }) => renderBooking(cancelBooking(ctx, bookingId)),
  }),
};

const campaign = { campaignId: z.int() };

export const campaigns = {
  enableCampaignPurposes: defineAction({
    summary: 'Configure which purposes the workspace accepts; only ASSESSMENT_REMINDER at first',
    input: z.strictObject({ purposes: z.array(z.enum(campaignPurposes)).default([...campaignPurposes]) }),
    run: (ctx, { purposes }) => ({ purposes: enablePurposes(ctx, purposes) }),
  }),

  setCampaign: defineAction({
    summary: 'Pause or complete a campaign, or make it one that is not of the whole company: the API then answers 404',
    input: z.strictObject({
      ...campaign,
      status: z.enum(['DRAFT', 'RUNNING', 'PAUSED', 'COMPLETED']).optional(),
      accessLevel: z.enum(['COMPANY', 'USER']).optional(),
    }),
    run(ctx, { campaignId, ...to }) {
      setCampaign(ctx, campaignId, to);
      return { campaignId, ...to };
    },
  }),

  deleteCampaign: defineAction({
    summary: 'Delete a campaign',
    input: z.strictObject(campaign),
    run(ctx, { campaignId }) {
      setCampaign(ctx, campaignId, { deleted: true });
      return { deleted: campaignId };
    },
  }),

  setLeadStatus: defineAction({
    summary: 'What became of a lead',
    input: z.strictObject({ leadId: z.int(), status: z.enum(Object.keys(LEAD_LABELS) as [LeadStatus]) }),
    run: (ctx, { leadId, status }) => setLeadStatus(ctx, leadId, status),
  }),
};
