import { type Kysely, sql } from 'kysely';

/** People who were erased or may not be, by keyed hashes of their ids, and the erasures that are asked for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table person_marks (tenant_id text not null, mark text not null, digest text not null,
    at bigint not null, by text not null, about text not null,
    constraint person_marks_key primary key (tenant_id, mark, digest))`.execute(db);
  await sql`create table person_mark_keys (mark_key text primary key, made_at bigint not null)`.execute(db);
  await sql`create table erasures (erasure_id text primary key, tenant_id text not null, subject text not null,
    employee text not null, reason text not null, by text not null, asked_at bigint not null, quiet_at bigint not null,
    found text not null, done_at bigint, receipt text)`.execute(db);
}
