import { type Kysely, sql } from 'kysely';

/** One row for each label of a select field: its entry in the HR system's list, and whether the label is going away. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table option_labels (tenant_id text not null, field_id text not null, label text not null,
    entry_id text, missed_run text, leaving integer default 0 not null,
    constraint option_labels_key primary key (tenant_id, field_id, label))`.execute(db);
}
