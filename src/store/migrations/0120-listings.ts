import { type Kysely, sql } from 'kysely';

/**
 * What the console's lists are read by, a page at a time: newest hires, oldest holds, latest acts. What reads the inbox
 * stands in 0106, because webhooks must not wait for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index hires_by_state`.execute(db);
  await sql`create index hires_by_state on hires (tenant_id, state, opened_at)`.execute(db);
  await sql`create index hires_newest on hires (state, opened_at)`.execute(db);
  await sql`create index holds_by_time on holds (opened_at, hold_id)`.execute(db);
  await sql`create index holds_waiting on holds (opened_at, hold_id) where closed_at is null`.execute(db);
  await sql`create index audit_by_time on audit (at)`.execute(db);
}
