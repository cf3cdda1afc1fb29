import { ConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/employee.ts';
import type { CreateResult, WriteOptions } from '../port.ts';
import type { Cells } from './csv.ts';
import { assertKnown, findEmployee } from './find.ts';
import { handOverLast, handOverOnce } from './hand-over.ts';
import { encode, hireRequestId, referenceOf } from './request-id.ts';
import { madeTwice, readResults, verdictOn } from './results.ts';
import type { Sftp } from './sftp-hris.ts';
import { refuseIncomplete, toCells } from './values.ts';

/**
 * Asks for a new employee; the answer is always `pending`. An attempt that was handed over before is found, and not
 * made again. ALREADY_EXISTS (ignore, details: the ref) when the reference is taken.
 */
export async function createEmployee(
  hris: Sftp,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { options } = hris;
  const values = toCells(options, fields);
  refuseIncomplete(options, fields, true);
  const found = await findEmployee(hris, { by: 'reference', value: reference }, write.signal);
  if (found.kind === 'one')
    throw new ConnectorError({
      code: 'ALREADY_EXISTS',
      action: 'ignore',
      message: 'The results name an employee for this reference already.',
      details: { ...found.ref },
    });
  if (found.kind === 'many') throw madeTwice(`reference ${reference}`, found.refs);
  const id = hireRequestId(reference, await nextAttempt(hris, reference, write.signal));
  // Every column stands in every file, so that all of them have one header.
  const empty = Object.fromEntries(Object.values(options.columns).map(({ column }) => [column, null]));
  const keys = { action: 'create', [options.referenceColumn]: reference };
  await handOverOnce(hris, { id, cells: { ...keys, ...empty, ...values } }, write);
  return { kind: 'pending', ticket: id, nextCheckMs: options.checkEvery };
}

/** Only a rejection makes room for another. */
async function nextAttempt(hris: Sftp, reference: string, signal: AbortSignal): Promise<number> {
  const own = (await readResults(hris, signal)).filter(({ requestId }) => referenceOf(requestId) === reference);
  return new Set(own.map(({ requestId }) => requestId)).size + 1;
}

/** What became of a request; a rejection is a refusal with the customer's own reason. */
export async function resolveRequest(hris: Sftp, ticket: string, signal: AbortSignal): Promise<CreateResult> {
  const verdict = verdictOn(await readResults(hris, signal), ticket);
  if (verdict === undefined) return { kind: 'pending', ticket, nextCheckMs: hris.options.checkEvery };
  if (verdict.status === 'created') return { kind: 'created', ref: verdict.ref };
  throw new ConnectorError({
    code: 'HIRE_REJECTED',
    action: 'reject',
    message: `The HR system rejected request ${ticket}.${verdict.reason === '' ? '' : ` It said: ${verdict.reason}.`}`,
  });
}

/** Asks for a change of the fields given. The same one is not handed over again while it is the last that waits. */
export async function updateEmployee(
  hris: Sftp,
  id: string,
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  const { options } = hris;
  const values = toCells(options, fields);
  refuseIncomplete(options, fields, false);
  if (Object.keys(values).length > 0) await askFor(hris, { action: 'update', id, cells: values }, write);
}

/** Asks for the end of an employment. */
export function terminateEmployee(
  hris: Sftp,
  { id, endColumn, lastDay }: { id: string; endColumn: string; lastDay: string },
  write: WriteOptions,
): Promise<void> {
  return askFor(hris, { action: 'terminate', id, cells: { [endColumn]: lastDay } }, write);
}

/** Asks for a former employee to be an active one again, without a last day. */
export async function rehireEmployee(
  hris: Sftp,
  { id, endColumn, fields }: { id: string; endColumn: string; fields: EmployeeFields },
  write: WriteOptions,
): Promise<void> {
  const values = toCells(hris.options, fields);
  refuseIncomplete(hris.options, fields, false);
  await askFor(hris, { action: 'rehire', id, cells: { [endColumn]: null, ...values } }, write);
}

/** What is asked for of an employee who is there. */
async function askFor(
  hris: Sftp,
  { action, id, cells }: { action: string; id: string; cells: Cells },
  write: WriteOptions,
): Promise<void> {
  await assertKnown(hris, id, write.signal);
  const row = { action, [hris.options.idColumn]: id, ...cells };
  await handOverLast(hris, { id: `change-${encode(id)}`, cells: row }, write);
}
