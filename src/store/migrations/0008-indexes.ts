import { type Kysely, sql } from 'kysely';

/** What is asked of the inbox for status, lists and retention, and of a person across the HR systems of a company. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index inbox_left on inbox (tenant_id, state, received_at)
    where state in ('undeliverable', 'other-company', 'unknown')`.execute(db);
  await sql`create index inbox_emptied on inbox (received_at) where body = '' and state <> 'waiting'`.execute(db);
  await sql`create index inbox_received on inbox (tenant_id, received_at)`.execute(db);
  await sql`create index claims_by_person on claims (partner_company, candidate_id)`.execute(db);
  await sql`create index links_by_candidate on links (partner_company, candidate_id)`.execute(db);
}
