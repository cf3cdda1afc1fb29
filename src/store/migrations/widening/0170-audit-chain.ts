import { type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * Rows of the audit trail become links of chains, one a tenant and one of the installation. Rows of before, and of
 * processes of the version before, have no number until a worker seals them as they are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
  for (const column of COLUMNS)
    await sql`alter table audit add column ${sql.ref(column)} ${sql.raw(column === 'seq' ? 'bigint' : 'text')}`.execute(
      db,
    );
  await sql`create table audit_heads (chain text primary key, seq bigint not null, hash text not null,
    noted bigint default 0 not null)`.execute(db);
  await sql`create unique index audit_links on audit (chain, seq)`.execute(db);
  await sql`create index audit_unsealed on audit (tenant_id) where seq is null`.execute(db);
  for (const statement of isSqlite ? SQLITE : POSTGRES) await sql.raw(statement).execute(db);
}

const COLUMNS = ['chain', 'seq', 'actor', 'subject', 'salt', 'details_hash', 'sealed', 'prev', 'hash'];

/** An erasure may take words out of `details`, and takes the salt of their hash with them; nothing else changes. */
const FIXED = ['at', 'by', 'tenant_id', 'act', ...COLUMNS.filter((name) => name !== 'salt')];
const REFUSED = 'a sealed row of the audit trail stays as it is';

const isOther = (differs: string): string => FIXED.map((name) => `new."${name}" ${differs} old."${name}"`).join(' or ');

const SQLITE = [
  `create trigger audit_stays before delete on audit when old.seq is not null begin
    select raise(abort, '${REFUSED}');
  end`,
  `create trigger audit_fixed before update on audit
    when old.seq is not null and (new.salt is not null or ${isOther('is not')}) begin
    select raise(abort, '${REFUSED}');
  end`,
];

const POSTGRES = [
  `create function audit_refuse() returns trigger language plpgsql as $$ begin
    raise exception '${REFUSED}' using errcode = '42501';
  end $$`,
  `create trigger audit_stays before delete on audit for each row
    when (old.seq is not null) execute function audit_refuse()`,
  `create trigger audit_fixed before update on audit for each row
    when (old.seq is not null and (new.salt is not null or ${isOther('is distinct from')}))
    execute function audit_refuse()`,
  'create trigger audit_whole before truncate on audit for each statement execute function audit_refuse()',
];
