import { isConnectorError } from '../../src/errors.ts';
import type { Employee, EmployeeFields } from '../../src/hire/employee.ts';
import { settleWrites } from '../../src/store/foreign-writes.ts';
import { fieldChanges } from '../../src/streams/land-page.ts';
import { noteWrites, sensitiveFields } from './note-writes.ts';
import type { HireContext } from './with-hire.ts';

const CALL_MS = 30_000;
/** The HR system answered, and took nothing. */
const REFUSALS: ReadonlySet<string> = new Set(['reject', 'reauthorize', 'ignore']);

/** Writes these fields of an employee, and takes down what they held before. */
export async function updateEmployee(hire: HireContext, employee: Employee, fields: EmployeeFields): Promise<void> {
  const { store, connection } = hire;
  const { employees } = connection.hris;
  const before = await employees.read(employee, AbortSignal.timeout(CALL_MS));
  const held = Object.fromEntries(Object.keys(fields).map((name) => [name, before?.fields[name] ?? null]));
  const changes = fieldChanges(held, fields);
  const sensitive = sensitiveFields(hire);
  const batchId = await noteWrites(hire, [
    { target: 'employee', foreignId: employee.id, kind: 'update', changes, sensitive },
  ]);
  try {
    await employees.update(employee, fields, { signal: AbortSignal.timeout(CALL_MS), beforeSend: () => undefined });
  } catch (error) {
    if (isConnectorError(error) && error.action !== 'unknown')
      await settleWrites(store, batchId, REFUSALS.has(error.action) ? 'refused' : 'absent');
    throw error;
  }
  await settleWrites(store, batchId, 'done');
}
