import type { EmployeeRef } from '../hire/employee.ts';
import { employeeIdToWrite } from './plan-write-back.ts';

/** What the partner should hold about an employee. */
export interface ToldEmployment {
  employeeId: string;
  status: string;
}

/** @throws ConnectorError EMPLOYEE_NUMBER_MISSING if the HRIS assigned no number */
export function wantedEmployment(
  settings: { employeeId: 'number' | 'id'; status: string; leftStatus: string },
  { ref, former = false }: { ref: EmployeeRef; former?: boolean },
): ToldEmployment {
  const employeeId = employeeIdToWrite(settings.employeeId, { id: ref.id, number: ref.number ?? null });
  return { employeeId, status: former ? settings.leftStatus : settings.status };
}

/** Whether the partner already knows this, from this stream or from the hire's verified write-back. */
export function isTold(
  wanted: ToldEmployment,
  told: { written_id: string; status: string } | undefined,
  writtenBack: ToldEmployment,
): boolean {
  const { employeeId, status } =
    told === undefined ? writtenBack : { employeeId: told.written_id, status: told.status };
  return employeeId === wanted.employeeId && status === wanted.status;
}
