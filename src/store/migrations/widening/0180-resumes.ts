import { type Kysely, sql } from 'kysely';

/** Files of the customer that become candidates of a job, once for each file and job. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table resumes (tenant_id text not null, resume_id text not null, job_id text not null,
    state text not null, attempt integer not null, url text, token text unique, content text, batch_id text,
    candidate_id text, write_id text, code text, sent_at bigint, give_up_at bigint, decided_at bigint,
    constraint resumes_key primary key (tenant_id, resume_id, job_id))`.execute(db);
  await sql`create index resumes_open on resumes (tenant_id, state)`.execute(db);
  await sql`create index resumes_person on resumes (tenant_id, candidate_id)`.execute(db);
}
