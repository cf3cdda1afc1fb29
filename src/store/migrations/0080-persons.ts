import { type Kysely, SqliteAdapter, sql } from 'kysely';
import { parse } from 'yaml';

/**
 * A person of an HR system is one record. Claims, links and identity leases become it, and are gone: a worker of an
 * earlier version can no longer note anything of a person behind the back of this one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
  if (!isSqlite) await sql`lock table claims, links, identity_leases in access exclusive mode`.execute(db);
  await createTables(db);
  await nameConnections(db as Kysely<Earlier>);
  for (const statement of moves) await statement.execute(db);
  for (const table of ['claims', 'links', 'identity_leases']) await sql`drop table ${sql.ref(table)}`.execute(db);
}

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`create table persons (person_id text primary key, connection text not null, version integer not null,
    tenant_id text, job_candidate_id text, period integer, is_abandoned integer not null, recorded text)`.execute(db);
  await sql`create table person_keys (scope text not null, kind text not null, value text not null,
    person_id text not null, company text, candidate_id text, tenant_id text, job_candidate_id text, period integer,
    employee_number text, how text, holder text, at bigint,
    constraint person_keys_key primary key (scope, kind, value))`.execute(db);
  await sql`create index persons_by_owner on persons (tenant_id, job_candidate_id, period)`.execute(db);
  await sql`create index person_keys_of_person on person_keys (person_id)`.execute(db);
  await sql`create index person_keys_by_value on person_keys (value, kind)`.execute(db);
  await sql`create index person_keys_by_hire on person_keys (tenant_id, job_candidate_id, period)`.execute(db);
  for (const [name, columns] of [
    ['employees_of_tenant', 'tenant_id, scope, value'],
    ['employees_of_candidate', 'tenant_id, candidate_id, scope'],
  ] as const)
    await sql`create index ${sql.ref(name)} on person_keys (${sql.raw(columns)}) where kind = 'employee'`.execute(db);
}

interface Earlier {
  tenants: { tenant_id: string; file: string | null };
  hires: { tenant_id: string; employee_id: string | null; connection: string | null };
}

/** An earlier version noted no connection where a hire's employee was linked to nobody: it is in the tenant's own. */
async function nameConnections(db: Kysely<Earlier>): Promise<void> {
  for (const { tenant_id: tenantId, file } of await db.selectFrom('tenants').select(['tenant_id', 'file']).execute()) {
    const tenant = (file === null ? undefined : parse(file)) as { hris?: { connection?: unknown } } | undefined;
    const connection = tenant?.hris?.connection;
    if (typeof connection !== 'string') continue;
    await db
      .updateTable('hires')
      .set({ connection })
      .where('tenant_id', '=', tenantId)
      .where('employee_id', 'is not', null)
      .where('connection', 'is', null)
      .execute();
  }
}

/** A claim on a person in all HR systems of a company names these in place of a connection. */
const OF_COMPANY = sql`like '* %'`;
const PERSON = sql`connection || ' ' || partner_company || ':' || candidate_id`;
const CANDIDATE = sql`partner_company || ':' || candidate_id`;

const moves = [
  sql`insert into persons (person_id, connection, version, tenant_id, job_candidate_id, period, is_abandoned, recorded)
    select ${PERSON}, connection, 1,
      case when how is null or how = 'removed' then tenant_id end,
      case when how is null or how = 'removed' then job_candidate_id end,
      case when how is null or how = 'removed' then period end,
      case when how = 'removed' then 1 else 0 end,
      case when how = 'removed' then null else recorded end
    from claims where connection not ${OF_COMPANY}`,
  // Of imports and of hires that are over there are links alone.
  sql`insert into persons (person_id, connection, version, is_abandoned)
    select distinct ${PERSON}, connection, 1, 0 from links
    where ${PERSON} not in (select person_id from persons)`,
  sql`insert into person_keys (scope, kind, value, person_id, company, candidate_id)
    select connection, 'candidate', ${CANDIDATE}, ${PERSON}, partner_company, candidate_id
    from (select connection, partner_company, candidate_id from claims where connection not ${OF_COMPANY}
      union select connection, partner_company, candidate_id from links) as known`,
  sql`insert into person_keys (scope, kind, value, person_id, company, candidate_id)
    select connection, 'company', ${CANDIDATE}, person_id, partner_company, candidate_id from (
      select claims.connection, claims.partner_company, claims.candidate_id, (
        select min(own.connection || ' ' || own.partner_company || ':' || own.candidate_id) from claims as own
        where own.partner_company = claims.partner_company and own.candidate_id = claims.candidate_id
          and own.tenant_id = claims.tenant_id and own.how is null and own.connection not ${OF_COMPANY}
      ) as person_id
      from claims where claims.connection ${OF_COMPANY}) as ours
    where person_id is not null`,
  sql`insert into person_keys (scope, kind, value, person_id, company, candidate_id, tenant_id, job_candidate_id,
      period, employee_number, how, at)
    select connection, 'employee', employee_id, ${PERSON}, partner_company, candidate_id, tenant_id, job_candidate_id,
      period, employee_number,
      case when period = 0 then 'imported' when exists (select 1 from intents
        where intents.tenant_id = links.tenant_id and intents.job_candidate_id = links.job_candidate_id
          and intents.period = links.period and intents.verb = 'create-employee' and intents.outcome = 'done')
        then 'made' else 'linked' end,
      linked_at
    from links`,
  sql`insert into person_keys (scope, kind, value, person_id, tenant_id, job_candidate_id, period, holder, at)
    select scope, 'creating', key, person_id, tenant_id, job_candidate_id, period, holder, leased_until from (
      select identity_leases.connection as scope, identity_leases.key, identity_leases.tenant_id,
        identity_leases.job_candidate_id, identity_leases.period, identity_leases.holder,
        identity_leases.leased_until, (
          select min(named.person_id) from hires join person_keys as named
            on named.kind = 'candidate' and named.candidate_id = hires.candidate_id
          where named.scope = identity_leases.connection and hires.tenant_id = identity_leases.tenant_id
            and hires.job_candidate_id = identity_leases.job_candidate_id and hires.period = identity_leases.period
        ) as person_id
      from identity_leases) as leases
    where person_id is not null`,
];
