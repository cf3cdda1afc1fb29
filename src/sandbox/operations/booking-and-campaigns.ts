import {
  findSchedule,
  freeSlots,
  instantIn,
  listSchedules,
  personOf,
  renderLocation,
  renderSchedule,
  renderSlot,
} from '../records/booking-schedules.ts';
import { book, linkFor, listBookings, renderBooking, renderLink } from '../records/bookings.ts';
import {
  addLeads,
  createCampaign,
  findCampaign,
  linkedSites,
  listCampaigns,
  listLeads,
  renderCampaign,
  renderLead,
} from '../records/campaigns.ts';
import { limitPagination, type OperationTree, success } from './operation.ts';

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

export const sites = {
  list: (ctx) => ({ body: { sites: linkedSites(ctx) } }),
} satisfies OperationTree['sites'];

export const campaigns = {
  list(ctx, { query: { page, limit, ...filters } }) {
    const found = listCampaigns(ctx, filters, limit, (page - 1) * limit);
    const shown = found.campaigns.map((one) => renderCampaign(one, false));
    return { body: { campaigns: shown, pagination: limitPagination(page, limit, found.total) } };
  },

  get: (ctx, { params }) => ({ body: { campaign: renderCampaign(findCampaign(ctx, params.campaignId), true) } }),

  create: (ctx, { body }) => ({ body: { campaign: renderCampaign(createCampaign(ctx, body), true) } }),

  addLeads(ctx, { params, body }) {
    const { id } = findCampaign(ctx, params.campaignId);
    return { body: { leads: addLeads(ctx, id, body.leads).map(({ leadId }) => ({ leadId })) } };
  },

  listLeads(ctx, { params }) {
    const { id } = findCampaign(ctx, params.campaignId);
    return { body: { leads: listLeads(ctx, id).map(renderLead) } };
  },
} satisfies OperationTree['campaigns'];
