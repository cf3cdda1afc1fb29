import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { startRestartable } from './restartable-server.ts';

export const ACME = { user: 'hirebridge', password: 'acme-password' };

export type AcmeStaff = Record<string, unknown> & { id: string; version: number; at: string };

export type AcmePosition = Record<string, unknown> & { id: number; version: number; state: 'open' | 'filled' };

interface Task {
  state: 'waiting' | 'done' | 'refused';
  staffId: string;
}

/** The system that `definitions/acme.yaml` describes, with everything that such systems do to their clients. */
export interface AcmeServer {
  url: string;
  staff: Map<string, AcmeStaff>;
  tasks: Map<string, Task>;
  departments: Map<string, string>;
  /** References of contracts, by id. */
  contracts: Map<string, string>;
  files: Map<string, { name: string; bytes: Buffer }[]>;
  positions: Map<string, AcmePosition>;
  mood: 'well' | 'throttled' | 'revoked';
  /** Takes nothing in a PUT that only it decides. */
  isStrict: boolean;
  /** Answers a request of this method, and of this path where it says one, instead of working, once. */
  next?: { method: string; path?: string; answer: (response: ServerResponse) => void };
  finish(ticket: string): void;
  refuse(ticket: string): void;
  touch(ids: readonly string[]): void;
  add(count: number): string[];
  edit(id: string, change: (staff: AcmeStaff) => void): void;
  endSessions(): void;
  logins: number;
  /** Headers and body of the latest request that made somebody. */
  made?: { headers: IncomingHttpHeaders; body: string };
  restart(): Promise<void>;
  close(): Promise<void>;
}

const PAGE = 40;

export async function startAcmeServer(): Promise<AcmeServer> {
  const sessions = new Set<string>();
  let staffNo = 70_000;
  let nextId = 500;
  let clock = 0;
  const now = (): string => {
    clock = Math.max(clock, Date.now());
    return new Date(clock).toISOString();
  };
  const add = (body: Record<string, unknown>): AcmeStaff => {
    nextId += 10;
    const made: AcmeStaff = { ...body, id: String(nextId), version: 1, at: now() };
    acme.staff.set(made.id, made);
    return made;
  };
  const acme: AcmeServer = {
    url: '',
    staff: new Map(),
    tasks: new Map(),
    departments: new Map(),
    contracts: new Map(),
    files: new Map(),
    positions: new Map(),
    mood: 'well',
    isStrict: false,
    logins: 0,
    finish(ticket) {
      const task = acme.tasks.get(ticket);
      if (task?.state !== 'waiting') return;
      task.state = 'done';
      staffNo += 1;
      acme.edit(task.staffId, (one) => Object.assign(one, { status: 'active', staffNo }));
    },
    refuse(ticket) {
      const task = acme.tasks.get(ticket);
      if (task?.state !== 'waiting') return;
      task.state = 'refused';
      acme.staff.delete(task.staffId);
    },
    touch: (ids) => {
      const at = now();
      for (const id of ids) acme.edit(id, (one) => void (one.at = at));
    },
    add: (count) =>
      Array.from({ length: count }, () => add({ status: 'active', person: { first: 'Added', last: 'Person' } }).id),
    edit: (id, change) => {
      const one = structuredClone(acme.staff.get(id) as AcmeStaff);
      one.version += 1;
      one.at = now();
      change(one);
      acme.staff.set(id, one);
    },
    endSessions: () => sessions.clear(),
    restart: () => server.restart(),
    close: () => server.close(),
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void =>
    void serve({ acme, sessions, add }, request, response).catch(() => response.destroy());
  const server = await startRestartable(answer);
  acme.url = `${server.origin}/api`;
  return acme;
}

/** What a request is answered from. */
interface Desk {
  acme: AcmeServer;
  sessions: Set<string>;
  add(body: Record<string, unknown>): AcmeStaff;
}

async function serve({ acme, sessions, add }: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const isJson = request.headers['content-type'] === 'application/json';
  const body = isJson ? (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>) : {};
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://acme');
  const say = (status: number, json: unknown, more: Record<string, string> = {}): void => {
    const told = { 'x-calls-limit': '500', 'x-calls-left': '400', 'x-calls-reset': '60', ...more };
    response.writeHead(status, { 'content-type': 'application/json', ...told }).end(JSON.stringify(json));
  };
  const { next } = acme;
  if (next?.method === request.method && pathname.endsWith(next?.path ?? '') && !pathname.endsWith('/login')) {
    delete acme.next;
    next?.answer(response);
    return;
  }
  if (acme.mood === 'throttled') return say(429, {});
  if (acme.mood === 'revoked') return say(401, {});
  if (pathname === '/api/login') {
    acme.logins += 1;
    if (body['user'] !== ACME.user || body['password'] !== ACME.password) return say(401, {});
    const token = randomUUID();
    sessions.add(token);
    return say(200, { token });
  }
  if (!sessions.has(String(request.headers['x-session']))) return say(401, {});
  if (pathname === '/api/me') return say(200, { user: ACME.user });
  const [, , kind, id, part, fileId] = pathname.split('/');
  if (kind === 'tasks') {
    const task = acme.tasks.get(decodeURIComponent(id ?? ''));
    return task === undefined ? say(404, {}) : say(200, { state: task.state, staffId: task.staffId });
  }
  if (kind === 'fields') return say(200, { fields: FIELDS });
  if (kind === 'departments' || kind === 'contracts')
    return say(200, stepsOf(acme, kind, request.method, { body, query }));
  if (kind === 'positions' && id === undefined)
    return say(200, pageOf([...acme.positions.values()], query, 'positions'));
  if (kind === 'positions') {
    const position = acme.positions.get(id ?? '');
    if (position === undefined) return say(404, {});
    if (request.method === 'GET') return say(200, position);
    if (request.headers['if-match'] !== String(position.version)) return say(412, {});
    acme.positions.set(String(position.id), { ...position, ...body, version: position.version + 1 });
    return say(200, {});
  }
  if (kind === 'changes') return say(200, pageOf(changed(acme, query.get('since') ?? ''), query, 'changed'));
  if (kind === 'staff' && id === undefined && request.method === 'GET')
    return say(
      200,
      pageOf(
        found(acme, query).map((one) => shownOf(acme, one)),
        query,
        'staff',
      ),
    );
  if (kind === 'staff' && id === undefined) {
    const task = randomUUID();
    acme.made = { headers: request.headers, body: bytes.toString('utf8') };
    const { job } = body as { job?: { contractId?: string } };
    if (!acme.contracts.has(job?.contractId ?? '')) return say(422, { field: 'contract', message: 'has no contract' });
    // Who is to be hired is there at once, and has a number once the job is done.
    acme.tasks.set(task, { state: 'waiting', staffId: add({ ...body, status: 'pending' }).id });
    return say(202, { task });
  }
  const known = acme.staff.get(decodeURIComponent(id ?? ''));
  if (known === undefined) return say(404, {});
  const file = acme.files.get(known.id)?.find((_file, at) => `${known.id}-${at}` === fileId);
  if (file !== undefined) return void response.writeHead(200).end(file.bytes);
  if (part === 'files') return say(200, { files: await filesOf(acme, known.id, request, bytes) });
  const etag = `"${known.version}"`;
  if (request.method === 'GET') return say(200, shownOf(acme, known), { etag });
  if (![etag, String(known.version)].includes(String(request.headers['if-match']))) return say(412, {});
  if (acme.isStrict && ['id', 'version', 'staffNo', 'at'].some((key) => key in body)) return say(400, {});
  acme.edit(known.id, (one) => {
    for (const key of Object.keys(one)) if (!['id', 'version', 'at', 'staffNo'].includes(key)) delete one[key];
    const { id: _id, version: _version, at: _at, staffNo: _number, ...given } = body;
    Object.assign(one, given);
  });
  return say(200, acme.staff.get(known.id));
}

const FIELDS = [
  { place: 'person.shoe', label: 'Shoe size', type: 'text', options: [] },
  { place: 'job.title', label: 'Title', type: 'text', maxLength: 80 },
  { place: 'job.since', label: 'In this job since', type: 'date', required: true },
  { place: 'job.grade', label: 'Grade', type: 'text', options: ['A', 'B'] },
];

/** The name of the department stands in the record, and is changed by its id alone. */
function shownOf({ departments }: AcmeServer, one: AcmeStaff): AcmeStaff {
  const job = one['job'] as { departmentId?: string | null } | undefined;
  const departmentName = departments.get(job?.departmentId ?? '');
  return job === undefined ? one : { ...one, job: { ...job, departmentName } };
}

/** Departments and contracts: found by name or reference, and made by POST. */
function stepsOf(
  { departments, contracts }: AcmeServer,
  kind: 'departments' | 'contracts',
  method: string | undefined,
  { body, query }: { body: Record<string, unknown>; query: URLSearchParams },
): Record<string, unknown> {
  const [held, key] = kind === 'departments' ? [departments, 'name'] : [contracts, 'reference'];
  if (method === 'POST') {
    const id = randomUUID();
    held.set(id, String(body[key]));
    return { id };
  }
  const asked = query.get(key);
  const found = [...held].filter(([, value]) => asked === null || value === asked);
  return { [kind]: found.map(([id, value]) => ({ id, [key]: value })) };
}

async function filesOf(acme: AcmeServer, id: string, request: IncomingMessage, bytes: Buffer): Promise<unknown[]> {
  const held = acme.files.get(id) ?? [];
  acme.files.set(id, held);
  if (request.method === 'POST') {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const document = (await new Response(new Uint8Array(bytes), { headers }).formData()).get('document') as File;
    held.push({ name: document.name, bytes: Buffer.from(await document.arrayBuffer()) });
  }
  return held.map((file, at) => ({
    id: `${id}-${at}`,
    name: file.name,
    sha256: createHash('sha256').update(file.bytes).digest('hex'),
  }));
}

/** The headers that it sends with a webhook. */
export function signAcme(payload: Buffer, key: string, at: number): Record<string, string> {
  const hmac = createHmac('sha256', key).update(Buffer.concat([Buffer.from(`${at}.`), payload]));
  return { 'x-acme-signature': `sha256=${hmac.digest('hex')}`, 'x-acme-time': String(at) };
}

/** About some of them, and about the first alone. */
export function acmePayloads(ids: readonly string[]): Buffer[] {
  const staff = ids.map((id) => ({ id: Number(id), name: 'Ana Reyes' }));
  return [{ staff }, { event: { kind: 'changed', staffId: ids[0] } }].map((one) => Buffer.from(JSON.stringify(one)));
}

function found({ staff }: AcmeServer, query: URLSearchParams): AcmeStaff[] {
  const [reference, number, email, born] = ['reference', 'number', 'email', 'born'].map((key) => query.get(key));
  return [...staff.values()].filter((one) => {
    const { external, person, contacts } = one as {
      external?: Record<string, string>;
      person?: Record<string, string>;
      contacts?: { address?: string }[];
    };
    if (reference !== null && reference !== undefined) return external?.['hirebridge'] === reference;
    if (number !== null && number !== undefined) return String(one['staffNo']) === number;
    if (email !== null && email !== undefined)
      return (contacts ?? []).some(({ address }) => address?.toLowerCase() === email);
    return born === null || born === undefined || person?.['born'] === born;
  });
}

function changed({ staff }: AcmeServer, since: string): unknown[] {
  return [...staff.values()].filter(({ at }) => at >= since).map(({ id, at }) => ({ id, at, deleted: false }));
}

function pageOf(items: readonly unknown[], query: URLSearchParams, name: string): Record<string, unknown> {
  const from = Number(query.get('cursor') ?? 0);
  const next = from + PAGE < items.length ? String(from + PAGE) : undefined;
  return { [name]: items.slice(from, from + PAGE), next };
}
