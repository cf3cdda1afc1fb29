import { type Kysely, sql } from 'kysely';

/** Documents of a hire on their way into the employee's record: what became of each, and when a hire was looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table hire_documents (tenant_id text not null, job_candidate_id text not null,
    period integer not null, document text not null, state text not null, attempt integer not null, sha256 text,
    reason text, sent_at bigint, give_up_at bigint, run_id text,
    constraint hire_documents_key primary key (tenant_id, job_candidate_id, period, document))`.execute(db);
  await sql`create table document_looks (tenant_id text not null, job_candidate_id text not null,
    period integer not null, looked_at bigint not null, again integer not null,
    constraint document_looks_key primary key (tenant_id, job_candidate_id, period))`.execute(db);
}
