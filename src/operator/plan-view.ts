import type { FieldChange } from '../store/foreign-writes.ts';

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
