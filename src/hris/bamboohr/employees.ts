import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { HttpAnswer } from '../../http/http-error.ts';
import type { CreateResult, EmployeeRecord, WriteOptions } from '../port.ts';
import { type Bamboo, findEmployee } from './find.ts';
import { readName } from './options.ts';
import { assertComplete, fromBamboo, toBamboo } from './values.ts';

/** A request with more fields is refused. */
const MOST_FIELDS = 400;

/** One employee by id, including future-dated values: without these a future hire looks blank. */
export async function readEmployee(
  { api, options }: Bamboo,
  id: string,
  signal: AbortSignal,
): Promise<EmployeeRecord | undefined> {
  if (!isEmployeeId(id)) return undefined;
  const reference = options.referenceField;
  const names = new Set([
    'employeeNumber',
    'status',
    ...(reference === undefined ? [] : [reference]),
    ...Object.values(options.fields).map(readName),
  ]);
  const read: Record<string, unknown> = {};
  const wanted = [...names];
  for (let from = 0; from < wanted.length; from += MOST_FIELDS) {
    const query = new URLSearchParams({ fields: wanted.slice(from, from + MOST_FIELDS).join(), onlyCurrent: 'false' });
    const call = {
      what: 'GET employees',
      method: 'GET',
      path: `/api/v1/employees/${id}?${query.toString()}`,
      signal,
    } as const;
    const part = await api.json(call).catch(absent);
    if (part === undefined) return undefined;
    Object.assign(read, part);
  }
  const number = read['employeeNumber'];
  const stored = reference === undefined ? undefined : read[reference];
  return {
    ref: { id, ...(typeof number === 'string' && number !== '' ? { number } : {}) },
    ...fromBamboo(options, read),
    ...(typeof read['status'] === 'string' ? { former: read['status'] === 'Inactive' } : {}),
    ...(typeof stored === 'string' && stored !== '' ? { reference: stored } : {}),
  };
}

function absent(error: unknown): undefined {
  if (!isConnectorError(error) || error.status !== 404) throw error;
}

/** 0 means the employee who owns the key. */
function isEmployeeId(id: string): boolean {
  return /^[1-9]\d{0,14}$/.test(id);
}

/** ALREADY_EXISTS (ignore, details: the ref) if the reference is taken. BambooHR itself would make a second one. */
export async function createEmployee(
  bamboo: Bamboo,
  fields: EmployeeFields,
  reference: string,
  { signal, beforeSend }: WriteOptions,
): Promise<CreateResult> {
  const { api, options } = bamboo;
  const body = toBamboo(options, fields);
  assertComplete(options, fields, true);
  if (options.referenceField !== undefined) {
    const found = await findEmployee(bamboo, { by: 'reference', value: reference }, signal);
    if (found.kind === 'one') throw alreadyExists(found.ref);
    body[options.referenceField] = reference;
  }
  const what = 'POST employees';
  const call = { what, method: 'POST', path: '/api/v1/employees', body, sent: fields, signal, beforeSend } as const;
  const id = idIn(await api.send(call));
  // BambooHR may assign the number itself; a failed read does not undo the create.
  const record = await readEmployee(bamboo, id, signal).catch(() => undefined);
  return { kind: 'created', ref: record?.ref ?? { id } };
}

/** The id from Location, the address of the resource or of its page: `/v1/employees/40598`, `employee.php?id=40598`. */
function idIn({ headers, status, requestId }: HttpAnswer): string {
  const location = String(headers.location ?? '');
  const id = /\/employees\/(\d+)/.exec(location)?.[1] ?? /[?&]id=(\d+)/.exec(location)?.[1];
  if (id !== undefined) return id;
  throw new ConnectorError({
    code: 'HRIS_UNREADABLE_ANSWER',
    action: 'unknown',
    message:
      `POST employees was answered ${status} without an id in Location. The employee is looked up before anything is ` +
      'sent again.',
    status,
    requestId,
  });
}

/** Writes only the given fields. */
export async function updateEmployee(
  { api, options }: Bamboo,
  id: string,
  fields: EmployeeFields,
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const body = toBamboo(options, fields);
  assertComplete(options, fields, false);
  if (Object.keys(body).length === 0) return;
  if (!isEmployeeId(id)) throw notFound(id);
  const path = `/api/v1/employees/${id}`;
  try {
    const call = { what: 'POST employees/{id}', method: 'POST', path, body, sent: fields } as const;
    await api.send({ ...call, idempotent: true, signal, beforeSend });
  } catch (error) {
    throw isConnectorError(error) && error.status === 404 ? notFound(id) : error;
  }
}

export function notFound(id: string): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_NOT_FOUND',
    action: 'reject',
    message: `BambooHR has no employee with the id ${id}.`,
  });
}

function alreadyExists(ref: { id: string; number?: string }): ConnectorError {
  return new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: 'BambooHR already has the employee of this reference.',
    details: { ...ref },
  });
}
