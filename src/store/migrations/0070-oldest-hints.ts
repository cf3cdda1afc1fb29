import { type Kysely, sql } from 'kysely';

/** Since when the oldest hint of a stream has waited, and the next ones to follow, without reading the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index hints_by_time on hints (tenant_id, stream, hinted_at)`.execute(db);
}
