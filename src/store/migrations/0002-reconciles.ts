import { type Kysely, sql } from 'kysely';

/** Where a reconcile stands, and whom it has seen so far, so that another process can go on from there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table reconciles (tenant_id text primary key, kind text not null, plan text not null,
    position text not null, counts text not null, holder text not null, started_at bigint not null,
    updated_at bigint not null)`.execute(db);
  await sql`create table seen_people (tenant_id text not null, job_candidate_id text not null, candidate_id text,
    job_id text, seen text not null, trace text,
    constraint seen_people_key primary key (tenant_id, job_candidate_id))`.execute(db);
  await sql`create index seen_people_by_job on seen_people (tenant_id, job_id)`.execute(db);
}
