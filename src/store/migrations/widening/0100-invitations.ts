import { type Kysely, sql } from 'kysely';

/** Whom a rule invited to an assessment, or is about to: once for each person and assessment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table invitations (tenant_id text not null, assessment_id text not null, candidate_id text not null,
    job_candidate_id text not null, state text not null, attempt integer not null, in_doubt integer not null,
    batch_id text, write_id text, code text, sent_at bigint, give_up_at bigint, decided_at bigint,
    constraint invitations_key primary key (tenant_id, assessment_id, candidate_id))`.execute(db);
  await sql`create index invitations_open on invitations (tenant_id, state)`.execute(db);
}
