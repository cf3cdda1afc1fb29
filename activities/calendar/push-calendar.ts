import { contract } from '../../src/partner/contract/index.ts';
import { readCalendar, saveCalendar } from '../../src/store/calendars.ts';
import { readClock } from '../../src/store/open-store.ts';
import type { CalendarEvent } from '../../src/store/push-tables.ts';
import { forgetAllowed } from '../../src/store/streams.ts';
import { pullStreams } from '../../src/streams/streams.ts';
import { erasedRecords } from '../../src/streams/without-erased.ts';
import { readText } from '../../src/values/transforms.ts';
import { assertFew, type PushContext, tell } from '../push/push-context.ts';

/**
 * Stores booked slots, with name and time zone of their schedule, for the tenant's calendar addresses. No event reports
 * bookings (section 6), so both lists are read. A changed event gets a higher sequence number, as calendars require. A
 * booking that two passes in a row do not show is cancelled.
 */
export async function pushCalendar(context: PushContext): Promise<void> {
  const { deps, connection, key, beat } = context;
  const { partner } = connection;
  const schedules = await partner.readAll(contract.bookingSchedules.list, {});
  beat();
  const bookings = await partner.readAll(contract.bookings.list, {});
  beat();
  const names = new Map(schedules.items.map(({ id, name, timezone }) => [String(id), { name, timezone }]));
  const known = await readCalendar(deps.store, key.tenantId);
  const now = await readClock(deps.store);
  for (const { id, index, reason } of bookings.unreadable)
    tell(context, id ?? `booking ${index + 1}`, 'quarantined', reason);
  const shown = new Set<string>();
  const changed: Event[] = [];
  const records = bookings.items.flatMap((item) => pullStreams.bookings.toRecords?.(item, {}) ?? []);
  const items = records.map((item): Booking => ({ ...item, id: String(item['id']) }));
  const erased = await erasedRecords(deps.store, key, items);
  for (const { id, ...booking } of items) {
    if (erased.has(id)) continue;
    const startsAt = instantOf(booking['scheduledStartAt']);
    if (startsAt === undefined) {
      tell(context, id, 'quarantined', 'scheduledStartAt: is no time');
      continue;
    }
    shown.add(id);
    const scheduleId = textOf(booking['bookingScheduleId']) ?? '';
    const { name, timezone } = names.get(scheduleId) ?? {};
    const event = {
      title: name ?? null,
      timezone: timezone ?? null,
      schedule_id: scheduleId,
      entity_type: textOf(booking['entityType']),
      entity_id: textOf(booking['entityId']),
      starts_at: startsAt,
      ends_at: instantOf(booking['scheduledEndAt']) ?? null,
      attendance: textOf(booking['attendance']),
    };
    const before = known.get(id);
    const isSame = Object.entries(event).every(([name, value]) => before?.[name as keyof CalendarEvent] === value);
    const isAsBefore = isSame && before?.cancelled_at === null;
    const kind = before === undefined ? 'created' : isAsBefore ? 'unchanged' : 'updated';
    tell(context, id, kind);
    const sequence = (before?.sequence ?? -1) + (kind === 'unchanged' ? 0 : 1);
    if (kind !== 'unchanged' || before?.missed !== 0)
      changed.push({ tenant_id: key.tenantId, booking_id: id, ...event, sequence, missed: 0, cancelled_at: null });
  }
  const gone = missed([...known.values()], shown, now);
  const cancelled = gone.filter((event) => event.cancelled_at !== null);
  const isSure = bookings.unreadable.length === 0;
  const most = Math.max(20, Math.floor(known.size / 2));
  const message = `${cancelled.length} booked slots would be cancelled in calendars in one run, more than ${most}.`;
  if (isSure) await assertFew(context, { fresh: cancelled.length, most, code: 'MASS_CANCELLED', message });
  const events = [...changed, ...(isSure ? gone : [])];
  await saveCalendar(deps.store, key.tenantId, { events, endedBefore: new Date(now - KEPT_MS).toISOString() });
  if (isSure) for (const { booking_id: id } of cancelled) tell(context, id, 'updated');
  await forgetAllowed(deps.store, key);
}

type Event = Omit<CalendarEvent, 'changed_at'>;
type Booking = Readonly<Record<string, unknown>> & { id: string };

/** How long a calendar shows past events. */
const KEPT_MS = 90 * 86_400_000;

/** Events that this pass did not show: noted the first time, cancelled the second time. Past events stay. */
function missed(known: readonly CalendarEvent[], shown: ReadonlySet<string>, now: number): Event[] {
  const left = known.filter((event) => !shown.has(event.booking_id) && event.cancelled_at === null);
  return left
    .filter(({ starts_at: startsAt }) => Date.parse(startsAt) > now)
    .map(({ changed_at: _changed, ...event }) =>
      event.missed === 0
        ? { ...event, missed: 1 }
        : { ...event, missed: event.missed + 1, sequence: event.sequence + 1, cancelled_at: now },
    );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function instantOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === null ? undefined : readText('instant', text);
}
