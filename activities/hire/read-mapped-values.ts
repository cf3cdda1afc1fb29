import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { mappedTargets, type TargetValue } from '../../src/plan/plan-write-back.ts';
import { employeeOf } from '../../src/store/hires.ts';
import { readEmployee, unshownForMs } from './read-employee.ts';
import { valuesBack } from './values-back.ts';
import type { HireContext } from './with-hire.ts';

/**
 * The values that the tenant's files write back beside the ID, as the HR system holds them now. `shown`: the employee,
 * where they were read a moment ago.
 */
export async function readMappedValues(hire: HireContext, shown?: EmployeeRecord): Promise<TargetValue[]> {
  const { connection, ref, row } = hire;
  const { tenant, hris, mapping } = connection;
  const { values } = tenant.writeBack;
  if (values.length === 0 && mapping.back.length === 0) return [];
  const employee = employeeOf(row);
  const record = shown ?? (employee && (await readEmployee(hris, employee)));
  if (record !== undefined)
    return [...mappedTargets(values, record.fields), ...(await valuesBack(connection, record.fields))];
  const waitMs = await unshownForMs(hire);
  throw waitMs > 0 ? notShownYet(row.employee_id, waitMs) : notFound(row.employee_id, ref.jobCandidateId);
}

function notShownYet(employeeId: string | null, waitMs: number): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_NOT_SHOWN_YET',
    action: 'retry',
    message: `The HR system does not show employee ${employeeId} yet.`,
    retryAfterMs: waitMs + 50,
  });
}

function notFound(employeeId: string | null, jobCandidateId: string): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_NOT_FOUND',
    action: 'reject',
    message:
      `The HR system shows no employee ${employeeId}, so the values to be written back for job candidate ` +
      `${jobCandidateId} cannot be read. Look there, then answer retry; or keep to end the hire as it is.`,
  });
}
