import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import countries from 'i18n-iso-countries';

export const API_KEY = 'bamboo-test-0123456789';
/** The customer's custom field for our reference. */
export const REFERENCE_FIELD = 'customHirebridgeReference';

/** A BambooHR company with state; the vendor's document offers only single answers. */
export interface BambooDouble {
  url: string;
  company: BambooCompany;
  /** `revoked`: no key works any more; `throttled`: every call exceeds the limit. */
  mood: 'revoked' | 'throttled' | 'well';
  /** Keys that it takes. */
  keys: string[];
  /** Number of requests so far. */
  requests: number;
  /** Drops every connection, is down for a moment, and comes back at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Custom fields of the customer. */
export const CUSTOM_FIELDS: readonly string[] = Array.from({ length: 400 }, (_, at) => `customField${at + 1}`);

const FIELDS = [
  'firstName',
  'lastName',
  'homeEmail',
  'workEmail',
  'mobilePhone',
  'jobTitle',
  'department',
  'location',
  'city',
  'country',
  'hireDate',
  'dateOfBirth',
  'employeeNumber',
  REFERENCE_FIELD,
  ...CUSTOM_FIELDS,
];

export async function startBambooDouble(): Promise<BambooDouble> {
  const company: BambooCompany = {
    employees: new Map(),
    changed: new Map(),
    statuses: new Map(),
    jobs: new Map(),
    files: new Map(),
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    serve(double, request, response).catch(() => response.destroy());
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const double: BambooDouble = {
    url: `http://127.0.0.1:${port}`,
    company,
    mood: 'well',
    keys: [API_KEY],
    requests: 0,
    async restart() {
      await close();
      await listen(port);
    },
    close,
  };
  return double;
}

async function serve(double: BambooDouble, request: IncomingMessage, response: ServerResponse) {
  double.requests += 1;
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://double');
  const raw = await buffer(request);
  const isJson = request.headers['content-type']?.startsWith('application/json') === true;
  const body = isJson ? (JSON.parse(raw.toString()) as Record<string, unknown>) : {};
  const type = request.headers['content-type'] ?? '';
  const asked = { method: request.method ?? '', path, query, body, raw, type };
  const {
    status,
    headers,
    body: answered,
  } = refusal(double, request.headers.authorization) ?? (await answer(double.company, asked));
  const json = answered !== undefined && !Buffer.isBuffer(answered);
  response.writeHead(status, { ...(json ? { 'content-type': 'application/json' } : {}), ...headers });
  response.end(json ? JSON.stringify(answered) : answered);
}

function refusal({ mood, keys }: BambooDouble, authorization: string | undefined): BambooAnswer | undefined {
  const taken = keys.map((key) => `Basic ${Buffer.from(`${key}:x`).toString('base64')}`);
  if (mood === 'revoked' || authorization === undefined || !taken.includes(authorization)) return { status: 401 };
  return mood === 'throttled' ? { status: 429, headers: { 'Retry-After': '7' } } : undefined;
}

async function answer(company: BambooCompany, asked: Asked): Promise<BambooAnswer> {
  const { employees } = company;
  const { method, path } = asked;
  if (path === '/api/v1/meta/fields') return { status: 200, body: FIELDS.map((alias) => fieldOf(alias)) };
  if (path === '/api/v1/meta/lists') return { status: 200, body: LISTS };
  if (path === '/api/v1/meta/countries/options') return { status: 200, body: COUNTRIES };
  if (path === '/api/v1/employees' && method === 'POST') return create(company, asked.body);
  if (path === '/api/v1/employees/changed') return changedSince(company, asked.query.get('since') ?? '');
  if (path === '/api/v2/datasets/employee/data') return search(company, asked.body);
  const [, id, rest] = /^\/api\/v1\/employees\/(\d+)(?:\/(.+))?$/.exec(path) ?? [];
  const employee = id === undefined ? undefined : employees.get(id);
  if (id === undefined || employee === undefined) return { status: 404 };
  if (rest?.startsWith('tables/employmentStatus') === true) return statusAnswer(company, { id, rest }, asked);
  if (rest?.startsWith('tables/jobInfo') === true) return jobAnswer(company, { id, rest }, asked);
  if (rest?.startsWith('files') === true) return fileAnswer(company, { id, rest }, asked);
  if (method === 'POST') return write(company, id, asked.body);
  const wanted = asked.query.get('fields')?.split(',') ?? ['firstName', 'lastName'];
  return { status: 200, body: { id, ...Object.fromEntries(wanted.map((name) => [name, readAs(employee, name)])) } };
}

/** Excludes `since` itself, although that is undocumented: clients must not rely on it being included. */
function changedSince({ changed }: BambooCompany, since: string): BambooAnswer {
  const after = [...changed].filter(([, { lastChanged }]) => Date.parse(lastChanged) > Date.parse(since));
  const latest =
    after
      .map(([, { lastChanged }]) => lastChanged)
      .toSorted()
      .at(-1) ?? since;
  return {
    status: 200,
    body: { latest, employees: Object.fromEntries(after.map(([id, one]) => [id, { id, ...one }])) },
  };
}

function fieldOf(alias: string) {
  const label = alias.replaceAll(/([A-Z]|\d+)/g, ' $1').trim();
  const type = /Date|OfBirth/.test(alias) ? 'date' : alias === 'department' ? 'list' : 'text';
  return { id: FIELDS.indexOf(alias) + 1, name: label, type, alias };
}

const LISTS = [
  {
    fieldId: String(FIELDS.indexOf('department') + 1),
    name: 'Department',
    alias: 'department',
    manageable: 'yes',
    multiple: 'no',
    options: [
      { id: 1, archived: 'no', name: 'Kitchen' },
      { id: 2, archived: 'yes', name: 'Steam laundry', archivedDate: '2020-01-01' },
    ],
  },
];

/** The account's own names, as in the vendor's examples: "United States". */
const COUNTRIES = Object.entries(countries.getNames('en', { select: 'alias' })).map(([isoCode, name], at) => ({
  id: String(at + 1),
  name,
  isoCode,
}));

/** Written as dateOfBirth, but read as birthDate. */
function readAs(employee: Record<string, string>, name: string): string | null {
  return employee[name === 'birthDate' ? 'dateOfBirth' : name] ?? null;
}

const FIRST_ID = 40_500;

/** The answer has no body; Location has the employee's address, alternating between two forms. */
function create(company: BambooCompany, body: Record<string, unknown>): BambooAnswer {
  if (!body['firstName'] || !body['lastName'])
    return { status: 400, headers: { 'X-BambooHR-Error-Message': 'First and last name are required' } };
  const { employees } = company;
  // The id of a deleted record is not used again.
  const known = [...employees.keys(), ...company.changed.keys()].map(Number);
  const made = Math.max(FIRST_ID - 1, ...known) + 1 - FIRST_ID;
  const id = String(FIRST_ID + made);
  const employee = { employeeId: id, employeeNumber: String(1_000 + made), status: 'Active' };
  const refused = assign(employee, body);
  if (refused !== undefined) return refused;
  employees.set(id, employee);
  noteJob(company, id, body);
  markChanged(company, id, 'Inserted');
  const shapes = [`https://acme.bamboohr.com/api/v1/employees/${id}`, `/employees/employee.php?id=${id}`];
  return { status: 201, headers: { Location: shapes[employees.size % 2] ?? '' } };
}

function write(company: BambooCompany, id: string, body: Record<string, unknown>): BambooAnswer {
  const refused = assign(company.employees.get(id) ?? {}, body);
  if (refused !== undefined) return refused;
  noteJob(company, id, body);
  markChanged(company, id, 'Updated');
  return { status: 200 };
}

function assign(employee: Record<string, string>, body: Record<string, unknown>): BambooAnswer | undefined {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    return { status: 409, headers: { 'X-BambooHR-Error-Message': `Invalid field: ${unknown}` } };
  const { country = '' } = body;
  if (country !== '' && !COUNTRIES.some(({ name }) => name === country))
    return { status: 409, headers: { 'X-BambooHR-Error-Message': `Invalid value "${String(country)}" for Country` } };
  Object.assign(employee, Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)])));
  return undefined;
}

function search({ employees }: BambooCompany, body: Record<string, unknown>): BambooAnswer {
  const {
    fields,
    filter,
    page = 1,
    pageSize = 100,
  } = body as {
    fields: string[];
    filter?: string;
    page?: number;
    pageSize?: number;
  };
  const fits = filter === undefined ? () => true : parseFilter(filter);
  const hits = [...employees.values()].filter(fits);
  const rows = hits.slice((page - 1) * pageSize, page * pageSize);
  const data = rows.map((row) => ({
    fields: Object.fromEntries(fields.map((name) => [name, readAs(row, name) ?? ''])),
  }));
  const meta = { page, pageSize, totalPages: Math.max(1, Math.ceil(hits.length / pageSize)), totalItems: hits.length };
  return { status: 200, body: { data, links: { next: null, prev: null }, meta } };
}

/** `a eq 'x'` and `a in ('x','y')`, joined by `or`; case-sensitive, as a database may be. */
function parseFilter(filter: string): (row: Record<string, string>) => boolean {
  const terms = [...filter.matchAll(/([\w.]+) (?:eq|in) (\((?:'(?:[^']|'')*',?)+\)|'(?:[^']|'')*')/g)].map(
    ([, name = '', values = '']) => ({
      name,
      values: [...values.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'")),
    }),
  );
  return (row) => terms.some(({ name, values }) => values.includes(readAs(row, name) ?? ''));
}

interface BambooCompany {
  employees: Map<string, Record<string, string>>;
  changed: Map<string, { action: 'Inserted' | 'Updated' | 'Deleted'; lastChanged: string }>;
  /** Rows in the table of employment statuses, by employee. */
  statuses: Map<string, Record<string, string>[]>;
  /** Rows in the table of jobs, by employee. */
  jobs: Map<string, Record<string, string>[]>;
  files: Map<string, { id: number; name: string; bytes: Buffer }[]>;
}

interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  /** The JSON body; empty if it is not JSON. */
  body: Record<string, unknown>;
  raw: Buffer;
  type: string;
}

interface BambooAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The section for employees' files. */
export const FILE_CATEGORY = 16;

/** With a precision of seconds, as in the vendor's examples. */
export function markChanged({ changed }: BambooCompany, id: string, action: 'Inserted' | 'Updated' | 'Deleted'): void {
  changed.set(id, { action, lastChanged: `${new Date().toISOString().slice(0, 19)}+00:00` });
}

/** A row is valid from its date on. */
function statusAnswer(
  company: BambooCompany,
  { id, rest }: { id: string; rest: string },
  { method, body }: Asked,
): BambooAnswer {
  const rows = company.statuses.get(id) ?? [];
  if (method === 'GET') return { status: 200, body: rows };
  writeRow(company.statuses, { id, rowId: rest.split('/')[2] }, body);
  const today = new Date().toISOString().slice(0, 10);
  const current = (company.statuses.get(id) ?? [])
    .filter((one) => (one['date'] ?? '') <= today)
    .toSorted(byDate)
    .at(-1);
  const status = current?.['employmentStatus'] === 'Terminated' ? 'Inactive' : 'Active';
  Object.assign(company.employees.get(id) ?? {}, { status });
  markChanged(company, id, 'Updated');
  return { status: 200 };
}

/** Replaces the named row, or adds a new one. */
function writeRow(
  table: Map<string, Record<string, string>[]>,
  { id, rowId }: { id: string; rowId: string | undefined },
  body: Record<string, unknown>,
): void {
  const sent = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
  const rows = table.get(id) ?? [];
  const row = rows.find((one) => one['id'] === rowId);
  if (row !== undefined) Object.assign(row, sent);
  else table.set(id, [...rows, { id: String(rows.length + 1), employeeId: id, ...sent }]);
}

const JOB_FIELDS = ['jobTitle', 'department', 'location', 'division', 'reportsTo'];

/** Job fields written with the employee go to the row that is valid, or to a new one on the day of hire. */
function noteJob(company: BambooCompany, id: string, body: Record<string, unknown>): void {
  const fields = Object.entries(body).filter(([name]) => JOB_FIELDS.includes(name));
  if (fields.length === 0) return;
  const values = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
  const rows = company.jobs.get(id) ?? [];
  const latest = rows.toSorted(byDate).at(-1);
  const date = company.employees.get(id)?.['hireDate'] ?? '0000-00-00';
  if (latest === undefined) company.jobs.set(id, [{ id: '1', employeeId: id, date, ...values }]);
  else Object.assign(latest, values);
}

/** A new row holds only what was sent; the employee shows the latest row, even before its day. */
function jobAnswer(
  company: BambooCompany,
  { id, rest }: { id: string; rest: string },
  { method, body }: Asked,
): BambooAnswer {
  const rows = company.jobs.get(id) ?? [];
  if (method === 'GET') return { status: 200, body: rows };
  writeRow(company.jobs, { id, rowId: rest.split('/')[2] }, body);
  const shown = company.jobs.get(id)?.toSorted(byDate).at(-1);
  const values = JOB_FIELDS.map((name) => [name, shown?.[name] ?? '']);
  Object.assign(company.employees.get(id) ?? {}, Object.fromEntries(values));
  markChanged(company, id, 'Updated');
  return { status: 200 };
}

function byDate(one: Record<string, string>, other: Record<string, string>): number {
  return (one['date'] ?? '').localeCompare(other['date'] ?? '');
}

async function fileAnswer(
  company: BambooCompany,
  { id, rest }: { id: string; rest: string },
  { method, raw, type }: Asked,
): Promise<BambooAnswer> {
  const files = company.files.get(id) ?? [];
  if (rest === 'files' && method === 'POST') return upload(company, id, await readForm(raw, type));
  if (rest === 'files/view') return { status: 200, body: viewOf(id, files) };
  const found = files.find((file) => rest === `files/${file.id}`);
  if (found === undefined) return { status: 404 };
  return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: found.bytes };
}

function readForm(raw: Buffer, type: string): Promise<FormData> {
  return new Response(new Uint8Array(raw), { headers: { 'content-type': type } }).formData();
}

async function upload(company: BambooCompany, id: string, form: FormData): Promise<BambooAnswer> {
  const [file, name] = [form.get('file'), form.get('fileName')];
  if (!(file instanceof Blob) || typeof name !== 'string' || Number(form.get('category')) !== FILE_CATEGORY)
    return { status: 404 };
  const all = [...company.files.values()].flat();
  const stored = { id: all.length + 1, name, bytes: Buffer.from(await file.bytes()) };
  company.files.set(id, [...(company.files.get(id) ?? []), stored]);
  const location = `https://acme.bamboohr.com/api/v1/employees/${id}/files/${stored.id}`;
  return { status: 201, headers: { Location: location } };
}

function viewOf(id: string, files: readonly { id: number; name: string; bytes: Buffer }[]) {
  const listed = files.map(({ id: file, name, bytes }) => ({
    id: file,
    name,
    originalFileName: name,
    size: bytes.length,
  }));
  const category = { id: FILE_CATEGORY, name: 'Application', canUploadFiles: 'yes', files: listed };
  return { employee: { id: Number(id) }, categories: [category] };
}
