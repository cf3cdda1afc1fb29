import { type Kysely, sql } from 'kysely';

/** Pages read a whole table for what they show: a hire by its id, acts, plans, reasons of holds, pairs left out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index hires_by_number on hires (job_candidate_id)`.execute(db);
  await sql`create index audit_by_person on audit (by, at)`.execute(db);
  await sql`create index audit_by_act on audit (act, at)`.execute(db);
  await sql`create index saved_plans_latest on saved_plans (tenant_id, planned_at)`.execute(db);
  await sql`create index holds_by_reason on holds (code, opened_at, hold_id)`.execute(db);
  await sql`create index exchange_pairs_missing on exchange_pairs (tenant_id, stream)
    where missing_side is not null and gone_at is null`.execute(db);
  await sql`create index exchange_pairs_in_doubt on exchange_pairs (tenant_id, stream) where sent <> '{}'`.execute(db);
}
