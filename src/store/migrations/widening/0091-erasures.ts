import type { Kysely } from 'kysely';

/** People who were erased or may not be, by keyed hashes of their ids, and the erasures that are asked for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('person_marks')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('mark', 'text', (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('by', 'text', (c) => c.notNull())
    .addColumn('about', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('person_marks_key', ['tenant_id', 'mark', 'digest'])
    .execute();
  await db.schema
    .createTable('person_mark_keys')
    .addColumn('mark_key', 'text', (c) => c.primaryKey())
    .addColumn('made_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('erasures')
    .addColumn('erasure_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('employee', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('by', 'text', (c) => c.notNull())
    .addColumn('asked_at', 'bigint', (c) => c.notNull())
    .addColumn('quiet_at', 'bigint', (c) => c.notNull())
    .addColumn('found', 'text', (c) => c.notNull())
    .addColumn('done_at', 'bigint')
    .addColumn('receipt', 'text')
    .execute();
}
