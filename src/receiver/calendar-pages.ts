import type { IncomingMessage, ServerResponse } from 'node:http';
import { DateTime } from 'luxon';
import type { CalendarEvent, CalendarFeed } from '../store/calendar-tables.ts';
import { readFeed } from '../store/calendars.ts';
import type { Store } from '../store/open-store.ts';

/** Where calendars read: what is in the address is the only key, so that nothing else is told of it. */
const PATH = /^\/calendars\/([\w-]{43})\.ics$/;

/** Calendars ask every few minutes; an address that is asked for more often says when to come back. */
const RATE = { ofOne: 30, ofUnknown: 300, perMs: 60_000 };
/** Addresses that are counted at once; the least recently asked for is forgotten. */
const MOST_COUNTED = 10_000;
/** All addresses together that do not exist. */
const UNKNOWN = '';

/**
 * Answers requests for calendars; false for any other. `store` is undefined until it is open. Who asks for an address
 * that does not exist, and whose was revoked, gets the same answer.
 */
export function createCalendarPages(store: () => Store | undefined) {
  const asked = new Map<string, { since: number; times: number }>();
  const timesOf = (who: string, more: number): number => {
    const now = performance.now();
    const before = asked.get(who);
    const own = before === undefined || now - before.since >= RATE.perMs ? { since: now, times: 0 } : before;
    own.times += more;
    asked.delete(who);
    asked.set(who, own);
    const [oldest = UNKNOWN] = asked.keys();
    if (asked.size > MOST_COUNTED) asked.delete(oldest);
    return own.times;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse, token: string): Promise<void> => {
    const opened = store();
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, { allow: 'GET, HEAD' });
    const isKnown = asked.has(token);
    if (isKnown ? timesOf(token, 1) > RATE.ofOne : timesOf(UNKNOWN, 0) >= RATE.ofUnknown)
      return end(response, 429, { 'retry-after': String(RATE.perMs / 1000) });
    if (opened === undefined) return end(response, 503, { 'retry-after': '1' });
    const found = await readFeed(opened, token);
    if (found === undefined) {
      timesOf(UNKNOWN, 1);
      return end(response, 404);
    }
    if (!isKnown) timesOf(token, 1);
    const text = await renderCalendar(found.feed, found.events);
    const headers = { 'content-type': 'text/calendar; charset=utf-8', 'cache-control': 'private, max-age=300' };
    end(response, 200, headers, request.method === 'HEAD' ? '' : text);
  };
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (!path.startsWith('/calendars/')) return false;
    const token = PATH.exec(path)?.[1];
    // Nothing of a body is read.
    request.resume();
    if (token === undefined) end(response, 404);
    else answer(request, response, token).catch(() => end(response, 503, { 'retry-after': '5' }));
    return true;
  };
}

function end(response: ServerResponse, status: number, headers: Record<string, string> = {}, body = ''): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }).end(body);
}

const HALF_AN_HOUR_MS = 30 * 60_000;

/**
 * RFC 5545. Times are in UTC, which every calendar shows in its owner's zone; the schedule's own time stands in the
 * description. Of the person the id of their application alone is told: who they are, the hiring platform shows.
 */
export async function renderCalendar(feed: CalendarFeed, events: readonly CalendarEvent[]): Promise<string> {
  const { default: ical, ICalEventStatus } = await import('ical-generator');
  const calendar = ical({ name: 'Interviews', prodId: { company: 'hirebridge', product: 'bookings' } });
  for (const event of events) {
    const start = new Date(event.starts_at);
    const changed = new Date(Number(event.changed_at));
    calendar.createEvent({
      id: `${event.booking_id}@${feed.tenant_id}.hirebridge`,
      sequence: event.sequence,
      start,
      end: event.ends_at === null ? new Date(start.getTime() + HALF_AN_HOUR_MS) : new Date(event.ends_at),
      stamp: changed,
      lastModified: changed,
      summary: `${event.title ?? 'Interview'}${event.attendance === 'NO_SHOW' ? ' (not come)' : ''}`,
      description: describe(event),
      status: event.cancelled_at === null ? ICalEventStatus.CONFIRMED : ICalEventStatus.CANCELLED,
    });
  }
  return calendar.toString();
}

const ATTENDANCE: Readonly<Record<string, string>> = { NO_SHOW: 'Did not come.', CHECKED_IN: 'Has come.' };

function describe({ entity_type: type, entity_id: id, timezone, starts_at: at, attendance }: CalendarEvent): string {
  const local = timezone === null ? undefined : DateTime.fromISO(at, { zone: timezone });
  return [
    id === null ? undefined : `${type === 'JOB_CANDIDATE' ? 'Application' : 'Record'} ${id}`,
    local?.isValid === true ? `${local.toFormat('yyyy-MM-dd HH:mm')} in ${timezone ?? ''}` : undefined,
    ATTENDANCE[attendance ?? ''],
  ]
    .filter((line) => line !== undefined)
    .join('\n');
}
