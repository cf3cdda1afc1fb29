import { type Kysely, sql } from 'kysely';

/** Which event waits for longest is asked in each round, however many wait. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index events_out_untaken on events_out (tenant_id, event_no) where taken_at is null`.execute(db);
}
