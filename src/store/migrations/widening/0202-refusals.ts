import { type Kysely, sql } from 'kysely';

/** What an HR system said as it refused a request of a hire, until the hire's question is opened. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table refusals (tenant_id text not null, job_candidate_id text not null, period integer not null,
    code text not null, message text not null, refused_at bigint not null,
    constraint refusals_key primary key (tenant_id, job_candidate_id, period))`.execute(db);
}
