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

/** Fields as they were read; one that holds nothing of its type is in `unreadable` alone. */
interface Held {
  fields: EmployeeFields;
  unreadable?: Readonly<Record<string, string>>;
}

/**
 * What is left to write of an amendment, given what the employee holds now: nothing once it was carried out. What
 * cannot be read is neither the old value nor the new one, also where one of them is empty.
 * @throws ConnectorError STALE where a field holds neither the old value nor the new one
 */
export function fieldsToAmend({ fields, over }: Omit<Amendment, 'from'>, held: Held): EmployeeFields {
  const holds = (name: string, value: FieldValue | undefined): boolean =>
    held.unreadable?.[name] === undefined && isSame(held.fields[name], value);
  const left = Object.entries(fields).filter(([name, value]) => !holds(name, value));
  const edited = left.map(([name]) => name).filter((name) => !holds(name, over[name]));
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
