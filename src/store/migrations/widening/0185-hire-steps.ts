import { type Kysely, sql } from 'kysely';

/** What becomes of a finished hire in each further destination of its tenant. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('hire_steps')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('destination', 'text', (c) => c.notNull())
    .addColumn('reference', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text')
    .addColumn('plan', 'text')
    .addColumn('account_id', 'text')
    .addColumn('code', 'text')
    .addColumn('reason', 'text')
    .addColumn('hold_id', 'text')
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('done_at', 'bigint')
    .addPrimaryKeyConstraint('hire_steps_key', ['tenant_id', 'job_candidate_id', 'period', 'destination'])
    .execute();
  // One account a person: of their hires one at a time may be making it.
  await db.schema
    .createIndex('hire_steps_sending')
    .unique()
    .on('hire_steps')
    .columns(['destination', 'reference'])
    .where(sql<boolean>`state = 'sending'`)
    .execute();
  await db.schema.createIndex('hire_steps_person').on('hire_steps').columns(['destination', 'reference']).execute();
  await db.schema
    .createIndex('hire_steps_open')
    .on('hire_steps')
    .columns(['tenant_id', 'destination'])
    .where(sql<boolean>`state <> 'done'`)
    .execute();
}
