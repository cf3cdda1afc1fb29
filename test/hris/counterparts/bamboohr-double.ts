import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const API_KEY = 'bamboo-test-0123456789';
/** The customer's own field for our reference. */
export const REFERENCE_FIELD = 'customHirebridgeReference';

type Employee = Record<string, string>;

/** A BambooHR company with state, which the vendor's document does not have. */
export interface BambooDouble {
  url: string;
  employees: Map<string, Employee>;
  /** `revoked`: no key is good any more; `throttled`: every call is one too many. */
  mood: 'revoked' | 'throttled' | 'well';
  /** Drops every connection, is away for a moment and comes back at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Fields that the customer made. */
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

interface Asked {
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export async function startBambooDouble(): Promise<BambooDouble> {
  const employees = new Map<string, Employee>();
  const server = createServer((request, response) => void serve(double, request, response));
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
    employees,
    mood: 'well',
    async restart() {
      await close();
      await listen(port);
    },
    close,
  };
  return double;
}

async function serve(double: BambooDouble, request: IncomingMessage, response: ServerResponse) {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://double');
  const sent = await text(request);
  const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
  const {
    status,
    headers,
    body: answered,
  } = refusal(double, request.headers.authorization) ??
  answer(double.employees, request.method ?? '', { path, query, body });
  response.writeHead(status, { ...(answered === undefined ? {} : { 'content-type': 'application/json' }), ...headers });
  response.end(answered === undefined ? '' : JSON.stringify(answered));
}

function refusal({ mood }: BambooDouble, authorization: string | undefined): Answer | undefined {
  const key = `Basic ${Buffer.from(`${API_KEY}:x`).toString('base64')}`;
  if (mood === 'revoked' || authorization !== key) return { status: 401 };
  return mood === 'throttled' ? { status: 429, headers: { 'Retry-After': '7' } } : undefined;
}

function answer(employees: Map<string, Employee>, method: string, asked: Asked): Answer {
  if (asked.path === '/api/v1/meta/fields') return { status: 200, body: FIELDS.map((alias) => fieldOf(alias)) };
  if (asked.path === '/api/v1/meta/lists') return { status: 200, body: LISTS };
  if (asked.path === '/api/v1/employees' && method === 'POST') return create(employees, asked.body);
  if (/^\/api\/v2\/datasets\/employee\/data$/.test(asked.path)) return search(employees, asked.body);
  const [, id] = /^\/api\/v1\/employees\/(\d+)$/.exec(asked.path) ?? [];
  const employee = id === undefined ? undefined : employees.get(id);
  if (id === undefined || employee === undefined) return { status: 404 };
  if (method === 'POST') return write(employees, id, asked.body);
  const wanted = asked.query.get('fields')?.split(',') ?? ['firstName', 'lastName'];
  return { status: 200, body: { id, ...Object.fromEntries(wanted.map((name) => [name, readAs(employee, name)])) } };
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

/** Written as dateOfBirth, read as birthDate. */
function readAs(employee: Employee, name: string): string | null {
  return employee[name === 'birthDate' ? 'dateOfBirth' : name] ?? null;
}

/** The answer has no body; where the employee is stands in Location, in two shapes by turns. */
function create(employees: Map<string, Employee>, body: Record<string, unknown>): Answer {
  if (!body['firstName'] || !body['lastName'])
    return { status: 400, headers: { 'X-BambooHR-Error-Message': 'First and last name are required' } };
  const id = String(40_500 + employees.size);
  const employee = { employeeId: id, employeeNumber: String(1_000 + employees.size) };
  const refused = assign(employee, body);
  if (refused !== undefined) return refused;
  employees.set(id, employee);
  const shapes = [`https://acme.bamboohr.com/api/v1/employees/${id}`, `/employees/employee.php?id=${id}`];
  return { status: 201, headers: { Location: shapes[employees.size % 2] ?? '' } };
}

function write(employees: Map<string, Employee>, id: string, body: Record<string, unknown>): Answer {
  return assign(employees.get(id) ?? {}, body) ?? { status: 200 };
}

function assign(employee: Employee, body: Record<string, unknown>): Answer | undefined {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    return { status: 409, headers: { 'X-BambooHR-Error-Message': `Invalid field: ${unknown}` } };
  const country = body['country'];
  if (typeof country === 'string' && /^[A-Z]{2}$/.test(country))
    return { status: 409, headers: { 'X-BambooHR-Error-Message': `Invalid value "${country}" for Country` } };
  Object.assign(employee, Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)])));
  return undefined;
}

function search(employees: Map<string, Employee>, body: Record<string, unknown>): Answer {
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

/** `a eq 'x'` and `a in ('x','y')`, joined by `or`; compared with case, as a database may. */
function parseFilter(filter: string): (row: Employee) => boolean {
  const terms = [...filter.matchAll(/([\w.]+) (?:eq|in) (\((?:'(?:[^']|'')*',?)+\)|'(?:[^']|'')*')/g)].map(
    ([, name = '', values = '']) => ({
      name,
      values: [...values.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'")),
    }),
  );
  return (row) => terms.some(({ name, values }) => values.includes(readAs(row, name) ?? ''));
}
