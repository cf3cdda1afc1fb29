import type { Kysely } from 'kysely';

/** The shared paces. Never edited; a change is a new migration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('paces')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('upstream', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('pace', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('paces_key', ['tenant_id', 'upstream'])
    .execute();
}
