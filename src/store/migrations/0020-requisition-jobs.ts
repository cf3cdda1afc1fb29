import type { Kysely } from 'kysely';

/** Finds the requisition that a job was made of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const index = db.schema.createIndex('requisitions_by_job').on('requisitions');
  await index.columns(['tenant_id', 'job_id', 'requisition_id']).execute();
}
