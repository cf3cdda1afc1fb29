import { type Employee, employeeIn } from '../../src/hire/employee.ts';
import { unreadableForMs } from '../../src/plan/plan-write-back.ts';
import { employeeOf } from '../../src/store/hires.ts';
import { findPerson } from '../../src/store/persons.ts';
import type { OwnHris, OwnRecord } from '../own-hris.ts';
import type { HireContext } from './with-hire.ts';

const READ_MS = 30_000;

/** The employee as the HR system shows them now; undefined where it shows none. */
export function readEmployee({ employees }: OwnHris, employee: Employee): Promise<OwnRecord | undefined> {
  return employees.read(employee, AbortSignal.timeout(READ_MS));
}

/** The id of an employee of the tenant's HR system as it is now: what a person named, or what that system told. */
export function employeeHere({ connection }: Pick<HireContext, 'connection'>, id: string): Employee {
  return employeeIn(connection.tenant.hris.connection, id);
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
