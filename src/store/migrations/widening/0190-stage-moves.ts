import { type Kysely, sql } from 'kysely';

/** One row for each flow and application whose person completed the flow and was therefore moved to another stage. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table stage_moves (tenant_id text not null, flow text not null, job_candidate_id text not null,
    candidate_id text not null, stage_id text not null, state text not null, attempt integer not null, write_id text,
    code text, sent_at bigint, give_up_at bigint, decided_at bigint,
    constraint stage_moves_key primary key (tenant_id, flow, job_candidate_id))`.execute(db);
  await sql`create index stage_moves_open on stage_moves (tenant_id, state)`.execute(db);
}
