import { ConnectorError } from '../errors.ts';
import type { EmployeeFields, FieldValue } from '../hire/hire.ts';

/** A change to an existing employee. */
export interface Amendment {
  fields: EmployeeFields;
  /** The values that the employee held when this was decided. */
  over: EmployeeFields;
  /** `YYYY-MM-DD`: if the HRIS has dated values, the change is valid from this day, otherwise at once. */
  from: string;
}

/** Fields as read; a field without a valid value is only in `unreadable`. */
interface Held {
  fields: EmployeeFields;
  unreadable?: Readonly<Record<string, string>>;
}

/**
 * The fields of an amendment that still have to be written, given the employee's current values; none once it is done.
 * An unreadable value counts as neither the old nor the new one, even if one of them is empty.
 * @throws ConnectorError STALE if a field has neither the old nor the new value
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

/** An empty text counts as no value. */
function plain(value: FieldValue | undefined): string {
  return JSON.stringify(value === '' ? null : (value ?? null));
}

function stale(edited: readonly string[]): ConnectorError {
  return new ConnectorError({
    code: 'STALE',
    action: 'retry',
    message: `The HR system now has different values for ${edited.join(', ')}. Nothing was written; it is read again.`,
  });
}
