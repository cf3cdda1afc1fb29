import english from 'i18n-iso-countries';
import { z } from 'zod';
import { dayOf } from '../../day-of.ts';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/hire.ts';
import type { HttpAnswer } from '../../http/http-error.ts';
import type { CreateResult, EmployeeRecord, WriteOptions } from '../port.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { refuseFields } from '../records.ts';
import { type Bamboo, type BambooField, type BambooOptions, findEmployee, readName, textOf } from './find.ts';

/** A request with more fields is refused. */
const MOST_FIELDS = 400;

/** One employee by id, including future-dated values: without these a future hire looks blank. */
export async function readEmployee(
  bamboo: Bamboo,
  id: string,
  signal: AbortSignal,
): Promise<EmployeeRecord | undefined> {
  const { api, options } = bamboo;
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
  const number = textOf(read['employeeNumber']);
  const stored = reference === undefined ? undefined : read[reference];
  return {
    ref: { id, ...(number === '' ? {} : { number }) },
    ...(await fromBamboo(bamboo, read, signal)),
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
  const body = await toBamboo(bamboo, fields, signal);
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
  bamboo: Bamboo,
  id: string,
  fields: EmployeeFields,
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const { api, options } = bamboo;
  const body = await toBamboo(bamboo, fields, signal);
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
  return rejected('EMPLOYEE_NOT_FOUND', `BambooHR has no employee with the id ${id}.`);
}

function alreadyExists(ref: { id: string; number?: string }): ConnectorError {
  return new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: 'BambooHR already has the employee of this reference.',
    details: { ...ref },
  });
}

const Rows = z.array(
  z.looseObject({ id: z.coerce.string(), date: z.string().default(''), employmentStatus: z.string().nullish() }),
);

/** The account's names of the statuses. */
type Statuses = NonNullable<Bamboo['options']['employment']>;

/** A row in the table of employment statuses, valid from its date on. */
interface StatusRow {
  date: string;
  employmentStatus: string;
}

/**
 * Makes a former employee active again by a row in the table of employment statuses; the record stays. The fields are
 * written first, so that an employee who shows as active has them. A row that ends the employment on that day or later
 * would end it again, so it is changed to active. The earliest row is written last: after an interruption the employee
 * still shows as former, and the rehire is repeated.
 */
export async function rehireEmployee(
  bamboo: Bamboo,
  { id, fields, active, ended }: { id: string; fields: EmployeeFields } & Statuses,
  write: WriteOptions,
): Promise<void> {
  const startKey = Object.entries(bamboo.options.fields).find(([, { name }]) => name === 'hireDate')?.[0];
  const start = startKey === undefined ? undefined : fields[startKey];
  const date = typeof start === 'string' ? start : dayOf(Date.now());
  await updateEmployee(bamboo, id, fields, write);
  const later = (await readStatuses(bamboo, id, write)).filter((row) => row.date >= date);
  for (const row of later.filter(({ employmentStatus }) => employmentStatus === ended).toReversed())
    await writeStatus(bamboo, { id, rowId: row.id }, { date: row.date, employmentStatus: active }, write);
  if (later.some((row) => row.date === date && [active, ended].includes(row.employmentStatus ?? ''))) return;
  await writeStatus(bamboo, { id }, { date, employmentStatus: active }, write);
}

/**
 * Ends the employment with a row dated on the last day, unless it exists. A later row that makes the employee active,
 * as a rehire leaves it, would undo that, so it is changed to ended.
 */
export async function terminateEmployee(
  bamboo: Bamboo,
  { id, active, ended, lastDay }: { id: string; lastDay: string } & Statuses,
  write: WriteOptions,
): Promise<void> {
  const rows = await readStatuses(bamboo, id, write);
  const undoing = rows.filter((row) => row.date > lastDay && row.employmentStatus === active);
  for (const row of undoing.toReversed())
    await writeStatus(bamboo, { id, rowId: row.id }, { date: row.date, employmentStatus: ended }, write);
  if (rows.some((row) => row.date === lastDay && row.employmentStatus === ended)) return;
  await writeStatus(bamboo, { id }, { date: lastDay, employmentStatus: ended }, write);
}

/** Sorted by date: BambooHR returns them unsorted. */
async function readStatuses({ api }: Bamboo, id: string, { signal }: WriteOptions) {
  const call = { what: 'GET employees/{id}/tables/employmentStatus', method: 'GET', path: pathOf(id), signal } as const;
  return Rows.parse(await api.json(call)).toSorted((a, b) => a.date.localeCompare(b.date));
}

/** Replaces a row, or adds a new one. */
async function writeStatus(
  { api }: Bamboo,
  { id, rowId }: { id: string; rowId?: string },
  body: StatusRow,
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const isNew = rowId === undefined;
  const what = `POST employees/{id}/tables/employmentStatus${isNew ? '' : '/{row}'}`;
  const path = isNew ? pathOf(id) : `${pathOf(id)}/${encodeURIComponent(rowId)}`;
  await api.send({ what, method: 'POST', path, body, sent: {}, idempotent: true, signal, beforeSend });
}

function pathOf(id: string): string {
  return `/api/v1/employees/${encodeURIComponent(id)}/tables/employmentStatus`;
}

/** Converts fields to BambooHR's form. Names every field that does not fit at once, without its value. */
export async function toBamboo(
  { options: { fields: known }, countries }: Bamboo,
  fields: EmployeeFields,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const isCountry = ([key, value]: [string, FieldValue]) => known[key]?.type === 'country' && !isEmpty(value);
  const names = Object.entries(fields).some(isCountry) ? await countries(signal) : new Map<string, string>();
  const problems: Record<string, string> = {};
  const written: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const field = known[key];
    const problem = problemOf(field, value, names);
    if (field === undefined || problem !== undefined) problems[key] = problem ?? 'is not a field of this HRIS';
    else written[field.name] = toText(field, value, names);
  }
  if (Object.keys(problems).length > 0) throw refuseFields('INVALID_VALUE', 'BambooHR does not accept', problems);
  return written;
}

/** A new employee needs every required field; an update must not empty one. */
function assertComplete({ fields: known }: BambooOptions, fields: EmployeeFields, isNew: boolean): void {
  const missing = Object.entries(known).filter(
    ([key, { required }]) => required && (key in fields ? isEmpty(fields[key]) : isNew),
  );
  if (missing.length === 0) return;
  const details = Object.fromEntries(missing.map(([key]) => [key, 'must not be empty']));
  throw refuseFields('MISSING_FIELD', 'BambooHR requires', details);
}

/** The fields of an answer, under their names for reading; absent ones are empty or not visible to us. */
async function fromBamboo(
  { options, countries }: Bamboo,
  read: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ReadFields> {
  const known = Object.entries(options.fields);
  const isCountry = known.some(([, field]) => field.type === 'country' && Boolean(read[readName(field)]));
  const names = isCountry ? await countries(signal) : new Map<string, string>();
  const codes = new Map([...names].map(([code, name]) => [name, code]));
  return readFields(known.map(([key, field]) => [key, fromText(field, read[readName(field)], codes)]));
}

function problemOf(
  field: BambooField | undefined,
  value: FieldValue,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (typeof value === 'string' && value.includes('\0')) return 'holds a NUL character';
  if (field?.type === 'date' && typeof value === 'string' && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return 'is not a date';
  if (field?.type === 'country' && !isEmpty(value) && !names.has(String(value)))
    return 'is not the ISO code of a country that this account has';
  return undefined;
}

function toText({ type }: BambooField, value: FieldValue, names: ReadonlyMap<string, string>): unknown {
  if (isEmpty(value)) return '';
  if (type === 'country') return names.get(String(value));
  if (type === 'boolean') return value === true ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(',') : value;
}

function fromText({ type }: BambooField, value: unknown, codes: ReadonlyMap<string, string>): ReadCell {
  // An unset date is all zeros.
  if (value === '0000-00-00') return { value: null };
  if (type === 'list') return readCell(type, typeof value === 'string' && value !== '' ? value.split(',') : value);
  if (type !== 'country') return readCell(type, value);
  const name = readCell('text', value);
  return 'wrong' in name || name.value === null
    ? name
    : { value: codes.get(String(name.value)) ?? english.getAlpha2Code(String(name.value), 'en') ?? name.value };
}

function isEmpty(value: FieldValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}
