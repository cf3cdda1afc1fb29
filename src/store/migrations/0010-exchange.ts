import { type Kysely, sql } from 'kysely';

/** What both sides of a linked pair last agreed on, and where they do not. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table exchange_pairs (tenant_id text not null, stream text not null, pair_id text not null,
    bases text not null, sent text not null, version integer not null, settles_at bigint not null, missing_side text,
    missing_run text, gone_at bigint, updated_at bigint not null,
    constraint exchange_pairs_key primary key (tenant_id, stream, pair_id))`.execute(db);
  await sql`create table field_conflicts (conflict_id text primary key, tenant_id text not null, stream text not null,
    pair_id text not null, field text not null, kind text not null, code text, partner_form text, hris_form text,
    partner_value text, hris_value text, is_sensitive integer not null, kept text, times integer not null,
    since bigint not null, closed_at bigint)`.execute(db);
  await sql`create index field_conflicts_by_time on field_conflicts (tenant_id, since)`.execute(db);
  await sql`create unique index field_conflicts_open on field_conflicts (tenant_id, stream, pair_id, field)
    where closed_at is null`.execute(db);
  await sql`alter table streams add column cursor text`.execute(db);
  await sql`alter table streams add column skipped integer default 0 not null`.execute(db);
  await sql`alter table streams add column held integer default 0 not null`.execute(db);
}
