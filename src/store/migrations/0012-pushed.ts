import { type Kysely, sql } from 'kysely';

/** What the HR system knows first and the partner is told: requisitions that become jobs, employees that change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table requisitions (tenant_id text not null, requisition_id text not null, state text not null,
    attempt integer not null, job_id text, hold_id text, sent_at bigint, give_up_at bigint, run_id text,
    constraint requisitions_key primary key (tenant_id, requisition_id))`.execute(db);
  await sql`create table employments (tenant_id text not null, employee_id text not null, written_id text not null,
    status text not null, written_at bigint not null,
    constraint employments_key primary key (tenant_id, employee_id))`.execute(db);
  await sql`create table change_cursors (tenant_id text not null, connection text not null, cursor text not null,
    began_at bigint not null, constraint change_cursors_key primary key (tenant_id, connection))`.execute(db);
}
