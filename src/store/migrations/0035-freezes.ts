import { type Kysely, sql } from 'kysely';

/** Who is frozen, in a table of its own: a freeze waits for no row that other work may hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('freezes')
    .addColumn('tenant_id', 'text', (c) => c.primaryKey())
    .addColumn('frozen_at', 'bigint', (c) => c.notNull())
    .addColumn('frozen_by', 'text', (c) => c.notNull())
    .execute();
  await sql`
    insert into freezes (tenant_id, frozen_at, frozen_by)
    select '', frozen_at, coalesce(frozen_by, '') from installation where frozen_at is not null
    union all
    select tenant_id, frozen_at, coalesce(frozen_by, '') from tenants where frozen_at is not null
  `.execute(db);
}
