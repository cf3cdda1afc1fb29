import type { EmployeeFields } from '../hire/employee.ts';

/** What a later mapping makes of an employee who is there already. */
export interface Corrections {
  /** Fields that still hold what was written, and get another value now. */
  fields: EmployeeFields;
  /** Fields that would get another value, and were changed in the HR system meanwhile: they stay. */
  kept: string[];
}

/**
 * Compares what the mapping gives now with what was written and what the HR system holds. Only what still stands as it
 * was written is corrected; the HR system's own edits are never overwritten.
 */
export function planCorrections(
  wanted: EmployeeFields,
  written: Readonly<Record<string, unknown>>,
  current: EmployeeFields,
): Corrections {
  const fields: EmployeeFields = {};
  const kept: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const [was, now] = [written[name] ?? null, current[name] ?? null];
    if (isEqual(value, was) || isEqual(value, now)) continue;
    if (isEqual(was, now)) fields[name] = value;
    else kept.push(name);
  }
  return { fields, kept };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
