import type { Kysely } from 'kysely';

/** Fields as both sides define them, what was seen to change of them, and which of them the mappings mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('fields')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('side', 'text', (c) => c.notNull())
    .addColumn('entity', 'text', (c) => c.notNull())
    .addColumn('field_id', 'text', (c) => c.notNull())
    .addColumn('definition', 'text', (c) => c.notNull())
    .addColumn('first_seen_at', 'bigint', (c) => c.notNull())
    .addColumn('gone_at', 'bigint')
    .addPrimaryKeyConstraint('fields_key', ['tenant_id', 'side', 'entity', 'field_id'])
    .execute();
  await db.schema
    .createTable('field_changes')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('side', 'text', (c) => c.notNull())
    .addColumn('entity', 'text', (c) => c.notNull())
    .addColumn('field_id', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .execute();
  await db.schema.createIndex('field_changes_of').on('field_changes').columns(['tenant_id', 'at']).execute();
  await db.schema
    .createTable('field_matches')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('definition', 'text', (c) => c.notNull())
    .addColumn('matched_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('field_matches_key', ['tenant_id', 'path'])
    .execute();
}
