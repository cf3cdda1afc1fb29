import { isConnectorError, rejected } from '../../src/errors.ts';
import type { Employee, EmployeeFields } from '../../src/hire/hire.ts';
import { settleWrites } from '../../src/store/foreign-writes.ts';
import { fieldChanges } from '../../src/streams/land-page.ts';
import type { OwnRecord } from '../own-hris.ts';
import { READ_MS } from './pending-create.ts';
import { isOfAnother, readEmployee } from './read-employee.ts';
import { type HireContext, noteWrites, sensitiveFields } from './with-hire.ts';

/** The HR system answered and accepted nothing. */
const REFUSALS: ReadonlySet<string> = new Set(['reject', 'reauthorize', 'ignore']);

/** Writes these fields of an employee and records what they held before. */
export async function updateEmployee(hire: HireContext, employee: Employee, fields: EmployeeFields): Promise<void> {
  const { store, connection } = hire;
  const { employees } = connection.hris;
  const before = await readToWrite(hire, employee);
  const held = Object.fromEntries(Object.keys(fields).map((name) => [name, before?.fields[name] ?? null]));
  const changes = fieldChanges(held, fields);
  const sensitive = sensitiveFields(hire);
  const write = { target: 'employee', foreignId: employee.id, kind: 'update' as const, changes, sensitive };
  const batchId = await noteWrites(hire, [write]);
  try {
    await employees.update(employee, fields, { signal: AbortSignal.timeout(READ_MS), beforeSend: () => undefined });
  } catch (error) {
    if (isConnectorError(error) && error.action !== 'unknown')
      await settleWrites(store, batchId, REFUSALS.has(error.action) ? 'refused' : 'absent');
    throw error;
  }
  await settleWrites(store, batchId, 'done');
}

/** The employee's record before it is written to. @throws ConnectorError RECORD_OF_ANOTHER */
export async function readToWrite(
  at: Pick<HireContext, 'store' | 'connection'>,
  employee: Employee,
): Promise<OwnRecord | undefined> {
  const record = await readEmployee(at.connection.hris, employee);
  if (record === undefined || !(await isOfAnother(at, employee, record))) return record;
  throw rejected(
    'RECORD_OF_ANOTHER',
    `The record of employee ${employee.id} no longer has the reference that hirebridge gave it, so it may be ` +
      'somebody else by now. Nothing was written to it. Check whether the HR system was restored, or its ' +
      'credentials belong to another account.',
  );
}
