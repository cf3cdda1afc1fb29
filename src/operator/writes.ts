import { shortVersion } from '../mapping/load-mapping.ts';
import { readLabels } from '../store/fields.ts';
import { type FieldChange, listWrites, type WriteFilter } from '../store/foreign-writes.ts';
import type { Store } from '../store/open-store.ts';
import type { ForeignWriteRow } from '../store/schema.ts';

/** Writes to partner and HR system, latest first; sensitive values are masked unless revealed. */
export async function readWrites(store: Store, filter: WriteFilter, reveal: boolean): Promise<WriteView[]> {
  const rows = await listWrites(store, filter);
  const ofCustomFields = rows.filter(({ target }) => NAMES_BY_ID.has(target));
  const ids = new Set(ofCustomFields.flatMap(({ fields }) => JSON.parse(fields) as string[]));
  const labels = await readLabels(store, filter.tenantId, [...ids]);
  return rows.map((row) => viewWrite(row, reveal, NAMES_BY_ID.has(row.target) ? labels : {}));
}

/** Targets whose writes name the hiring platform's custom fields by their ids. */
const NAMES_BY_ID: ReadonlySet<string> = new Set(['custom-fields', 'job']);

const HIRE_TARGETS: ReadonlySet<string> = new Set(['employee', 'enrolment', 'external-status', 'custom-fields']);

/** Writes of one hire; a landed job or candidate may have the same id as a job candidate. */
export async function readHireWrites(
  store: Store,
  tenantId: string,
  jobCandidateId: string,
  reveal: boolean,
): Promise<WriteView[]> {
  const writes = await readWrites(store, { tenantId, recordId: jobCandidateId, isOfHire: true }, reveal);
  return writes.filter(({ target }) => HIRE_TARGETS.has(target) || target.startsWith('account:'));
}

/** A write to partner or HR system, for display. */
export type WriteView = ReturnType<typeof viewWrite>;

/** What people call a field of a write. */
export function nameOfField({ labels }: Pick<WriteView, 'labels'>, field: string): string {
  return labels[field] ?? field;
}

function viewWrite(row: ForeignWriteRow, reveal: boolean, labels: Readonly<Record<string, string>>) {
  const changes = changesOf(row);
  return {
    at: iso(row.sent_at) ?? '',
    by: row.by,
    run: row.run_id,
    record: row.record_id,
    target: row.target,
    kind: row.kind,
    /** The id of the record written. */
    foreignId: row.foreign_id,
    fields: JSON.parse(row.fields) as string[],
    /** Labels of fields that are named by an id. */
    labels,
    /** Empty after a purge; a field without `old` had an unknown value before. */
    changes: reveal ? changes : maskChanges(changes, JSON.parse(row.sensitive) as string[]),
    mapping: row.mapping_hash === null ? null : shortVersion(row.mapping_hash),
    outcome: row.outcome,
    verifiedAt: iso(row.verified_at),
    /** When the values were purged; names and times stay. */
    purgedAt: iso(row.purged_at),
  };
}

export function changesOf(row: ForeignWriteRow): Record<string, FieldChange> {
  return JSON.parse(row.changes) as Record<string, FieldChange>;
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(Number(at)).toISOString();
}

/** One write of a plan. Its values are personal data until `maskPlan`. */
export interface PlannedRecord {
  record: string;
  /** `row` of a stream, a side of an exchange, or a part of a hire. */
  target: string;
  kind: 'create' | 'update' | 'rehire' | 'link';
  why: string;
  changes: Record<string, FieldChange>;
  sensitive: readonly string[];
}

/** What a plan would write; without a hash it cannot be applied. */
export interface PlanView {
  tenant: string;
  subject: string;
  mapping: string | null;
  hash?: string;
  /** Number of records read to make it. */
  read: number;
  records: PlannedRecord[];
  /** What stays unchanged, and why. */
  notes: { record: string; what: string; reason: string }[];
}

/** The remaining writes of a hire, by part, and what stays unchanged. */
export interface HireWrites {
  mappingHash: string;
  writes: PlannedRecord[];
  notes: PlanView['notes'];
}

export const MASK = '•••';

/** Masks the values of sensitive fields; which fields change stays visible. */
export function maskChanges(
  changes: Readonly<Record<string, FieldChange>>,
  sensitive: readonly string[],
): Record<string, FieldChange> {
  const hidden = new Set(sensitive);
  const masked = (value: unknown): unknown => (value === null || value === undefined ? value : MASK);
  return Object.fromEntries(
    Object.entries(changes).map(([field, change]): [string, FieldChange] => {
      if (!hidden.has(field)) return [field, change];
      const { new: now } = change;
      return [field, 'old' in change ? { old: masked(change.old), new: masked(now) } : { new: masked(now) }];
    }),
  );
}

export function maskPlan(plan: PlanView): PlanView {
  return {
    ...plan,
    records: plan.records.map((one) => ({ ...one, changes: maskChanges(one.changes, one.sensitive) })),
  };
}
