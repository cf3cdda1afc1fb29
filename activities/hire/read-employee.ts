import type { EmployeeRecord, HrisConnection } from '../../src/hris/port.ts';

const READ_MS = 30_000;

/** The employee as the HR system shows them now; undefined where it shows none. */
export function readEmployee({ employees }: HrisConnection, id: string): Promise<EmployeeRecord | undefined> {
  return employees.read(id, AbortSignal.timeout(READ_MS));
}
