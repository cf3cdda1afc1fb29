import { type Kysely, sql } from 'kysely';

/** What becomes of a finished hire in each further destination of its tenant. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table hire_steps (tenant_id text not null, job_candidate_id text not null, period integer not null,
    destination text not null, reference text not null, state text not null, run_id text, plan text, account_id text,
    code text, reason text, hold_id text, updated_at bigint not null, done_at bigint,
    constraint hire_steps_key primary key (tenant_id, job_candidate_id, period, destination))`.execute(db);
  // One account a person: of their hires one at a time may be making it.
  await sql`create unique index hire_steps_sending on hire_steps (destination, reference)
    where state = 'sending'`.execute(db);
  await sql`create index hire_steps_person on hire_steps (destination, reference)`.execute(db);
  await sql`create index hire_steps_open on hire_steps (tenant_id, destination) where state <> 'done'`.execute(db);
}
