import { type Kysely, sql } from 'kysely';

/** Fields as both sides define them, what was seen to change of them, and which of them the mappings mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table fields (tenant_id text not null, side text not null, entity text not null,
    field_id text not null, definition text not null, first_seen_at bigint not null, gone_at bigint,
    constraint fields_key primary key (tenant_id, side, entity, field_id))`.execute(db);
  await sql`create table field_changes (tenant_id text not null, side text not null, entity text not null,
    field_id text not null, at bigint not null, before text, after text)`.execute(db);
  await sql`create index field_changes_of on field_changes (tenant_id, at)`.execute(db);
  await sql`create table field_matches (tenant_id text not null, path text not null, definition text not null,
    matched_at bigint not null, constraint field_matches_key primary key (tenant_id, path))`.execute(db);
}
