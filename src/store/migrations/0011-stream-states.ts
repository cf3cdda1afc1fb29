import { type Kysely, sql } from 'kysely';

/** How a stream stands beyond its latest run: paused, held, when it was last read whole, and who was missing then. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One statement each: SQLite adds one column at a time.
  await sql`alter table streams add column mode text`.execute(db);
  await sql`alter table streams add column segment integer default 0 not null`.execute(db);
  await sql`alter table streams add column seen_before integer default 0 not null`.execute(db);
  await sql`alter table streams add column tally text`.execute(db);
  await sql`alter table hints add column gone integer default 0 not null`.execute(db);
  await sql`create table stream_states (tenant_id text not null, stream text not null, paused_by text, paused_at bigint,
    held_code text, held_message text, held_at bigint, allowed_code text, allowed_by text, whole_at bigint,
    listed integer, landed integer, mapping_hash text,
    constraint stream_states_key primary key (tenant_id, stream))`.execute(db);
  await sql`create table stream_pages (tenant_id text not null, stream text not null, page integer not null,
    ids text not null, constraint stream_pages_key primary key (tenant_id, stream, page))`.execute(db);
  await sql`create table stream_missing (tenant_id text not null, stream text not null, record_id text not null,
    run_id text not null, since bigint not null, believed_at bigint,
    constraint stream_missing_key primary key (tenant_id, stream, record_id))`.execute(db);
}
