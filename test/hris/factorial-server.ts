import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startRestartable } from './restartable-server.ts';

export const FACTORIAL_KEY = 'factorial-key';

type Row = Record<string, unknown> & { id: number };

/** As Factorial's public reference describes employees and their contract versions; nothing there is made only once. */
export interface FactorialServer {
  url: string;
  employees: Map<number, Row>;
  contracts: Map<number, Row>;
  /** Contract versions of an employee, in the order in which they were made. */
  contractsOf(id: unknown): Row[];
  close(): Promise<void>;
}

const PAGE = 40;

export async function startFactorialServer(): Promise<FactorialServer> {
  const employees = new Map<number, Row>();
  const contracts = new Map<number, Row>();
  const contractsOf = (id: unknown): Row[] =>
    [...contracts.values()].filter(({ employee_id: owner }) => owner === Number(id));
  let nextId = 1_000;
  const add = (rows: Map<number, Row>, given: object): Row => {
    nextId += 1;
    const made = { ...given, id: nextId };
    rows.set(nextId, made);
    return made;
  };
  const serve = async (asked: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const say = (status: number, body: unknown): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (asked.headers['x-api-key'] !== FACTORIAL_KEY) return say(401, {});
    const sent = await text(asked);
    const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
    const { pathname, searchParams: query } = new URL(asked.url ?? '/', 'http://factorial');
    const [, , room, kind, id, act] = pathname.split('/');
    if (room === 'api_public') return say(200, {});
    const rows = kind === 'employees' ? employees : contracts;
    const known = rows.get(Number(id));
    if (id === undefined && asked.method === 'GET') {
      const listed = kind === 'employees' ? [...rows.values()] : contractsOf(query.get('employee_ids[]'));
      const from = Number(query.get('cursor') ?? 0);
      const more = from + PAGE < listed.length;
      return say(200, {
        data: listed.slice(from, from + PAGE),
        meta: { has_next_page: more, end_cursor: more ? String(from + PAGE) : null },
      });
    }
    if (id === undefined && kind === 'employees')
      return say(201, add(rows, { ...body, active: true, company_identifier: `F${nextId}` }));
    if (id === undefined) {
      if (!employees.has(Number(body['employee_id']))) return say(422, { errors: 'no such employee' });
      return say(201, add(rows, body));
    }
    if (known === undefined) return say(404, {});
    if (act === 'terminate') Object.assign(known, { active: false, terminated_on: body['terminated_on'] });
    else if (act === 'unterminate') Object.assign(known, { active: true, terminated_on: null });
    else if (asked.method === 'DELETE') rows.delete(known.id);
    else Object.assign(known, asked.method === 'PUT' ? body : {});
    return say(200, known);
  };
  const server = await startRestartable((asked, response) => void serve(asked, response));
  return { url: server.origin, employees, contracts, contractsOf, close: () => server.close() };
}
