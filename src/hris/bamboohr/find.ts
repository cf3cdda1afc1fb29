import english from 'i18n-iso-countries';
import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FindKey, Found } from '../../hire/hire.ts';
import type { HttpAnswer } from '../../http/http-error.ts';
import type { WebhookSigning } from '../../http/signed-delivery.ts';
import {
  callHris,
  type HrisLimits,
  type HrisLine,
  type HrisRequest,
  openLine,
  type Refusal,
  readJson,
} from '../http-line.ts';
import { duration, employeeUrl, pageBelow } from '../option-types.ts';
import type { FieldDef } from '../port.ts';
import { foldText, foundBy, withoutValues } from '../records.ts';

const fieldName = z.string().regex(/^[\w.]+$/, "expected the field's name or alias in BambooHR, or its id");

const field = z.strictObject({
  name: fieldName,
  /** The field's name in answers, if it differs from its name in writes. */
  readAs: fieldName.optional(),
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list', 'country']).default('text'),
  required: z.boolean().default(false),
});

type FieldInput = z.input<typeof field>;

/** Standard fields of an employee; a tenant adds or replaces fields with `fields`. */
const DEFAULT_FIELDS: Record<string, FieldInput> = {
  givenName: { name: 'firstName', label: 'First name', required: true },
  familyName: { name: 'lastName', label: 'Last name', required: true },
  email: { name: 'homeEmail', label: 'Home e-mail' },
  workEmail: { name: 'workEmail', label: 'Work e-mail' },
  phone: { name: 'mobilePhone', label: 'Mobile phone' },
  title: { name: 'jobTitle', label: 'Job title' },
  department: { name: 'department', label: 'Department' },
  location: { name: 'location', label: 'Location' },
  city: { name: 'city', label: 'City' },
  country: { name: 'country', label: 'Country', type: 'country' },
  startDate: { name: 'hireDate', label: 'Hire date', type: 'date' },
  // Written as dateOfBirth, but read as birthDate.
  birthDate: { name: 'dateOfBirth', readAs: 'birthDate', label: 'Birth date', type: 'date' },
};

/** The page of an employee. Assumed: the vendor's document shows no such page (README). */
const PROFILE = '/employees/employee.php?id={id}';

/** The options beside `kind: bamboohr` and `connection` in a tenant file. */
export const bamboohrOptions = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'expected the address of the company, https://acme.bamboohr.com' }),
    /** A reference in the tenant file. */
    apiKey: z.string().min(1),
    /** Private keys of the webhooks made for us, as references; without any, no webhook is accepted. */
    webhookKeys: z
      .array(z.string().min(1), 'expected a list such as [file:bamboohr-hook.key]')
      .max(2, 'expected at most two keys: the current one and the one being rotated')
      .optional(),
    /** A single key, as in tenant files of earlier versions. */
    webhookKey: z.string().min(1).optional(),
    /** A text field that the customer made for our reference, or `none`. */
    referenceField: fieldName,
    /** The dataset in which employees are looked up. */
    dataset: fieldName.default('employee'),
    /** How long the dataset may lack a new employee. Not documented; a minute is our assumption. */
    readLag: duration.default(60_000),
    /** The account's names of employment statuses; without them nobody is rehired or terminated. */
    employment: z.strictObject({ active: z.string().min(1), ended: z.string().min(1) }).optional(),
    /** Id of the section of employees' files for our files; without it none is delivered. */
    fileCategory: z.int().positive().optional(),
    /** The page of an employee, if it is not at `url`: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), field).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform((options) => ({
    employeeUrl: pageBelow(options.url, PROFILE),
    ...options,
    referenceField: options.referenceField === 'none' ? undefined : options.referenceField,
    fields: { ...z.record(z.string(), field).parse(DEFAULT_FIELDS), ...options.fields },
  }));

/** The signature covers body and time. Event-based payloads name one employee, field-based ones several. */
export const bamboohrWebhooks: WebhookSigning = {
  header: 'x-bamboohr-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  timestamp: 'x-bamboohr-timestamp',
  signed: '{body}{timestamp}',
  ids: [
    ['data', 'employeeId'],
    ['employees', 'id'],
  ],
};

export type BambooField = z.output<typeof field>;
export type BambooOptions = z.output<typeof bamboohrOptions>;

/** The fields that an employee mapping may write. Countries are ISO codes here, and names in BambooHR. */
export function bamboohrFields({ fields }: BambooOptions): FieldDef[] {
  return Object.entries(fields).map(([key, { name, label, type, required }]) => ({
    key,
    place: name,
    label: label ?? key,
    type: type === 'country' ? 'text' : type,
    required,
    writable: true,
    ...(type === 'text' && { isLookedUp: true }),
  }));
}

export function readName({ name, readAs }: BambooField): string {
  return readAs ?? name;
}

interface BambooApi {
  /** Makes one call. `json` returns its answer as JSON. */
  send(call: BambooCall): Promise<HttpAnswer>;
  json(call: BambooCall): Promise<unknown>;
  close(): Promise<void>;
}

interface BambooCall extends Pick<HrisRequest, 'what' | 'method' | 'path' | 'signal' | 'beforeSend' | 'priority'> {
  body?: unknown;
  /** A body that is not JSON. */
  upload?: { contentType: string; body: Uint8Array };
  /** JSON by default. */
  accept?: string;
  idempotent?: boolean;
  /** The values sent: they are removed from BambooHR's error text before it is shown. Without any, none is shown. */
  sent?: EmployeeFields;
}

/** Basic authentication: the key is the user, and the password can be any text. */
function openApi({ url, apiKey, allowPrivateAddress }: BambooOptions, limits: HrisLimits): BambooApi {
  const line = openLine(url, { allowPrivate: allowPrivateAddress, limits });
  const authorization = `Basic ${Buffer.from(`${apiKey}:x`).toString('base64')}`;
  const send = (call: BambooCall) => request(line, authorization, call);
  return {
    send,
    async json(call) {
      return readJson(await send(call), { what: call.what, idempotent: call.idempotent ?? call.method === 'GET' });
    },
    close: () => line.close(),
  };
}

async function request(line: HrisLine, authorization: string, call: BambooCall): Promise<HttpAnswer> {
  // Without Accept some answers are XML.
  const { body, upload, sent, accept = 'application/json', ...rest } = call;
  const json = body === undefined ? undefined : { contentType: 'application/json', body: JSON.stringify(body) };
  const content = upload === undefined ? json : { ...upload, body: Buffer.from(upload.body) };
  const typed = content === undefined ? {} : { 'content-type': content.contentType };
  const message = { ...rest, body: content?.body, headers: { accept, authorization, ...typed } };
  try {
    return await callHris(line, message, (answer) => whatItSaid(answer, sent));
  } catch (error) {
    throw isConnectorError(error) ? asThrottled(error) : error;
  }
}

/** Until 2026-09-16 a throttled call was answered 503 with Retry-After; some accounts may still do so. */
function asThrottled(error: ConnectorError): ConnectorError {
  if (error.status !== 503 || error.retryAfterMs === undefined) return error;
  const { message, status, retryAfterMs, requestId } = error;
  return new ConnectorError({
    code: 'RATE_LIMITED',
    action: 'throttle',
    message,
    status,
    retryAfterMs,
    requestId,
    cause: error,
  });
}

/**
 * The reason is in a header, and the body is often empty. 409: a field's value was not accepted. Only about a write,
 * whose values are known and cut, is it told: about a search it may quote anybody.
 */
function whatItSaid({ status, headers }: HttpAnswer, sent: EmployeeFields | undefined): Refusal {
  const text = headers['x-bamboohr-error-message'] ?? headers['x-bamboohr-message'] ?? '';
  const said = sent === undefined ? '' : withoutValues(String(text), Object.values(sent));
  return {
    ...(status === 409 || status === 400 ? { code: 'INVALID_VALUE' } : {}),
    ...(said === '' ? {} : { said }),
  };
}

export interface Bamboo {
  api: BambooApi;
  options: BambooOptions;
  /** The account's own names of countries, by their ISO code: it takes no others. Read once. */
  countries: (signal: AbortSignal) => Promise<ReadonlyMap<string, string>>;
}

/** The key may not see the list of countries, or the account has none. */
const UNLISTED = [400, 403, 404, 405, 501];
const Countries = z.array(z.looseObject({ name: z.string(), isoCode: z.string().nullish() }));

export function openBamboo(options: BambooOptions, limits: HrisLimits): Bamboo {
  const api = openApi(options, limits);
  let known: ReadonlyMap<string, string> | undefined;
  const read: Bamboo['countries'] = async (signal) => {
    const path = '/api/v1/meta/countries/options';
    const call = { what: 'GET meta/countries/options', method: 'GET', path, signal } as const;
    const answer = await api.json(call).catch((error: unknown) => {
      if (!isConnectorError(error) || !UNLISTED.includes(error.status ?? 0)) throw error;
    });
    const listed = Countries.safeParse(answer).data ?? [];
    const names = listed.flatMap(({ name, isoCode }) => (isoCode ? [[isoCode.toUpperCase(), name] as const] : []));
    // English names, most of which are the same.
    return new Map(names.length > 0 ? names : Object.entries(english.getNames('en')));
  };
  const countries: Bamboo['countries'] = async (signal) => {
    const names = known ?? (await read(signal));
    known = names;
    return names;
  };
  return { api, options, countries };
}

const Page = z.looseObject({
  data: z.array(z.looseObject({ fields: z.record(z.string(), z.unknown()) })),
  meta: z.looseObject({ totalPages: z.number() }).optional(),
});

type Row = Record<string, string>;

interface Search {
  /** Names of fields in the dataset. */
  fields: readonly string[];
  /** Undefined if the dataset cannot be filtered by it. */
  filter: string | undefined;
  fits: (row: Row) => boolean;
}

/** At most this many pages are read to prove that an employee does not exist. */
const MOST_PAGES = 20;
const PAGE_SIZE = 1_000;
const ID = 'employeeId';
const NUMBER = 'employeeNumber';

/**
 * Searches the dataset: by its filter first, and in full if that finds nobody. It is not documented whether a filter
 * ignores case or knows custom fields, so an empty result of a filter proves nothing. A mere name proves nothing
 * either, so it is not worth reading everybody.
 */
export async function findEmployee(bamboo: Bamboo, key: FindKey, signal: AbortSignal): Promise<Found> {
  const search = searchFor(bamboo.options, key);
  if (search === undefined) return { kind: 'none', trusted: false };
  const hits = search.filter === undefined ? [] : (await readPage(bamboo, search, 1, signal)).rows.filter(search.fits);
  const found =
    hits.length > 0 || key.by === 'name'
      ? { hits, complete: key.by !== 'name' }
      : await scan(bamboo, { ...search, filter: undefined }, signal);
  return foundBy(key, found.hits.map(refOf), found.complete);
}

/** Whether somebody has this value, searched as above: an empty result of a filter proves nothing. */
export async function isTaken(bamboo: Bamboo, name: string, value: string, signal: AbortSignal): Promise<boolean> {
  const field = bamboo.options.fields[name];
  if (field === undefined) throw new Error(`The connection was opened without a field ${name}.`);
  const [read, wanted] = [readName(field), folded(value)];
  const spellings = [...new Set([value, wanted])].map(quoted);
  const search: Search = {
    fields: [read],
    filter: `${read} in (${spellings.join(',')})`,
    fits: (row) => folded(row[read]) === wanted,
  };
  if ((await readPage(bamboo, search, 1, signal)).rows.some(search.fits)) return true;
  const { hits, complete } = await scan(bamboo, { ...search, filter: undefined }, signal);
  if (hits.length > 0 || complete) return hits.length > 0;
  throw rejected(
    'TOO_MANY_EMPLOYEES',
    `BambooHR shows more than ${MOST_PAGES * PAGE_SIZE} employees, so hirebridge cannot prove that "${name}" ` +
      'is free. Remove "unique" from the mapping.',
  );
}

async function scan(bamboo: Bamboo, search: Search, signal: AbortSignal): Promise<{ hits: Row[]; complete: boolean }> {
  const hits: Row[] = [];
  const hidden = new Set(search.fields);
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const { rows, pages } = await readPage(bamboo, search, number, signal);
    hits.push(...rows.filter(search.fits));
    for (const field of search.fields) if (rows.some((row) => Object.hasOwn(row, field))) hidden.delete(field);
    // Fields that the key may not see are left out, and then nobody has the value.
    if (number >= pages) return { hits, complete: hidden.size === 0 || (number === 1 && rows.length === 0) };
  }
  return { hits, complete: false };
}

async function readPage({ api, options }: Bamboo, search: Search, page: number, signal: AbortSignal) {
  const fields = [...new Set([ID, NUMBER, ...search.fields])];
  const ordered = { orderBy: `${ID} asc`, page, pageSize: PAGE_SIZE };
  const filter = search.filter === undefined ? {} : { filter: search.filter };
  const answer = await api.json({
    what: 'POST datasets/data',
    method: 'POST',
    path: `/api/v2/datasets/${encodeURIComponent(options.dataset)}/data`,
    body: { fields, ...filter, ...ordered },
    idempotent: true,
    signal,
  });
  const { data, meta } = Page.parse(answer);
  return {
    rows: data.map((one) => textRow(one.fields)),
    pages: meta?.totalPages ?? (data.length < PAGE_SIZE ? page : page + 1),
  };
}

/** Numbers arrive as numbers or as text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function textRow(fields: Record<string, unknown>): Row {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)]));
}

function refOf(row: Row): { id: string; number?: string } {
  const number = row[NUMBER];
  return { id: row[ID] ?? '', ...(number === undefined || number === '' ? {} : { number }) };
}

function searchFor(options: BambooOptions, key: FindKey): Search | undefined {
  if (key.by === 'reference') return exact(options.referenceField, key.value);
  if (key.by === 'number') return exact(NUMBER, key.value);
  if (key.by === 'email') return byEmail(options, key.value);
  return key.by === 'person' ? byPerson(options, key) : byName(options, key);
}

function exact(field: string | undefined, value: string): Search | undefined {
  if (field === undefined) return undefined;
  return { fields: [field], filter: `${field} eq ${quoted(value)}`, fits: (row) => row[field] === value };
}

function byEmail({ fields }: BambooOptions, value: string): Search | undefined {
  const named = ['email', 'workEmail'].flatMap((key) => fields[key]?.name ?? []);
  const wanted = folded(value);
  if (named.length === 0) return undefined;
  return {
    fields: named,
    filter: named.map((name) => `${name} in (${quoted(value)},${quoted(wanted)})`).join(' or '),
    fits: (row) => named.some((name) => folded(row[name]) === wanted),
  };
}

/** Names are compared here, so that no server's collation decides on identity. */
function byPerson({ fields }: BambooOptions, key: Extract<FindKey, { by: 'person' }>): Search | undefined {
  const { givenName, familyName, birthDate } = fields;
  if (givenName === undefined || familyName === undefined || birthDate === undefined) return undefined;
  const born = readName(birthDate);
  return {
    fields: [givenName.name, familyName.name, born],
    filter: `${born} eq ${quoted(key.birthDate)}`,
    fits: (row) =>
      row[born] === key.birthDate &&
      folded(row[givenName.name]) === folded(key.givenName) &&
      folded(row[familyName.name]) === folded(key.familyName),
  };
}

function byName(
  { fields }: BambooOptions,
  { parts, birthDate: wanted }: Extract<FindKey, { by: 'name' }>,
): Search | undefined {
  const { givenName, familyName, birthDate } = fields;
  if (parts === undefined || givenName === undefined || familyName === undefined) return undefined;
  const born = birthDate === undefined ? undefined : readName(birthDate);
  const { familyName: name } = parts;
  const spellings = [...new Set([name, name.toLowerCase(), name.toUpperCase()])];
  return {
    fields: [givenName.name, familyName.name, ...(born === undefined ? [] : [born])],
    filter: `${familyName.name} in (${spellings.map(quoted).join(',')})`,
    fits: (row) =>
      (wanted === undefined || born === undefined || (row[born] ?? '') === '') &&
      folded(row[givenName.name]) === folded(parts.givenName) &&
      folded(row[familyName.name]) === folded(parts.familyName),
  };
}

/** OData: a quote inside a text is doubled. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function folded(value: string | undefined): string {
  return foldText(value ?? '');
}
