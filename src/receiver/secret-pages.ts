import type { IncomingMessage, ServerResponse } from 'node:http';
import { DateTime } from 'luxon';
import { readFeed } from '../store/calendars.ts';
import type { Store } from '../store/open-store.ts';
import type { CalendarEvent, CalendarFeed } from '../store/push-tables.ts';
import { readResumeFile } from '../store/resumes.ts';

/** The pages at secret addresses, by path; `read` returns undefined if there is nothing (any more). */
const PAGES = [
  {
    path: /^\/calendars\/([\w-]{43})\.ics$/,
    headers: { 'content-type': 'text/calendar; charset=utf-8', 'cache-control': 'private, max-age=300' },
    async read(store: Store, token: string): Promise<Buffer | undefined> {
      const found = await readFeed(store, token);
      return found === undefined ? undefined : Buffer.from(await renderCalendar(found.feed, found.events));
    },
  },
  {
    path: /^\/resumes\/([\w-]{43})\.pdf$/,
    headers: { 'content-type': 'application/pdf', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
    read: readResumeFile,
  },
];

/** Calendars ask every few minutes; an address that is asked more often answers when to come back. */
const RATE = { ofOne: 30, ofUnknown: 300, perMs: 60_000 };
/** Addresses counted at once; the least recently requested one is dropped. */
const MOST_COUNTED = 10_000;
/** Stands for all unknown addresses together. */
const UNKNOWN = '';
/** While many unknown addresses are asked for, addresses not seen before are looked up so many at a time. */
const LOOKS_AT_ONCE = 4;

/**
 * Answers requests for calendars, by calendar applications, and for resumes, by the hiring platform; false for any
 * other request. The secret in the address is the only key: unknown and revoked addresses get the same answer. `store`
 * is undefined until it is open.
 */
export function createSecretPages(store: () => Store | undefined) {
  const asked = new Map<string, { since: number; times: number }>();
  let looks = 0;
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
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    { token, page: { read, headers } }: { token: string; page: (typeof PAGES)[number] },
  ): Promise<void> => {
    const opened = store();
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, { allow: 'GET, HEAD' });
    const tooOften = (afterMs: number): void => end(response, 429, { 'retry-after': String(afterMs / 1000) });
    const isKnown = asked.has(token);
    if (isKnown && timesOf(token, 1) > RATE.ofOne) return tooOften(RATE.perMs);
    if (!isKnown && timesOf(UNKNOWN, 0) >= RATE.ofUnknown && looks >= LOOKS_AT_ONCE) return tooOften(1_000);
    if (opened === undefined) return end(response, 503, { 'retry-after': '1' });
    looks += 1;
    const shown = await read(opened, token).finally(() => {
      looks -= 1;
    });
    // Many wrong guesses must not keep out a request for a right address.
    if (shown === undefined) return timesOf(UNKNOWN, 1) > RATE.ofUnknown ? tooOften(RATE.perMs) : end(response, 404);
    if (!isKnown) timesOf(token, 1);
    end(response, 200, headers, request.method === 'HEAD' ? '' : shown);
  };
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (!/^\/(?:calendars|resumes)\//.test(path)) return false;
    const [asked] = PAGES.flatMap((page) => (page.path.exec(path)?.slice(1) ?? []).map((token) => ({ token, page })));
    // Discards any body.
    request.resume();
    if (asked === undefined) end(response, 404);
    else answer(request, response, asked).catch(() => end(response, 503, { 'retry-after': '5' }));
    return true;
  };
}

function end(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
) {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }).end(body);
}

const HALF_AN_HOUR_MS = 30 * 60_000;

/**
 * Renders RFC 5545. Times are in UTC, which calendars show in their owner's zone; the schedule's own time is in the
 * description. The person appears only as the id of their application: the hiring platform shows who they are.
 */
async function renderCalendar(feed: CalendarFeed, events: readonly CalendarEvent[]): Promise<string> {
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
      summary: `${event.title ?? 'Interview'}${event.attendance === 'NO_SHOW' ? ' (no-show)' : ''}`,
      description: describe(event),
      status: event.cancelled_at === null ? ICalEventStatus.CONFIRMED : ICalEventStatus.CANCELLED,
    });
  }
  return calendar.toString();
}

const ATTENDANCE: Readonly<Record<string, string>> = { NO_SHOW: 'Did not attend.', CHECKED_IN: 'Attended.' };

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
