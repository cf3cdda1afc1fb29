import type { EmployeeFields, FieldValue } from '../../hire/employee.ts';
import type { FieldChange } from '../../store/foreign-writes.ts';

/** What one mapping version did to one record: by field, what was there before its first write, what after its last. */
export interface Replaced {
  /** It made the record: there is nothing to go back to. */
  made: boolean;
  /** Values of these writes are no longer kept. */
  purged: boolean;
  fields: Record<string, { old: FieldValue; new: FieldValue }>;
}

/** Which values go back, and why others stay. */
export interface Restoration {
  values: EmployeeFields;
  kept: string[];
}

/** Sums up the writes of one version to one record, oldest first. */
export function replacedValues(
  writes: ReadonlyArray<{ kind: string; purged_at: number | null; changes: Readonly<Record<string, FieldChange>> }>,
): Replaced {
  const fields: Replaced['fields'] = {};
  for (const { changes } of writes)
    for (const [name, change] of Object.entries(changes)) {
      const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
      fields[name] = { old: before === undefined ? valueOf(change.old) : before.old, new: valueOf(change.new) };
    }
  return {
    made: writes.some(({ kind }) => kind === 'create'),
    purged: writes.some(({ purged_at: at }) => at !== null),
    fields,
  };
}

/** Puts back what still stands as the version wrote it; whatever was changed since belongs to whoever changed it. */
export function restore({ made, purged, fields }: Replaced, current: EmployeeFields | undefined): Restoration {
  if (current === undefined) return keep('its row is gone');
  if (purged) return keep('its earlier values were purged');
  if (made) return keep('this version made the row, so there is no earlier value');
  const values: EmployeeFields = {};
  const changed: string[] = [];
  for (const [name, { old, new: written }] of Object.entries(fields)) {
    if (isEqual(current[name] ?? null, written)) values[name] = old;
    else if (!isEqual(current[name] ?? null, old)) changed.push(name);
  }
  return { values, kept: changed.length === 0 ? [] : [`changed since: ${changed.join(', ')}`] };
}

function keep(reason: string): Restoration {
  return { values: {}, kept: [reason] };
}

function isEqual(one: FieldValue, other: FieldValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function valueOf(value: unknown): FieldValue {
  return (value ?? null) as FieldValue;
}
