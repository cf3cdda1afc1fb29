import { type Kysely, sql } from 'kysely';

/** Booked slots as calendars show them, and the addresses where they do. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table calendar_events (tenant_id text not null, booking_id text not null, schedule_id text not null,
    title text, timezone text, entity_type text, entity_id text, starts_at text not null, ends_at text, attendance text,
    sequence integer not null, changed_at bigint not null, missed integer not null, cancelled_at bigint,
    constraint calendar_events_key primary key (tenant_id, booking_id))`.execute(db);
  await sql`create table calendar_feeds (feed_id text primary key, tenant_id text not null,
    token_hash text not null unique, schedules text, made_at bigint not null, made_by text not null,
    revoked_at bigint)`.execute(db);
}
