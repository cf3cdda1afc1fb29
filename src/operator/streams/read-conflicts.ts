import type { Side } from '../../hire/side.ts';
import type { FieldConflictRow } from '../../store/exchange-tables.ts';
import { listConflicts } from '../../store/field-conflicts.ts';
import type { Store } from '../../store/open-store.ts';

/** One field where the sides differed, as people are shown it. */
export interface ConflictView {
  id: string;
  since: string;
  /** Null while they still differ. */
  over: string | null;
  stream: string;
  /** The HR system's id of the record. */
  record: string;
  field: string;
  kind: FieldConflictRow['kind'];
  code: string | null;
  /** What each side held, as JSON; null once purged. */
  partner: string | null;
  hris: string | null;
  kept: Side | null;
}

const MASKED = '"***"';

/** Conflicts of a tenant, latest first; sensitive values masked. */
export async function readConflicts(
  store: Store,
  filter: { tenantId: string; all: boolean; limit?: number },
): Promise<ConflictView[]> {
  return (await listConflicts(store, filter)).map(view);
}

function view(row: FieldConflictRow): ConflictView {
  const shown = (value: string | null): string | null => (value === null || row.is_sensitive === 0 ? value : MASKED);
  return {
    id: row.conflict_id,
    since: iso(row.since),
    over: row.closed_at === null ? null : iso(row.closed_at),
    stream: row.stream,
    record: row.pair_id,
    field: row.field,
    kind: row.kind,
    code: row.code,
    partner: shown(row.partner_value),
    hris: shown(row.hris_value),
    kept: row.kept,
  };
}

function iso(at: number): string {
  return new Date(Number(at)).toISOString();
}
