import type { FieldChange } from '../store/foreign-writes.ts';

/** One write of a plan. Values are personal data until `maskPlan`. */
export interface PlannedRecord {
  record: string;
  /** `row` of a stream, a side of an exchange, or the part of a hire. */
  target: string;
  kind: 'create' | 'update' | 'rehire' | 'link';
  why: string;
  changes: Record<string, FieldChange>;
  sensitive: readonly string[];
}

/** What a plan would write; without a hash there is nothing to apply. */
export interface PlanView {
  tenant: string;
  subject: string;
  mapping: string | null;
  hash?: string;
  /** Records that were read to make it. */
  read: number;
  records: PlannedRecord[];
  /** What is left as it is, and why. */
  notes: { record: string; what: string; reason: string }[];
}

/** What a hire has still to write, by its parts, and what is left as it is. */
export interface HireWrites {
  mappingHash: string;
  writes: PlannedRecord[];
  notes: PlanView['notes'];
}

export const MASK = '•••';

/** The values of sensitive fields masked; that they change stays. */
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
