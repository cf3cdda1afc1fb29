import { type Kysely, sql } from 'kysely';

/** Alarms that are told, deliveries that are stuck or wait, and a tenant's daily digest. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alarms add column notified_at bigint`.execute(db);
  await sql`alter table tenants add column notify_until bigint`.execute(db);
  await sql`alter table tenants add column digested_on text`.execute(db);
  await sql`create index inbox_stuck on inbox (tenant_id, state, event, received_at)
    where state in ('unknown', 'undeliverable')`.execute(db);
  await sql`create index inbox_waiting on inbox (tenant_id) where state = 'waiting'`.execute(db);
  await sql`create index hires_by_end on hires (tenant_id, ended_at)`.execute(db);
  await sql`create index hires_by_start on hires (tenant_id, opened_at)`.execute(db);
  await sql`create index holds_by_start on holds (tenant_id, opened_at)`.execute(db);
}
