import type { Kysely } from 'kysely';

/** Booked slots as calendars show them, and the addresses where they do. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('calendar_events')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('booking_id', 'text', (c) => c.notNull())
    .addColumn('schedule_id', 'text', (c) => c.notNull())
    .addColumn('title', 'text')
    .addColumn('timezone', 'text')
    .addColumn('entity_type', 'text')
    .addColumn('entity_id', 'text')
    .addColumn('starts_at', 'text', (c) => c.notNull())
    .addColumn('ends_at', 'text')
    .addColumn('attendance', 'text')
    .addColumn('sequence', 'integer', (c) => c.notNull())
    .addColumn('changed_at', 'bigint', (c) => c.notNull())
    .addColumn('missed', 'integer', (c) => c.notNull())
    .addColumn('cancelled_at', 'bigint')
    .addPrimaryKeyConstraint('calendar_events_key', ['tenant_id', 'booking_id'])
    .execute();
  await db.schema
    .createTable('calendar_feeds')
    .addColumn('feed_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('token_hash', 'text', (c) => c.notNull().unique())
    .addColumn('schedules', 'text')
    .addColumn('made_at', 'bigint', (c) => c.notNull())
    .addColumn('made_by', 'text', (c) => c.notNull())
    .addColumn('revoked_at', 'bigint')
    .execute();
}
