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
  close(): Promise<void>;
}

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
  const server = createServer((request, response) => void serve(employees, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    employees,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(employees: Map<string, Employee>, request: IncomingMessage, response: ServerResponse) {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://double');
  const sent = await text(request);
  const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
  const key = `Basic ${Buffer.from(`${API_KEY}:x`).toString('base64')}`;
  const {
    status,
    headers,
    body: answered,
  } = request.headers.authorization === key
    ? answer(employees, request.method ?? '', { path, query, body })
    : { status: 401, headers: {}, body: undefined };
  response.writeHead(status, { ...(answered === undefined ? {} : { 'content-type': 'application/json' }), ...headers });
  response.end(answered === undefined ? '' : JSON.stringify(answered));
}

function answer(employees: Map<string, Employee>, method: string, asked: Asked): Answer {
  if (asked.path === '/api/v1/meta/fields') return { status: 200, body: FIELDS.map((alias) => fieldOf(alias)) };
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
  return { id: FIELDS.indexOf(alias) + 1, name: alias, type: 'text', alias };
}

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
