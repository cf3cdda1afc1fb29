import { createHash, randomBytes } from 'node:crypto';
import { audit } from './audit.ts';
import { didChange, has, inTransaction, put, type Store } from './open-store.ts';
import type { CalendarEvent, CalendarFeed } from './push-tables.ts';

// Booked slots as calendars show them, and the addresses that serve them.

/** Every event of a tenant, by booking id. */
export async function readCalendar({ kysely }: Store, tenantId: string): Promise<Map<string, CalendarEvent>> {
  const rows = await kysely.selectFrom('calendar_events').selectAll().where('tenant_id', '=', tenantId).execute();
  return new Map(rows.map((row) => [row.booking_id, row]));
}

/** Saves the current state of some events, and deletes events that ended before `endedBefore` (UTC, ISO text). */
export async function saveCalendar(
  { kysely, now }: Store,
  tenantId: string,
  { events, endedBefore }: { events: readonly Omit<CalendarEvent, 'changed_at'>[]; endedBefore: string },
): Promise<void> {
  await kysely.transaction().execute(async (trx) => {
    const rows = events.map((event) => ({ ...event, changed_at: now }));
    await put({ kysely: trx }, 'calendar_events', rows, { key: ['tenant_id', 'booking_id'], set: SHOWN });
    await trx
      .deleteFrom('calendar_events')
      .where('tenant_id', '=', tenantId)
      .where('starts_at', '<', endedBefore)
      .execute();
  });
}

/** What may change of a booking. */
const SHOWN = [
  ...(['schedule_id', 'title', 'timezone', 'entity_type', 'entity_id', 'starts_at', 'ends_at'] as const),
  ...(['attendance', 'sequence', 'changed_at', 'missed', 'cancelled_at'] as const),
];

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** 256 bits, so that nobody can guess an address. */
const TOKEN_BYTES = 32;

/** Makes an address and returns its secret part, which is stored nowhere. Without `schedules` it shows them all. */
export async function makeFeed(
  store: Store,
  { tenantId, schedules, by }: { tenantId: string; schedules: readonly string[]; by: string },
): Promise<{ feedId: string; token: string }> {
  const [feedId, token] = [randomBytes(6).toString('hex'), randomBytes(TOKEN_BYTES).toString('base64url')];
  const shown = schedules.length === 0 ? null : JSON.stringify(schedules);
  const feed = { feed_id: feedId, tenant_id: tenantId, token_hash: hashOf(token), schedules: shown };
  await store.kysely.transaction().execute(async (kysely) => {
    const made = { ...feed, made_at: store.now, made_by: by, revoked_at: null };
    await kysely.insertInto('calendar_feeds').values(made).execute();
    await audit({ ...store, kysely }, { by, tenantId, act: 'calendar-made', details: feedId });
  });
  return { feedId, token };
}

/** A tenant's addresses, newest first, revoked ones too. */
export function listFeeds({ kysely }: Store, tenantId: string): Promise<CalendarFeed[]> {
  const own = kysely.selectFrom('calendar_feeds').selectAll().where('tenant_id', '=', tenantId);
  return own.orderBy('made_at', 'desc').execute();
}

/** Revokes an address. False if the tenant has no such address or it is revoked already. */
export async function revokeFeed(
  store: Store,
  { tenantId, feedId, by }: { tenantId: string; feedId: string; by: string },
): Promise<boolean> {
  return inTransaction(store, async (trx) => {
    const revoking = trx.kysely
      .updateTable('calendar_feeds')
      .set({ revoked_at: store.now })
      .where(has({ tenant_id: tenantId, feed_id: feedId, revoked_at: null }));
    if (!(await didChange(revoking))) return false;
    await audit(trx, { by, tenantId, act: 'calendar-revoked', details: feedId });
    return true;
  });
}

/** The events that an address shows; undefined if it is unknown or revoked, or its tenant was removed. */
export async function readFeed(
  { kysely }: Store,
  token: string,
): Promise<{ feed: CalendarFeed; events: CalendarEvent[] } | undefined> {
  const feed = await kysely
    .selectFrom('calendar_feeds')
    .selectAll('calendar_feeds')
    .innerJoin('tenants', 'tenants.tenant_id', 'calendar_feeds.tenant_id')
    .where('token_hash', '=', hashOf(token))
    .where(has({ revoked_at: null, 'tenants.removed_at': null }))
    .executeTakeFirst();
  if (feed === undefined) return undefined;
  const own = kysely.selectFrom('calendar_events').selectAll().where('tenant_id', '=', feed.tenant_id);
  const schedules = feed.schedules === null ? undefined : (JSON.parse(feed.schedules) as string[]);
  const shown = schedules === undefined ? own : own.where('schedule_id', 'in', schedules);
  return { feed, events: await shown.orderBy('starts_at').orderBy('booking_id').execute() };
}
