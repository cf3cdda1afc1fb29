import { type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * How many hires each tenant has in each state. Triggers keep count, whichever version writes: counting the hires
 * themselves, which never end, would take longer each year.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table hire_counts (tenant_id text not null, state text not null, count bigint not null,
    constraint hire_counts_key primary key (tenant_id, state))`.execute(db);
  const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
  for (const statement of isSqlite ? sqliteTriggers : postgresTriggers) await sql.raw(statement).execute(db);
  await sql`
    insert into hire_counts (tenant_id, state, count)
    select tenant_id, state, count(*) from hires group by tenant_id, state`.execute(db);
}

const one = (row: 'old' | 'new', change: string): string => `
  insert or ignore into hire_counts (tenant_id, state, count) values (${row}.tenant_id, ${row}.state, 0);
  update hire_counts set count = count ${change} where tenant_id = ${row}.tenant_id and state = ${row}.state;`;

const sqliteTriggers = [
  `create trigger hire_counts_insert after insert on hires begin ${one('new', '+ 1')} end`,
  `create trigger hire_counts_delete after delete on hires begin ${one('old', '- 1')} end`,
  `create trigger hire_counts_update after update of state on hires when old.state <> new.state
   begin ${one('old', '- 1')} ${one('new', '+ 1')} end`,
];

/** Counted by statement, in one order, so that no two of them ever wait for each other. */
const counted = (changes: string): string => `
  insert into hire_counts as known (tenant_id, state, count)
  select tenant_id, state, sum(change) from (${changes}) as changed
  group by tenant_id, state having sum(change) <> 0 order by tenant_id, state
  on conflict (tenant_id, state) do update set count = known.count + excluded.count;`;

const ADDED = 'select tenant_id, state, 1 as change from added';
const GONE = 'select tenant_id, state, -1 as change from gone';

const trigger = (on: string, tables: string, changes: string): string[] => [
  `create function hire_counts_${on}() returns trigger language plpgsql as $$
   begin ${counted(changes)} return null; end $$`,
  `create trigger hire_counts_${on} after ${on} on hires referencing ${tables}
   for each statement execute function hire_counts_${on}()`,
];

const postgresTriggers = [
  ...trigger('insert', 'new table as added', ADDED),
  ...trigger('delete', 'old table as gone', GONE),
  ...trigger('update', 'old table as gone new table as added', `${ADDED} union all ${GONE}`),
];
