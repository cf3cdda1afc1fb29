import { type Kysely, sql } from 'kysely';

/** Who is frozen, in a table of its own: a freeze waits for no row that other work may hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table freezes (tenant_id text primary key, frozen_at bigint not null,
    frozen_by text not null)`.execute(db);
  await sql`
    insert into freezes (tenant_id, frozen_at, frozen_by)
    select '', frozen_at, coalesce(frozen_by, '') from installation where frozen_at is not null
    union all
    select tenant_id, frozen_at, coalesce(frozen_by, '') from tenants where frozen_at is not null
  `.execute(db);
}
