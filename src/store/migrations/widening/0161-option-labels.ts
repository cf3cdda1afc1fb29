import type { Kysely } from 'kysely';

/** Labels of select fields: which entry of the HR system's list bears it or bore it, and what becomes of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('option_labels')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('field_id', 'text', (c) => c.notNull())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('entry_id', 'text')
    .addColumn('missed_run', 'text')
    .addColumn('leaving', 'integer', (c) => c.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('option_labels_key', ['tenant_id', 'field_id', 'label'])
    .execute();
}
