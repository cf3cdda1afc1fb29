import { type Kysely, sql } from 'kysely';

/** One row per lead and job: a rule made this lead a candidate of this job, or is about to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table sourced_leads (tenant_id text not null, lead_id text not null, job_id text not null,
    state text not null, attempt integer not null, candidate_id text, job_candidate_id text, write_id text, code text,
    sent_at bigint, give_up_at bigint, decided_at bigint,
    constraint sourced_leads_key primary key (tenant_id, lead_id, job_id))`.execute(db);
  await sql`create index sourced_leads_person on sourced_leads (tenant_id, candidate_id)`.execute(db);
}
