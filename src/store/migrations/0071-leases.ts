import { type Kysely, sql } from 'kysely';

/** What one process does for all of them, and until when nobody else does. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table leases (name text primary key, holder text not null,
    leased_until bigint not null)`.execute(db);
}
