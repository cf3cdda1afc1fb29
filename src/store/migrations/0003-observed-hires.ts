import { type Kysely, sql } from 'kysely';

/** Hires that are recorded and not started: what they would come to, or why they are not this tenant's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table hires add column observed text`.execute(db);
  await sql`alter table hires add column passed_over text`.execute(db);
  await sql`create index hires_observed on hires (tenant_id, opened_at) where observed is not null`.execute(db);
  await sql`create index hints_starts on hints (tenant_id) where stream = 'starts'`.execute(db);
}
