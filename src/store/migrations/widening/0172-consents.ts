import { type Kysely, sql } from 'kysely';

/** What was last read of the consent of each application, where a tenant asks for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table consents (tenant_id text not null, job_candidate_id text not null, candidate_id text not null,
    state text not null, shown text not null,
    constraint consents_key primary key (tenant_id, job_candidate_id))`.execute(db);
  await sql`create index consents_person on consents (tenant_id, candidate_id)`.execute(db);
}
