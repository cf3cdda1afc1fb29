import type { EmployeeRecord, HrisConnection } from '../../src/hris/port.ts';
import { unreadableForMs } from '../../src/plan/plan-write-back.ts';
import { employeeOf } from '../../src/store/hires.ts';
import { findPerson } from '../../src/store/persons.ts';
import type { HireContext } from './with-hire.ts';

const READ_MS = 30_000;

/** The employee as the HR system shows them now; undefined where it shows none. */
export function readEmployee({ employees }: HrisConnection, id: string): Promise<EmployeeRecord | undefined> {
  return employees.read(id, AbortSignal.timeout(READ_MS));
}

/**
 * How much longer the employee whom this hire made may be missing from what its HR system shows, milliseconds. The
 * hire was read before the record, so that a record that is due by its clock was due when it was read.
 */
export async function unshownForMs({ store, connection, row, creation }: HireContext): Promise<number> {
  const employee = employeeOf(row);
  const { employees } = employee === undefined ? { employees: [] } : await findPerson(store, { employee });
  const since = employees.find((one) => one.employee.id === employee?.id)?.since;
  return unreadableForMs(creation, connection.hris.capabilities.readLagMs, since);
}
