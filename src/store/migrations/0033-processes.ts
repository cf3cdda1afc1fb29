import { type Kysely, sql } from 'kysely';

/** Who runs, so that nobody believes a fleet that stands still, and when each side of a tenant last answered. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table processes (process_id text primary key, role text not null, version text not null,
    host text not null, started_at bigint not null, seen_at bigint not null, ended_at bigint)`.execute(db);
  await sql`create table answers (tenant_id text not null, side text not null, answered_at bigint not null,
    constraint answers_key primary key (tenant_id, side))`.execute(db);
}
