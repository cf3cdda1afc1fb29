import type { SQLInputValue } from 'node:sqlite';
import type { SandboxState } from '../state.ts';

type LedgerKind = 'request' | 'effect' | 'event' | 'delivery' | 'fault' | 'control';

export interface LedgerEntry {
  kind: LedgerKind;
  /** Operation id, effect, event or fault name. */
  name: string;
  companyId?: number | undefined;
  status?: number | undefined;
  /** Id of the record concerned. */
  subject?: string | number | undefined;
  requestId?: string | undefined;
  /** The fault applied to this request or delivery. */
  fault?: string | undefined;
  /** Where the act came from. */
  origin?: 'api' | 'dashboard' | 'background' | 'seed' | undefined;
  detail?: Record<string, unknown> | undefined;
}

export interface LedgerRow extends LedgerEntry {
  seq: number;
  /** Epoch ms. */
  at: number;
  detail: Record<string, unknown>;
}

export interface LedgerFilter {
  kind?: LedgerKind | undefined;
  name?: string | undefined;
  companyId?: number | undefined;
  status?: number | undefined;
  subject?: string | undefined;
  requestId?: string | undefined;
  fault?: string | undefined;
  origin?: string | undefined;
  /** Epoch ms, inclusive. */
  since?: number | undefined;
  until?: number | undefined;
  /** Rows after this one. */
  afterSeq?: number | undefined;
  limit?: number | undefined;
  /** Only this many of the last. */
  last?: number | undefined;
}

/** How many entries are kept; the oldest are removed, this many at a time, and only their totals stay. */
export const LEDGER_ROWS = 100_000;
const DROPPED_AT_ONCE = 1000;

/** Appends one entry. Called inside the transaction of the act that it records, so neither exists without the other. */
export function record(state: SandboxState, entry: LedgerEntry): void {
  state.run(
    `insert into ledger (at, company_id, kind, name, status, subject, request_id, fault, origin, detail)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    state.clock.now(),
    entry.companyId ?? null,
    entry.kind,
    entry.name,
    entry.status ?? null,
    entry.subject === undefined ? null : String(entry.subject),
    entry.requestId ?? null,
    entry.fault ?? null,
    entry.origin ?? null,
    entry.detail === undefined ? '{}' : JSON.stringify(entry.detail),
  );
  dropOldest(state);
}

/** The number of the last entry; 0 before the first. */
export function lastEntry(state: SandboxState): number {
  return state.one<{ seq: number | null }>('select max(seq) as seq from ledger')?.seq ?? 0;
}

/** Every thousand entries: those beyond the limit are counted into the totals and removed. */
function dropOldest(state: SandboxState): void {
  const last = lastEntry(state);
  if (last % DROPPED_AT_ONCE !== 0 || last <= LEDGER_ROWS) return;
  const limit = last - LEDGER_ROWS;
  state.run(
    `insert into ledger_totals (kind, name, company_id, n)
     select kind, name, coalesce(company_id, 0), count(*) from ledger where seq <= ? group by 1, 2, 3
     on conflict (kind, name, company_id) do update set n = n + excluded.n`,
    limit,
  );
  state.run('delete from ledger where seq <= ?', limit);
}

const COLUMNS: Record<string, string> = {
  kind: 'kind = ?',
  name: 'name = ?',
  companyId: 'company_id = ?',
  status: 'status = ?',
  subject: 'subject = ?',
  requestId: 'request_id = ?',
  fault: 'fault = ?',
  origin: 'origin = ?',
  since: 'at >= ?',
  until: 'at <= ?',
  afterSeq: 'seq > ?',
};

function where(filter: LedgerFilter): { sql: string; values: SQLInputValue[] } {
  const used = Object.entries(filter).filter(([key, value]) => key in COLUMNS && value !== undefined);
  const sql = used.length === 0 ? '' : `where ${used.map(([key]) => COLUMNS[key]).join(' and ')}`;
  return { sql, values: used.map(([, value]) => value as SQLInputValue) };
}

/** Entries in the order they happened. */
export function readLedger(state: SandboxState, filter: LedgerFilter = {}): LedgerRow[] {
  const { sql, values } = where(filter);
  const rows = state.all<Record<string, unknown> & { detail: string }>(
    `select seq, at, company_id as companyId, kind, name, status, subject, request_id as requestId, fault, origin,
      detail from ledger ${sql} order by seq ${filter.last === undefined ? '' : 'desc'} limit ?`,
    ...values,
    filter.last ?? filter.limit ?? 100_000,
  );
  if (filter.last !== undefined) rows.reverse();
  return rows.map((row) => {
    const present = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    return { ...present, detail: JSON.parse(row.detail) as Record<string, unknown> } as unknown as LedgerRow;
  });
}

export type LedgerCounts = Partial<Record<LedgerKind, Record<string, number>>>;

/**
 * How often each kind and name happened: `{ effect: { enrolment: 5 }, request: { 'onboarding.enrol': 6 } }`. Entries no
 * longer kept count too, unless the filter needs a detail that only kept entries have.
 */
export function countLedger(state: SandboxState, filter: LedgerFilter = {}): LedgerCounts {
  const { sql, values } = where(filter);
  const rows = state.all<Count>(`select kind, name, count(*) as n from ledger ${sql} group by kind, name`, ...values);
  const counts: LedgerCounts = {};
  for (const { kind, name, n } of [...rows, ...droppedCounts(state, filter)]) {
    const ofKind = (counts[kind] ??= {});
    ofKind[name] = (ofKind[name] ?? 0) + n;
  }
  return counts;
}

interface Count {
  kind: LedgerKind;
  name: string;
  n: number;
}

const KEPT_IN_TOTALS: ReadonlySet<string> = new Set(['kind', 'name', 'companyId']);

function droppedCounts(state: SandboxState, filter: LedgerFilter): Count[] {
  const asked = Object.entries(filter).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (asked.some((key) => !KEPT_IN_TOTALS.has(key))) return [];
  const { sql, values } = where(filter);
  return state.all<Count>(`select kind, name, sum(n) as n from ledger_totals ${sql} group by kind, name`, ...values);
}
