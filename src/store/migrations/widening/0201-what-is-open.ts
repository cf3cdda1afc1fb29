import type { Kysely } from 'kysely';
import { createIndexes } from '../../create-indexes.ts';

/** Hires go on meanwhile. */
export const OUTSIDE_TRANSACTION = true;

/** What rounds look for in tables whose old rows stay: however many those are, they are not read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, {
    intents_open: `on intents (tenant_id, give_up_at) where outcome = 'open'`,
    field_conflicts_kept:
      'on field_conflicts (tenant_id, since) where partner_value is not null or hris_value is not null',
    hire_documents_open: `on hire_documents (tenant_id) where state in ('refused', 'unlike')`,
    hire_documents_of_run: 'on hire_documents (tenant_id, run_id)',
    person_keys_creating: `on person_keys (tenant_id) where kind = 'creating'`,
  });
}
