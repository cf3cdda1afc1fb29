import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startRestartable } from './restartable-server.ts';

export const ACME = { user: 'hirebridge', password: 'acme-password' };

export type AcmeStaff = Record<string, unknown> & { id: string; version: number; at: string };

interface Task {
  state: 'waiting' | 'done' | 'refused';
  staffId: string;
}

/** The system that `definitions/acme.yaml` describes, with everything that such systems do to their clients. */
export interface AcmeServer {
  url: string;
  staff: Map<string, AcmeStaff>;
  tasks: Map<string, Task>;
  mood: 'well' | 'throttled' | 'revoked';
  /** Answers a request of this method instead of working, once. */
  next?: { method: string; answer: (response: ServerResponse) => void };
  finish(ticket: string): void;
  refuse(ticket: string): void;
  touch(ids: readonly string[]): void;
  add(count: number): string[];
  edit(id: string, change: (staff: AcmeStaff) => void): void;
  endSessions(): void;
  logins: number;
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
    mood: 'well',
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
    void serve({ acme, sessions, add }, request, response);
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
  const text = Buffer.concat(chunks).toString('utf8');
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://acme');
  const say = (status: number, json: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
  const { next } = acme;
  if (next?.method === request.method && !pathname.endsWith('/login')) {
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
  const [, , kind, id] = pathname.split('/');
  if (kind === 'tasks') {
    const task = acme.tasks.get(decodeURIComponent(id ?? ''));
    return task === undefined ? say(404, {}) : say(200, { state: task.state, staffId: task.staffId });
  }
  if (kind === 'changes') return say(200, pageOf(changed(acme, query.get('since') ?? ''), query, 'changed'));
  if (kind === 'staff' && id === undefined && request.method === 'GET')
    return say(200, pageOf(found(acme, query), query, 'staff'));
  if (kind === 'staff' && id === undefined) {
    const task = randomUUID();
    // Who is to be hired is there at once, and has a number once the job is done.
    acme.tasks.set(task, { state: 'waiting', staffId: add({ ...body, status: 'pending' }).id });
    return say(202, { task });
  }
  const known = acme.staff.get(decodeURIComponent(id ?? ''));
  if (known === undefined) return say(404, {});
  if (request.method === 'GET') return say(200, known);
  if (request.headers['if-match'] !== String(known.version)) return say(412, {});
  acme.edit(known.id, (one) => {
    for (const key of Object.keys(one)) if (!['id', 'version', 'at', 'staffNo'].includes(key)) delete one[key];
    const { id: _id, version: _version, at: _at, staffNo: _number, ...given } = body;
    Object.assign(one, given);
  });
  return say(200, acme.staff.get(known.id));
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
