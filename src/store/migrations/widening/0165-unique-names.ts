import { type Kysely, sql } from 'kysely';

/** User names and work e-mails that hires were given: each is one hire's in its HR system, and each hire has one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table unique_names (connection text not null, place text not null, name_key text not null,
    tenant_id text not null, job_candidate_id text not null, period integer not null, field text not null,
    name text not null, constraint unique_names_key primary key (connection, place, name_key),
    constraint unique_names_hire unique (tenant_id, job_candidate_id, period, field))`.execute(db);
}
