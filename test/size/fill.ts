import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { sql } from 'kysely';
import type { Store } from '../../src/store/open-store.ts';

/** Tables that grow with every hire, delivery, event and written record. */
export const GROWING = (
  'inbox hires intents plans holds foreign_writes purged_writes field_conflicts hire_documents document_looks ' +
  'exchange_pairs audit persons person_keys events_out'
).split(' ');

const DAY_MS = 86_400_000;
/** So much in one statement. */
const PART = 250_000;
/** Statements at once. */
const AT_ONCE = 2;
/** What retention deletes is younger than that; the rest is of three years. */
const DAYS: Record<string, number> = { inbox: 80, purged_writes: 80, events_out: 25 };
const YEARS_DAYS = 1_095;

const JSON_COLUMNS = /^(?:ids|details|pinned|result|change|changes|bases|sent|records|facts|echoes|identities)$/;
const LIST_COLUMNS = /^(?:answers|fields|sensitive|history|answer_arguments)$/;

/** What a column of a row holds that is over and done with; its table first where it differs. */
const OVER: Record<string, string> = {
  job_candidate_id: 'n::text',
  connection: `'hris'`,
  outcome: `'done'`,
  kind: `'update'`,
  stream: `'people'`,
  target: `'people'`,
  run_id: `'run-' || n / 1000`,
  'inbox.state': `'relayed'`,
  'inbox.body': `''`,
  'hires.state': `'done'`,
  'hires.observed': 'null',
  'hires.passed_over': 'null',
  'hires.employee_id': `case when n % 10 = 0 then null else 'E-' || n end`,
  'intents.verb': `case when n % 2 = 0 then 'enrol:1' else 'create-employee' end`,
  'holds.code': `case when n % 20 = 0 then 'JOB_LEFT_SCOPE' else 'CODE_' || n % 20 end`,
  'foreign_writes.batch_id': `'batch-' || n / 100`,
  'field_conflicts.partner_value': 'null',
  'field_conflicts.hris_value': 'null',
  'hire_documents.state': `'delivered'`,
  'document_looks.again': '0',
  'exchange_pairs.missing_side': 'null',
  'exchange_pairs.missing_run': 'null',
  'exchange_pairs.gone_at': 'null',
  'audit.seq': 'n',
  'person_keys.kind': `case when n % 2 = 0 then 'candidate' else 'employee' end`,
  'events_out.event_no': 'n',
};

interface Column {
  name: string;
  type: string;
}

/** Settings of a server that is filled, and how long a statement may take there, longer than any of the product. */
export const SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  maintenance_work_mem: '1GB',
};
export const LONG_STATEMENTS = '?statement_timeout=7200000';
/** Filling ends before the disk is full. */
const LEAST_FREE = 20 * 2 ** 30;

interface Filling {
  rows: number;
  tenants: number;
  /** SQL of the tenant that has row n. */
  tenantOf: string;
  /** Their hints are of these streams. */
  hinted: readonly [string, string];
}

/**
 * Rows in every column of this table, each of them over. Without its indexes, triggers and log meanwhile: that is how
 * millions take seconds. Returns how many there are.
 */
export async function fill({ kysely }: Store, table: string, filling: Filling): Promise<number> {
  const { rows: columns } = await sql<Column>`
    select column_name as name, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name = ${table} order by ordinal_position`.execute(kysely);
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const list = columns.map((column) => valueOf(table, column, filling)).join(', ');
  const run = (statement: string) => sql.raw(statement).execute(kysely);
  await run(`alter table ${table} set unlogged, disable trigger all`);
  const putBack = await dropIndexes(run, table);
  let next = 1;
  let filled = 0;
  const go = async (): Promise<void> => {
    while (next <= filling.rows && (await hasRoom())) {
      const from = next;
      const to = Math.min(filling.rows, from + PART - 1);
      next = to + 1;
      const numbers = `generate_series(${from}, ${to}) as n`;
      await run(`insert into ${table} (${names}) overriding system value select ${list} from ${numbers}`);
      filled += to + 1 - from;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, go));
  for (const statement of putBack) await run(statement);
  await run(`alter table ${table} enable trigger all`);
  await run(`vacuum analyze ${table}`);
  return filled;
}

async function hasRoom(): Promise<boolean> {
  const { bavail, bsize } = await statfs(tmpdir());
  return bavail * bsize > LEAST_FREE;
}

/** Returns what makes them again. */
async function dropIndexes(run: (statement: string) => Promise<{ rows: unknown[] }>, table: string) {
  const { rows } = await run(`
    select i.indexrelid::regclass::text as name, c.conname as constraint,
      case when c.oid is null then pg_get_indexdef(i.indexrelid) else pg_get_constraintdef(c.oid) end as definition
    from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
    where i.indrelid = '${table}'::regclass`);
  const putBack: string[] = [];
  for (const { name, constraint, definition } of rows as Record<'name' | 'constraint' | 'definition', string>[]) {
    if (constraint === null) putBack.push(definition);
    else putBack.push(`alter table ${table} add constraint ${constraint} ${definition}`);
    await run(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${constraint}`);
  }
  return putBack;
}

function valueOf(table: string, { name, type }: Column, filling: Filling): string {
  const known = OVER[`${table}.${name}`] ?? OVER[name];
  if (table === 'hints') return hintOf(name, filling);
  if (known !== undefined) return known;
  if (name === 'tenant_id' || name === 'chain') return filling.tenantOf;
  if (type === 'bigint')
    return `(extract(epoch from now()) * 1000)::bigint - n::bigint * 7919 % ${(DAYS[table] ?? YEARS_DAYS) * DAY_MS}`;
  if (type !== 'text') return '1';
  if (JSON_COLUMNS.test(name)) return `'{}'`;
  return LIST_COLUMNS.test(name) ? `'[]'` : `'${name}-' || n`;
}

/** Hints are never over: each waits. */
function hintOf(column: string, { tenants, tenantOf, hinted: [one, other] }: Filling): string {
  if (column === 'tenant_id') return tenantOf;
  if (column === 'stream') return `case when n / ${tenants} % 2 = 0 then '${one}' else '${other}' end`;
  if (column === 'record_id') return `'r-' || n`;
  return column === 'hinted_at' ? 'n' : '0';
}
