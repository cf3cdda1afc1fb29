import { type Kysely, sql } from 'kysely';

/** Events that were taken are kept for a time: they are listed by tenant, and end by when they were taken. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index events_out_by_tenant on events_out (tenant_id, event_no)`.execute(db);
  await sql`create index events_out_taken on events_out (taken_at) where taken_at is not null`.execute(db);
}
