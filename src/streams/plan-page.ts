import type { EmployeeFields } from '../hire/hire.ts';
import type { Landing, LandingRow, StoredRow } from '../hris/port.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { fieldChanges, leftOutOf, mapRecord } from './land-page.ts';
import type { RecordPage } from './read-page.ts';
import type { PullName } from './streams.ts';

const READ_MS = 30_000;

/** One record to land: its row's current and new values. */
export interface RowPlan {
  before: Pick<StoredRow, 'hash' | 'fields'> | null;
  after: Pick<LandingRow, 'hash' | 'fields'>;
}

/** Where a plan's records come from and go to. */
export interface PlanEnds {
  landing: Landing;
  mapping: Mapping;
  tenant: string;
  stream: PullName;
}

/** The rows that landing one page would write, by id, and the records it would leave out. Writes nothing. */
export async function planPage(
  ends: PlanEnds,
  page: RecordPage,
): Promise<{ changes: Map<string, RowPlan>; leftOut: Quarantined[] }> {
  const { rows, leftOut } = mapPage(ends, page);
  const stored = await readStored(ends, [...rows.keys()]);
  const changes = new Map<string, RowPlan>();
  for (const { id, hash, fields } of rows.values()) {
    const row = stored.get(id);
    if (row?.hash === hash) continue;
    const before = row === undefined ? null : { hash: row.hash, fields: row.fields };
    changes.set(id, { before, after: { hash, fields } });
  }
  return { changes, leftOut };
}

/** The page's records as they would land. */
export function mapPage(
  { mapping, stream }: Pick<PlanEnds, 'mapping' | 'stream'>,
  page: RecordPage,
): { rows: Map<string, LandingRow>; leftOut: Quarantined[] } {
  const rows = new Map<string, LandingRow>();
  const leftOut = leftOutOf(page);
  for (const item of page.items) {
    const mapped = mapRecord(mapping, stream, item);
    if ('hash' in mapped) rows.set(mapped.id, mapped);
    else leftOut.push(mapped);
  }
  return { rows, leftOut };
}

export async function readStored(
  { landing, stream, tenant }: Omit<PlanEnds, 'mapping'>,
  ids: readonly string[],
): Promise<Map<string, StoredRow>> {
  if (ids.length === 0) return new Map();
  const stored = await landing.read(stream, ids, { tenant, signal: AbortSignal.timeout(READ_MS) });
  return new Map(stored.map((row) => [row.id, row]));
}

/**
 * Whether a row is unchanged since it was planned. Compares values too, because an edit by hand leaves the hash
 * unchanged.
 */
export function isAsPlanned(before: RowPlan['before'], row: StoredRow | undefined): boolean {
  if (before === null || row === undefined) return before === null && row === undefined;
  return before.hash === row.hash && isSame(before.fields, row.fields);
}

/** Whether a row already holds its planned values. */
export function isDone({ after }: RowPlan, row: StoredRow | undefined): boolean {
  return row !== undefined && row.hash === after.hash && isSame(row.fields, after.fields);
}

function isSame(one: EmployeeFields, other: EmployeeFields): boolean {
  return Object.keys(fieldChanges(one, other)).length === 0;
}
