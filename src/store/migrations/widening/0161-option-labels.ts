import { type Kysely, sql } from 'kysely';

/** Labels of select fields: which entry of the HR system's list bears it or bore it, and what becomes of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table option_labels (tenant_id text not null, field_id text not null, label text not null,
    entry_id text, missed_run text, leaving integer default 0 not null,
    constraint option_labels_key primary key (tenant_id, field_id, label))`.execute(db);
}
