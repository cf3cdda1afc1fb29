import { sideKeptBy } from '../../activities/hear-answer.ts';
import type { Side } from '../hire/hire.ts';
import { listConflicts } from '../store/field-conflicts.ts';
import { listHolds } from '../store/holds.ts';
import { type ConflictFilter, listConflictsPage } from '../store/listings.ts';
import type { Store } from '../store/open-store.ts';
import type { FieldConflictRow } from '../store/stream-tables.ts';

/** A field whose sides differed, for display. */
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
  /** Each side's value as JSON; null after a purge. */
  partner: string | null;
  hris: string | null;
  kept: Side | null;
  /** The open hold whose answer decides the conflict, and its answers; null if there is none. */
  asked: { holdId: string; answers: string[] } | null;
}

const MASKED = '"***"';

/** A tenant's conflicts, latest first, with sensitive values masked. */
export async function readConflicts(
  store: Store,
  filter: { tenantId: string; all: boolean; limit?: number },
): Promise<ConflictView[]> {
  return viewConflicts(store, filter.tenantId, await listConflicts(store, filter));
}

/** One page of the same list; sensitive values are masked unless `reveal` is set. */
export async function pageOfConflicts(store: Store, filter: ConflictFilter, reveal: boolean): Promise<ConflictView[]> {
  return viewConflicts(store, filter.tenantId, await listConflictsPage(store, filter), reveal);
}

async function viewConflicts(
  store: Store,
  tenantId: string,
  rows: readonly FieldConflictRow[],
  reveal = false,
): Promise<ConflictView[]> {
  const asked = await holdsByStream(store, tenantId);
  return rows.map((row) => ({
    ...view(row, reveal),
    asked: isUndecided(row) ? (asked.get(row.stream) ?? null) : null,
  }));
}

function isUndecided({ kind, kept, closed_at: over }: FieldConflictRow): boolean {
  return kind === 'held' && kept === null && over === null;
}

/** By stream, the open hold that asks whose value stays. */
async function holdsByStream(store: Store, tenantId: string): Promise<Map<string, ConflictView['asked']>> {
  const open = (await listHolds(store, { tenantId })).filter((row) => row.answered_at === null);
  return new Map(
    open.flatMap((row): [string, ConflictView['asked']][] => {
      const { stream } = JSON.parse(row.details) as { stream?: string };
      const answers = (JSON.parse(row.answers) as string[]).filter((one) => sideKeptBy(one) !== undefined);
      if (stream === undefined || row.job_candidate_id !== null || answers.length === 0) return [];
      return [[stream, { holdId: row.hold_id, answers }]];
    }),
  );
}

function view(row: FieldConflictRow, reveal: boolean): Omit<ConflictView, 'asked'> {
  const isShown = reveal || row.is_sensitive === 0;
  const shown = (value: string | null): string | null => (value === null || isShown ? value : MASKED);
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
