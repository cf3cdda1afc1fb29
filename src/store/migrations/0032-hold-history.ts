import { type Kysely, sql } from 'kysely';

/** Answers after which the same hold went on: a `retry` that found the cause still there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table holds add column history text default '[]' not null`.execute(db);
}
