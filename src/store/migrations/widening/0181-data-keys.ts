import type { Kysely } from 'kysely';

/** Keys that encrypt a tenant's values, each wrapped by a master key. A store in SQLite has them in another file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('data_keys')
    .ifNotExists()
    .addColumn('key_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('nth', 'integer', (c) => c.notNull())
    .addColumn('wrapped', 'text', (c) => c.notNull())
    .addColumn('master_key', 'text', (c) => c.notNull())
    .addColumn('made_at', 'bigint', (c) => c.notNull())
    .addColumn('swept_at', 'bigint')
    .addUniqueConstraint('data_keys_nth', ['tenant_id', 'nth'])
    .execute();
}
