import type { EmployeeFields } from '../hire/employee.ts';
import type { LandingRow } from '../hris/port.ts';

/** What a run has to know of a row that it need not write. */
export interface RowFacts {
  id: string;
  /** The row's hash, or the beginning of it. */
  hash: string;
  /** Names of the fields that hold something. */
  filled: readonly string[];
}

export function factsOf({ id, hash, fields }: LandingRow): RowFacts {
  return { id, hash, filled: filledIn(fields) };
}

export function filledIn(fields: EmployeeFields): string[] {
  return Object.keys(fields).filter((name) => !isEmpty(fields[name]));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
