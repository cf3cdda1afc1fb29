import { type Kysely, sql } from 'kysely';

/** Keys that encrypt a tenant's values, each wrapped by a master key. A store in SQLite has them in another file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table if not exists data_keys (key_id text primary key, tenant_id text not null, nth integer not
    null, wrapped text not null, master_key text not null, made_at bigint not null, swept_at bigint, constraint
    data_keys_nth unique (tenant_id, nth))`.execute(db);
}
