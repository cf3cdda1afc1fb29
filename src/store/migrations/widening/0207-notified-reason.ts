import { type Kysely, sql } from 'kysely';

/** The reason that the alarm had when the tenant was last notified of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alarms add column notified_reason text`.execute(db);
}
