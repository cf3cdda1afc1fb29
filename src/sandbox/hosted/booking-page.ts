import { DateTime } from 'luxon';
import type { Context } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { type BookingLink, isOpen, linkByToken } from '../records/booking/booking-links.ts';
import { findSchedule, type Schedule } from '../records/booking/booking-schedules.ts';
import { freeSlots, type Slot } from '../records/booking/booking-slots.ts';
import { book, listBookings } from '../records/booking/bookings.ts';
import { alert, type Html, hostedPage, html } from './html.ts';
import type { HostedPage } from './visit.ts';

const SHOWN_DAYS = 3;

/** Where an invited person picks a time. */
export const bookingPage: HostedPage = {
  show(ctx, { key, query, refusal }) {
    const link = linkByToken(ctx, key);
    const schedule = findSchedule(ctx, link.scheduleId);
    const { firstName } = JSON.parse(link.person) as { firstName: string | null };
    const [booking] = listBookings(ctx, null, link.id);
    const greeting = html`<p>${firstName !== null && `Hello ${firstName}. `}${schedule.description}</p>`;
    const content =
      booking === undefined
        ? choice(ctx, link, schedule, query.get('from'))
        : html`<p class="notice good" role="status">You are booked for
            <b>${told(schedule, booking.startAt, DateTime.DATETIME_FULL)}</b>.</p>`;
    return hostedPage(schedule.name, html`${greeting}${alert(refusal)}${content}`);
  },

  act(ctx, { key }, form) {
    const link = linkByToken(ctx, key);
    if (!isOpen(ctx, link)) throw invalidRequest('This link can no longer be used');
    const start = form.get('slot');
    if (start === null) throw invalidRequest('Choose a time');
    const selectedFormat = form.get('format') as 'ONLINE' | 'ONSITE' | null;
    book(ctx, findSchedule(ctx, link.scheduleId), {
      entityType: link.entityType,
      entityId: link.entityId,
      scheduledStartAt: start,
      ...(selectedFormat === null ? {} : { selectedFormat }),
    });
    return undefined;
  },
};

function choice(ctx: Context, link: BookingLink, schedule: Schedule, from: string | null): Html {
  if (!isOpen(ctx, link)) return html`<p class="notice">This link can no longer be used. Ask for a new one.</p>`;
  const first = Date.parse(from ?? '') || ctx.now;
  const slots = freeSlots(ctx, schedule, first, first + 60 * 86_400_000);
  const days = [...Map.groupBy(slots, ({ start }) => told(schedule, start, DateTime.DATE_HUGE))];
  if (days.length === 0) return html`<p class="notice">No time is free any more.</p>`;
  const later = days[SHOWN_DAYS]?.[1][0];
  return html`<form method="post">
    <p class="hint">Times are those of ${schedule.timezone}; it takes ${schedule.durationMinutes} minutes.</p>
    ${days.slice(0, SHOWN_DAYS).map(([day, ofDay]) => dayChoice(schedule, day, ofDay))}
    ${later !== undefined && html`<p><a href="?from=${new Date(later.start).toISOString()}">Later days</a></p>`}
    ${schedule.bookingMode === 'BOTH' && FORMATS}
    <button class="primary">Book this time</button>
  </form>`;
}

const FORMATS = html`<fieldset><legend>How</legend><div class="slots">
  <label><input type="radio" name="format" value="ONLINE" checked> Online</label>
  <label><input type="radio" name="format" value="ONSITE"> On site</label></div></fieldset>`;

function dayChoice(schedule: Schedule, day: string, slots: readonly Slot[]): Html {
  const one = ({ start }: Slot): Html => html`<label>
    <input type="radio" name="slot" value="${new Date(start).toISOString()}" required>
    ${told(schedule, start, DateTime.TIME_SIMPLE)}</label>`;
  return html`<fieldset><legend>${day}</legend><div class="slots">${slots.map(one)}</div></fieldset>`;
}

function told({ timezone }: Schedule, at: number, format: Intl.DateTimeFormatOptions): string {
  return DateTime.fromMillis(at, { zone: timezone, locale: 'en-GB' }).toLocaleString(format);
}
