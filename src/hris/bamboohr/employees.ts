import english from 'i18n-iso-countries';
import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef, FieldValue, FindKey, Found } from '../../hire/hire.ts';
import type { HttpAnswer } from '../../http/http-error.ts';
import type { Amendment, CreateResult, EmployeeRecord, WriteOptions } from '../port.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import {
  alreadyExists,
  assertFits,
  fieldsToAmend,
  fitsKey,
  foldText,
  foundBy,
  isEmpty,
  problemOf,
  refOf,
} from '../records.ts';
import { type Bamboo, type BambooField, type BambooOptions, bamboohrFields } from './account.ts';

const Page = z.looseObject({
  data: z.array(z.looseObject({ fields: z.record(z.string(), z.unknown()) })),
  meta: z.looseObject({ totalPages: z.number(), totalItems: z.number().optional() }).optional(),
});

type Row = Record<string, string>;

interface Search {
  /** Names of fields in the dataset. */
  fields: readonly string[];
  filter: string;
  fits: (row: Row) => boolean;
}

/** At most this many pages are read to prove that an employee does not exist. */
const MOST_PAGES = 20;
const PAGE_SIZE = 1_000;
const ID = 'employeeId';
const NUMBER = 'employeeNumber';
const ADDRESSES = ['email', 'workEmail'];
const COMPARED = [...ADDRESSES, 'givenName', 'familyName', 'birthDate'];

/** A mere name proves nothing, so it is not worth reading everybody. */
export async function findEmployee(bamboo: Bamboo, key: FindKey, signal: AbortSignal): Promise<Found> {
  const search = searchFor(bamboo.options, key);
  if (search === undefined) return { kind: 'none', trusted: false };
  const { hits, complete } = await lookFor(bamboo, search, signal, key.by !== 'name');
  return foundBy(key, hits.map(refIn), complete);
}

/** Whether somebody has this value, ignoring case. */
export async function isTaken(bamboo: Bamboo, name: string, value: string, signal: AbortSignal): Promise<boolean> {
  const field = bamboo.options.fields[name];
  if (field === undefined) throw new Error(`The connection was opened without a field ${name}.`);
  const [read, wanted] = [readName(field), foldText(value)];
  const fits = (row: Row): boolean => foldText(row[read] ?? '') === wanted;
  const search = { fields: [read], filter: isAmong(read, [value, wanted]), fits };
  const { hits, complete } = await lookFor(bamboo, search, signal);
  if (hits.length > 0 || complete) return hits.length > 0;
  throw rejected(
    'TOO_MANY_EMPLOYEES',
    `BambooHR shows more than ${MOST_PAGES * PAGE_SIZE} employees, or not all of them, so hirebridge cannot prove ` +
      `that "${name}" is free. Remove "unique" from the mapping.`,
  );
}

/**
 * Searches the dataset: by its filter first, and in full if that finds nobody. It is not documented whether a filter
 * ignores case or knows custom fields, so an empty result of a filter proves nothing.
 */
async function lookFor(
  bamboo: Bamboo,
  { fields, filter, fits }: Search,
  signal: AbortSignal,
  mayReadAll = true,
): Promise<{ hits: Row[]; complete: boolean }> {
  const filtered = (await readPage(bamboo, { fields, filter }, 1, signal)).rows.filter(fits);
  if (filtered.length > 0 || !mayReadAll) return { hits: filtered, complete: false };
  const hits: Row[] = [];
  const hidden = new Set(fields);
  const seen = new Set<string | undefined>();
  let most = 0;
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const { rows, pages, total } = await readPage(bamboo, { fields }, number, signal);
    const isRepeated = rows.length > 0 && rows.every((row) => seen.has(row[ID]));
    for (const row of rows) seen.add(row[ID]);
    most = Math.max(most, total);
    hits.push(...rows.filter(fits));
    for (const field of fields) if (rows.some((row) => Object.hasOwn(row, field))) hidden.delete(field);
    // Fields that the key may not see are left out, and then nobody has the value.
    const isShown = hidden.size === 0 || (number === 1 && rows.length === 0);
    // Whoever moved to a page that was read already, because somebody before them was deleted, is on no page.
    if (isRepeated || number >= pages) return { hits, complete: isShown && !isRepeated && seen.size >= most };
  }
  return { hits, complete: false };
}

async function readPage(
  { json, options }: Bamboo,
  { fields, filter }: { fields: readonly string[]; filter?: string },
  page: number,
  signal: AbortSignal,
) {
  const ordered = { orderBy: `${ID} asc`, page, pageSize: PAGE_SIZE };
  const answer = await json({
    method: 'POST',
    version: 'v2',
    path: `datasets/${encodeURIComponent(options.dataset)}/data`,
    what: 'datasets/data',
    body: { fields: [...new Set([ID, NUMBER, ...fields])], ...(filter !== undefined && { filter }), ...ordered },
    signal,
  });
  const { data, meta } = Page.parse(answer);
  return {
    rows: data.map(({ fields: row }) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)])),
    ),
    pages: meta?.totalPages ?? (data.length < PAGE_SIZE ? page : page + 1),
    total: meta?.totalItems ?? 0,
  };
}

/** Numbers arrive as numbers or as text. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function refIn(row: Row): EmployeeRef {
  return refOf(row[ID] ?? '', row[NUMBER]);
}

/** The name of one of our fields in the dataset; undefined if the account has no such field. */
function inDataset({ fields }: BambooOptions, key: string): string | undefined {
  const field = fields[key];
  return field && (key === 'birthDate' ? readName(field) : field.name);
}

/** Hits are compared here, so that no server's collation decides on identity. */
function searchFor(options: BambooOptions, key: FindKey): Search | undefined {
  const { referenceField } = options;
  const named = (keys: readonly string[]): string[] => keys.flatMap((one) => inDataset(options, one) ?? []);
  const [addresses, names, born] = [named(ADDRESSES), named(['givenName', 'familyName']), named(['birthDate'])];
  const [, familyName = ''] = names;
  const fits = (row: Row): boolean => {
    const fields = COMPARED.map((one) => [one, row[inDataset(options, one) ?? ''] ?? null]);
    const reference = row[referenceField ?? ''] ?? '';
    return fitsKey(
      { ref: refIn(row), fields: Object.fromEntries(fields) as EmployeeFields, reference },
      key,
      ADDRESSES,
    );
  };
  const hasNames = names.length === 2;
  switch (key.by) {
    case 'reference':
      if (referenceField === undefined) return undefined;
      return { fields: [referenceField], filter: `${referenceField} eq ${quoted(key.value)}`, fits };
    case 'number':
      return { fields: [NUMBER], filter: `${NUMBER} eq ${quoted(key.value)}`, fits };
    case 'email': {
      if (addresses.length === 0) return undefined;
      const filter = addresses.map((name) => isAmong(name, [key.value, foldText(key.value)])).join(' or ');
      return { fields: addresses, filter, fits };
    }
    case 'person':
      if (!hasNames || born.length === 0) return undefined;
      return { fields: [...names, ...born], filter: `${born[0]} eq ${quoted(key.birthDate)}`, fits };
    case 'name': {
      const name = key.parts?.familyName;
      if (name === undefined || !hasNames) return undefined;
      const filter = isAmong(familyName, [name, name.toLowerCase(), name.toUpperCase()]);
      return { fields: [...names, ...born], filter, fits };
    }
  }
}

function isAmong(field: string, values: readonly string[]): string {
  return `${field} in (${[...new Set(values)].map(quoted).join(',')})`;
}

/** OData: a quote inside a text is doubled. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** A request with more fields is refused. */
const MOST_FIELDS = 400;

/** One employee by id, including future-dated values: without these a future hire looks blank. */
export async function readEmployee(
  bamboo: Bamboo,
  id: string,
  signal: AbortSignal,
): Promise<EmployeeRecord | undefined> {
  const { json, options } = bamboo;
  if (!isEmployeeId(id)) return undefined;
  const { referenceField = NUMBER, fields } = options;
  const wanted = [...new Set([NUMBER, 'status', referenceField, ...Object.values(fields).map(readName)])];
  const read: Record<string, unknown> = {};
  for (let from = 0; from < wanted.length; from += MOST_FIELDS) {
    const query = new URLSearchParams({ fields: wanted.slice(from, from + MOST_FIELDS).join(), onlyCurrent: 'false' });
    const part = await json({ path: `employees/${id}?${query.toString()}`, what: 'employees', signal }).catch(absent);
    if (part === undefined) return undefined;
    Object.assign(read, part);
  }
  const stored = options.referenceField === undefined ? undefined : read[referenceField];
  return {
    ref: refOf(id, textOf(read[NUMBER])),
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
  const { send, options } = bamboo;
  const body = await toBamboo(bamboo, fields, signal, true);
  if (options.referenceField !== undefined) {
    const found = await findEmployee(bamboo, { by: 'reference', value: reference }, signal);
    if (found.kind === 'one') throw alreadyExists('BambooHR already has an employee with this reference.', found.ref);
    body[options.referenceField] = reference;
  }
  const made = { method: 'POST', path: 'employees', body, sent: fields, idempotent: false } as const;
  const id = idIn(await send({ ...made, signal, beforeSend }));
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
  const body = await toBamboo(bamboo, fields, signal);
  if (Object.keys(body).length === 0) return;
  if (!isEmployeeId(id)) throw notFound(id);
  const call = { method: 'POST', path: `employees/${id}`, what: 'employees/{id}', body, sent: fields } as const;
  await bamboo.send({ ...call, signal, beforeSend }).catch((error: unknown) => {
    throw isConnectorError(error) && error.status === 404 ? notFound(id) : error;
  });
}

function notFound(id: string): ConnectorError {
  return rejected('EMPLOYEE_NOT_FOUND', `BambooHR has no employee with the id ${id}.`);
}

/** Fields that BambooHR keeps with a date, in the table `jobInfo`. */
const DATED: readonly string[] = ['jobTitle', 'department', 'location', 'division', 'reportsTo'];

/** Writes dated fields as a row of their table, others at once. BambooHR has no versions: old values are read first. */
export async function amendEmployee(
  bamboo: Bamboo,
  id: string,
  amendment: Amendment,
  write: WriteOptions,
): Promise<void> {
  const held = await readEmployee(bamboo, id, write.signal);
  if (held === undefined) throw notFound(id);
  const fields = Object.entries(fieldsToAmend(amendment, held));
  const isDated = ([key]: [string, unknown]): boolean => DATED.includes(bamboo.options.fields[key]?.name ?? '');
  const dated = Object.fromEntries(fields.filter(isDated));
  if (Object.keys(dated).length > 0) await amendJob(bamboo, { id, from: amendment.from, fields: dated }, write);
  await updateEmployee(bamboo, id, Object.fromEntries(fields.filter((field) => !isDated(field))), write);
}

/** Writes the row of that day; a new row repeats the row before it, because fields left out of a row are empty. */
async function amendJob(
  bamboo: Bamboo,
  { id, from, fields }: { id: string; from: string; fields: EmployeeFields },
  write: WriteOptions,
): Promise<void> {
  const changes = await toBamboo(bamboo, fields, write.signal);
  const place = { id, table: 'jobInfo', sent: fields } as const;
  const latest = (await readRows(bamboo, place, write.signal)).findLast(({ date }) => date <= from);
  if (latest?.date === from) return writeRow(bamboo, { ...place, row: latest.id }, changes, write);
  const isKept = (name: string): boolean => name !== 'id' && name !== 'employeeId';
  const kept = Object.entries(latest ?? {}).filter(([name, value]) => isKept(name) && value !== null);
  await writeRow(bamboo, place, { ...Object.fromEntries(kept), ...changes, date: from }, write);
}

const Rows = z.array(
  z.looseObject({ id: z.coerce.string(), date: z.string().default(''), employmentStatus: z.string().nullish() }),
);

/** A table of an employee, whose rows are valid from their dates on. */
interface Table {
  id: string;
  table: 'employmentStatus' | 'jobInfo';
}

/** Sorted by date: BambooHR returns them unsorted. */
async function readRows({ json }: Bamboo, { id, table }: Table, signal: AbortSignal) {
  const path = `employees/${encodeURIComponent(id)}/tables/${table}`;
  const rows = Rows.parse(await json({ path, what: `employees/{id}/tables/${table}`, signal }));
  return rows.toSorted((a, b) => a.date.localeCompare(b.date));
}

/** Replaces a row, or adds a new one. */
async function writeRow(
  { send }: Bamboo,
  { id, table, row, sent }: Table & { row?: string; sent: EmployeeFields },
  body: Record<string, unknown>,
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const [at, what] = row === undefined ? ['', ''] : [`/${encodeURIComponent(row)}`, '/{row}'];
  const path = `employees/${encodeURIComponent(id)}/tables/${table}${at}`;
  await send({ method: 'POST', path, what: `employees/{id}/tables/${table}${what}`, body, sent, signal, beforeSend });
}

/** The account's names of the statuses. */
type Statuses = NonNullable<Bamboo['options']['employment']>;

/**
 * Makes a former employee active again by a row in the table of employment statuses; the record stays. The fields are
 * written first, so that an employee who shows as active has them. A row that ends the employment on that day or later
 * would end it again, so it is changed to active. The earliest row is written last: after an interruption the employee
 * still shows as former, and the rehire is repeated.
 */
export async function rehireEmployee(
  bamboo: Bamboo,
  { id, fields, today, active, ended }: { id: string; fields: EmployeeFields; today: string } & Statuses,
  write: WriteOptions,
): Promise<void> {
  const startKey = Object.entries(bamboo.options.fields).find(([, { name }]) => name === 'hireDate')?.[0];
  const start = startKey === undefined ? undefined : fields[startKey];
  const date = typeof start === 'string' ? start : today;
  await updateEmployee(bamboo, id, fields, write);
  const statuses = statusesOf(id);
  const later = (await readRows(bamboo, statuses, write.signal)).filter((row) => row.date >= date);
  for (const row of later.filter(({ employmentStatus }) => employmentStatus === ended).toReversed())
    await writeRow(bamboo, { ...statuses, row: row.id }, { date: row.date, employmentStatus: active }, write);
  if (later.some((row) => row.date === date && [active, ended].includes(row.employmentStatus ?? ''))) return;
  await writeRow(bamboo, statuses, { date, employmentStatus: active }, write);
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
  const statuses = statusesOf(id);
  const rows = await readRows(bamboo, statuses, write.signal);
  const undoing = rows.filter((row) => row.date > lastDay && row.employmentStatus === active);
  for (const row of undoing.toReversed())
    await writeRow(bamboo, { ...statuses, row: row.id }, { date: row.date, employmentStatus: ended }, write);
  if (rows.some((row) => row.date === lastDay && row.employmentStatus === ended)) return;
  await writeRow(bamboo, statuses, { date: lastDay, employmentStatus: ended }, write);
}

const statusesOf = (id: string) => ({ id, table: 'employmentStatus', sent: {} }) as const;

/** Converts fields to BambooHR's form. */
async function toBamboo(
  { options, countries }: Bamboo,
  fields: EmployeeFields,
  signal: AbortSignal,
  isNew = false,
): Promise<Record<string, unknown>> {
  const isCountry = (key: string): boolean => options.fields[key]?.type === 'country' && !isEmpty(fields[key]);
  const names = Object.keys(fields).some(isCountry) ? await countries(signal) : new Map<string, string>();
  const told = {
    accepts: 'BambooHR does not accept',
    requires: 'BambooHR requires',
    known: bamboohrFields(options),
  };
  assertFits(told, fields, isNew, (value, def) =>
    isCountry(def.key) && !names.has(String(value))
      ? 'is not the ISO code of a country that this account has'
      : problemOf(value, def),
  );
  return Object.fromEntries(
    Object.entries(options.fields).flatMap(([key, field]) =>
      fields[key] === undefined ? [] : [[field.name, toText(field, fields[key], names)]],
    ),
  );
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

function readName({ name, readAs }: BambooField): string {
  return readAs ?? name;
}
