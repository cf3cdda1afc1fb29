import { type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * What is told to the outside, as it came about. Triggers write it in the transaction of what it tells, whichever
 * version makes that change, and only for tenants that have somebody to tell it to.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
  const number = isSqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key';
  const id = isSqlite ? '(lower(hex(randomblob(12))))' : `replace(gen_random_uuid()::text, '-', '')`;
  const clock = isSqlite
    ? "(cast(unixepoch('subsec') * 1000 as integer))"
    : '((extract(epoch from clock_timestamp()) * 1000)::bigint)';
  await sql
    .raw(`create table events_out (
      event_no ${number},
      event_id text not null unique default ${id},
      tenant_id text not null,
      job_candidate_id text not null default '',
      period integer,
      type text not null,
      facts text not null,
      at bigint not null default ${clock},
      tries integer not null default 0,
      due_at bigint not null default 0,
      taken_at bigint,
      last_error text
    )`)
    .execute(db);
  await sql`create index events_out_waiting on events_out (tenant_id, job_candidate_id, event_no)
    where taken_at is null`.execute(db);
  for (const { table, when, after, values } of TOLD)
    for (const [at, event] of after.entries())
      for (const statement of isSqlite
        ? sqliteTrigger(`events_out_${table}_${at}`, { table, event, when, values: values('json_object') })
        : postgresTrigger(`events_out_${table}_${at}`, { table, event, when, values: values('json_build_object') }))
        await sql.raw(statement).execute(db);
}

interface Told {
  table: string;
  /** What it comes after, and in which case: by the row before, `old`, and the one of now, `new`. */
  after: string[];
  when: (event: string) => string;
  /** job_candidate_id, period, type, facts. */
  values: (object: string) => string;
}

const TOLD: readonly Told[] = [
  {
    table: 'hires',
    after: ['update of state'],
    when: () =>
      "new.state <> old.state and (new.state = 'done' or new.state = 'left' and old.state <> 'before-go-live')",
    values: (object) =>
      "new.job_candidate_id, new.period, case new.state when 'done' then 'hire.completed' else 'hire.left' end, " +
      `${object}('candidateId', new.candidate_id, 'jobId', new.job_id, 'connection', new.connection, ` +
      "'employeeId', new.employee_id, 'employeeNumber', new.employee_number)",
  },
  {
    table: 'holds',
    after: ['insert', 'update of closed_at'],
    when: (event) =>
      event === 'insert'
        ? 'new.job_candidate_id is not null'
        : 'new.job_candidate_id is not null and old.closed_at is not null and new.closed_at is null',
    values: (object) =>
      `new.job_candidate_id, new.period, 'hire.held', ${object}('holdId', new.hold_id, 'code', new.code)`,
  },
  {
    table: 'alarms',
    after: ['insert', 'update of raised_at'],
    when: (event) => (event === 'insert' ? '' : 'old.raised_at is null and ') + 'new.raised_at is not null',
    values: (object) =>
      `'', null, 'alarm.raised', ${object}('kind', new.kind, 'subject', new.subject, 'reason', new.reason)`,
  },
];

interface Trigger extends Pick<Told, 'table' | 'when'> {
  event: string;
  values: string;
}

/** Applied with somebody to tell: what `receives` says, so that it holds from the moment it is applied. */
const IS_TOLD = `exists (
  select 1 from tenants where tenants.tenant_id = new.tenant_id and tenants.receives like '%"events":true%')`;

function sqliteTrigger(name: string, { table, event, when, values }: Trigger): string[] {
  return [
    `create trigger ${name} after ${event} on ${table} when ${when(event)} and ${IS_TOLD} begin
      insert into events_out (tenant_id, job_candidate_id, period, type, facts) values (new.tenant_id, ${values});
    end`,
  ];
}

function postgresTrigger(name: string, { table, event, when, values }: Trigger): string[] {
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin
      if ${IS_TOLD} then
        insert into events_out (tenant_id, job_candidate_id, period, type, facts) values (new.tenant_id, ${values});
      end if;
      return null;
    end $$`,
    `create trigger ${name} after ${event} on ${table} for each row when (${when(event)}) execute function ${name}()`,
  ];
}
