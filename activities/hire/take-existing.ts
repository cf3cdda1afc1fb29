import { ConnectorError } from '../../src/errors.ts';
import type { Change } from '../../src/hire/change.ts';
import type { EmployeeRef } from '../../src/hire/employee.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import { isFormer } from './former-employee.ts';
import { rehireEmployee } from './rehire-employee.ts';
import type { HireContext } from './with-hire.ts';
import type { Elapsed } from './write-once.ts';

/**
 * A create refused because the HR system has an employee under our own reference, whom no search showed: some hide
 * former employees. They are this hire's, unless somebody said otherwise. Every other refusal is thrown.
 */
export async function takeExisting(
  hire: HireContext,
  error: ConnectorError,
  { fields }: Extract<Change, { kind: 'create' }>,
  sinceRead: Elapsed,
): Promise<CreateResult | Held> {
  const employee = employeeIn(error);
  if (employee === undefined || hire.decisions.notThese.has(employee.id)) throw asRejected(error);
  const created = { kind: 'created', ref: employee } as const;
  if (!(await isFormer(hire, employee.id))) return created;
  if (hire.connection.hris.employees.rehire === undefined)
    return held('FORMER_EMPLOYEE', { jobCandidateId: hire.ref.jobCandidateId, employeeIds: [employee.id] });
  await rehireEmployee(hire, { kind: 'rehire', employee, fields }, sinceRead);
  return created;
}

function employeeIn({ code, details }: ConnectorError): EmployeeRef | undefined {
  const { id, number } = details ?? {};
  if (code !== 'ALREADY_EXISTS' || typeof id !== 'string') return undefined;
  return typeof number === 'string' ? { id, number } : { id };
}

/** An error to be ignored would be retried without end; a person has to know of a refused create. */
function asRejected(error: ConnectorError): ConnectorError {
  if (error.action !== 'ignore') return error;
  const { code, message, details } = error;
  return new ConnectorError({ code, action: 'reject', message, ...(details && { details }), cause: error });
}
