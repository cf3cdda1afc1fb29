import { ConnectorError } from '../errors.ts';
import type { EmployeeFields, FieldValue } from '../hire/employee.ts';

/** A change to somebody who is employed already. */
export interface Amendment {
  fields: EmployeeFields;
  /** What they held when it was decided. */
  over: EmployeeFields;
  /** `YYYY-MM-DD`: where the HRIS keeps dated values they count from this day, elsewhere at once. */
  from: string;
}

/**
 * What is left to write of an amendment, given what the employee holds now: nothing once it was carried out.
 * @throws ConnectorError STALE where a field holds neither the old value nor the new one
 */
export function fieldsToAmend({ fields, over }: Omit<Amendment, 'from'>, held: EmployeeFields): EmployeeFields {
  const left = Object.entries(fields).filter(([name, value]) => !isSame(held[name], value));
  const edited = left.map(([name]) => name).filter((name) => !isSame(held[name], over[name]));
  if (edited.length > 0) throw stale(edited);
  return Object.fromEntries(left);
}

function isSame(one: FieldValue | undefined, other: FieldValue | undefined): boolean {
  return plain(one) === plain(other);
}

/** An empty text is no value. */
function plain(value: FieldValue | undefined): string {
  return JSON.stringify(value === '' ? null : (value ?? null));
}

function stale(edited: readonly string[]): ConnectorError {
  return new ConnectorError({
    code: 'STALE',
    action: 'retry',
    message: `The HR system holds other values of ${edited.join(', ')} by now. Nothing was written; it is read again.`,
  });
}
