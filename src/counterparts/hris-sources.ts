import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { endChild } from '../temporal/dev-server/spawn-tied.ts';
import { API_KEY, FILE_CATEGORY, markChanged, REFERENCE_FIELD, startBambooDouble } from './bamboohr-double.ts';
import { type CustomerJob, startCustomerJob, takeRequests } from './customer-job.ts';
import { installPython, serveUntilAnswers } from './install-once.ts';
import { ODOO_PASSWORD, startOdoo } from './start-odoo.ts';
import { startPostgres } from './start-postgres.ts';
import { startSftp } from './start-sftp.ts';
import { SLAPD_BASE, SLAPD_LEAVERS, SLAPD_PASSWORD, SLAPD_PEOPLE, SLAPD_USER, startSlapd } from './start-slapd.ts';
import { startTryton, TRYTON_PASSWORD, type TrytonServer } from './start-tryton.ts';

/** An employee in the HR system's own records. */
export interface OwnEmployee {
  id: string;
  /** The id, if it assigns no numbers. */
  number: string;
  /** The connector's reference: `<partner company>:<candidate id>`. */
  reference: string | null;
  email: string | null;
}

export interface CustomerHris {
  /** `hris:` in the tenant file, without the connection. */
  settings: Record<string, unknown>;
  /** What is sent to the partner as Employee ID: the number, unless the HR system assigns none. */
  employeeId?: 'id';
  /** The secrets that `settings` refers to. */
  env: NodeJS.ProcessEnv;
  /** From its own records, bypassing all that the connector uses. */
  employees(): Promise<OwnEmployee[]>;
  /** Deletes a record, or merges it into another, as HR would. */
  remove?(id: string): Promise<void>;
  close(): Promise<void>;
}

/** A counterpart that gives each customer an HR system of its own. */
export interface HrisSource {
  open(): Promise<CustomerHris>;
  stop(): Promise<void>;
}

/** Kinds other than `sql`, whose tables need no counterpart. */
export const hrisSources = {
  tryton: startTrytons,
  ldap: startSlapds,
  sftp: startSftps,
  bamboohr: startBamboos,
  scim: startScims,
  odoo: startOdoos,
} as const satisfies Record<string, () => Promise<HrisSource>>;

/** One installation; each customer has a copy of its database with its own server. */
async function startTrytons(): Promise<HrisSource> {
  const base = await startTryton();
  return {
    async open() {
      const server = await base.fork();
      const { url, database, company } = server;
      const login = { user: 'admin', password: 'env:COUNTERPART_TRYTON_PASSWORD' };
      return {
        settings: { kind: 'tryton', url, database, company, ...login, allowPrivateAddress: true },
        env: { COUNTERPART_TRYTON_PASSWORD: TRYTON_PASSWORD },
        employees: () => readTryton(server),
        close: () => server.stop(),
      };
    },
    stop: () => base.stop(),
  };
}

/** Reads its tables, bypassing the server. */
async function readTryton({ sql }: Pick<TrytonServer, 'sql'>): Promise<OwnEmployee[]> {
  const rows = await sql(`select employee.id::text as id, party.code as number,
      (select code from party_identifier where party = party.id order by id limit 1) as reference,
      (select value from party_contact_mechanism
        where party = party.id and type = 'email' order by id limit 1) as email
    from company_employee as employee join party_party as party on party.id = employee.party order by employee.id`);
  return rows as OwnEmployee[];
}

/** A directory for each customer. */
async function startSlapds(): Promise<HrisSource> {
  return {
    async open() {
      const server = await startSlapd();
      const places = { base: SLAPD_BASE, createIn: SLAPD_PEOPLE, leaver: { moveTo: SLAPD_LEAVERS } };
      const login = { bindDn: SLAPD_USER, password: 'env:COUNTERPART_SLAPD_PASSWORD' };
      return {
        settings: { kind: 'ldap', url: server.url, ...login, ...places, allowPrivateAddress: true },
        employeeId: 'id',
        env: { COUNTERPART_SLAPD_PASSWORD: SLAPD_PASSWORD },
        employees: async () =>
          (await server.people()).map((one) => {
            const [id = ''] = one.get('entryUUID') ?? [];
            return {
              id,
              number: id,
              reference: one.get('employeeType')?.[0] ?? null,
              email: one.get('mail')?.[0] ?? null,
            };
          }),
        close: () => server.stop(),
      };
    },
    stop: async () => undefined,
  };
}

/** Like Tryton, but without employee numbers. */
async function startOdoos(): Promise<HrisSource> {
  const base = await startOdoo();
  return {
    async open() {
      const { url, database, sql, stop } = await base.fork();
      const login = { user: 'admin', password: 'env:COUNTERPART_ODOO_PASSWORD' };
      return {
        settings: { kind: 'odoo', url, database, ...login, allowPrivateAddress: true },
        employeeId: 'id',
        env: { COUNTERPART_ODOO_PASSWORD: ODOO_PASSWORD },
        // The administrator is an employee from the start, so leave them out.
        employees: async () =>
          (await sql(`select employee.id::text as id, employee.id::text as number, x_hirebridge as reference, home.email
            from hr_employee as employee left join res_partner as home on home.id = employee.address_home_id
            where employee.id > 1 order by employee.id`)) as OwnEmployee[],
        close: stop,
      };
    },
    stop: () => base.stop(),
  };
}

/** A server for each customer, with the customer's job; the jobs share one Postgres. */
async function startSftps(): Promise<HrisSource> {
  const postgres = await startPostgres();
  return {
    async open() {
      const server = await startSftp();
      const job = await startCustomerJob(server.root, postgres);
      await job.writeRoster();
      const ended = new AbortController();
      const working = takeRequests(server.root, job, ended.signal);
      const { port, hostKey, privateKey, passphrase } = server;
      const where = { host: '127.0.0.1', port, user: userInfo().username, hostKey, allowPrivateAddress: true };
      const secrets = { privateKey: 'env:COUNTERPART_SSH_KEY', passphrase: 'env:COUNTERPART_SSH_PASSPHRASE' };
      return {
        settings: { kind: 'sftp', ...where, ...secrets, checkEvery: '1s', endColumn: 'last_day' },
        env: { COUNTERPART_SSH_KEY: privateKey, COUNTERPART_SSH_PASSPHRASE: passphrase },
        employees: () => readCustomer(job),
        async remove(id) {
          await job.sql('delete from employee where employee_id = $1', [id]);
          await job.writeRoster();
        },
        async close() {
          ended.abort();
          await working;
          await job.stop();
          await server.stop();
        },
      };
    },
    stop: () => postgres.stop(),
  };
}

function readCustomer({ sql }: CustomerJob): Promise<OwnEmployee[]> {
  return sql<OwnEmployee>(
    'select employee_id as id, employee_number as number, reference, email from employee order by employee_id',
  );
}

async function startBamboos(): Promise<HrisSource> {
  return {
    async open() {
      const double = await startBambooDouble();
      const where = { url: double.url, apiKey: 'env:COUNTERPART_BAMBOOHR_KEY', allowPrivateAddress: true };
      const employment = { active: 'Full-Time', ended: 'Terminated' };
      const account = { referenceField: REFERENCE_FIELD, fileCategory: FILE_CATEGORY, employment };
      return {
        settings: { kind: 'bamboohr', ...where, ...account, readLag: '0ms' },
        env: { COUNTERPART_BAMBOOHR_KEY: API_KEY },
        employees: async () =>
          [...double.company.employees].map(([id, one]) => ({
            id,
            number: one['employeeNumber'] ?? '',
            reference: one[REFERENCE_FIELD] ?? null,
            email: one['homeEmail'] ?? null,
          })),
        async remove(id) {
          double.company.employees.delete(id);
          markChanged(double.company, id, 'Deleted');
        },
        close: () => double.close(),
      };
    },
    stop: async () => undefined,
  };
}

async function startScims(): Promise<HrisSource> {
  return {
    async open() {
      const server = await startScim();
      return {
        settings: { kind: 'scim', url: server.url, token: 'env:COUNTERPART_SCIM_TOKEN', allowPrivateAddress: true },
        employeeId: 'id',
        env: { COUNTERPART_SCIM_TOKEN: SCIM_SERVER_TOKEN },
        employees: async () =>
          (await server.users()).map(({ id, externalId, emails }) => ({
            id,
            number: id,
            reference: externalId ?? null,
            email: emails?.[0]?.value ?? null,
          })),
        close: () => server.stop(),
      };
    },
    stop: async () => undefined,
  };
}

export const SCIM_SERVER_TOKEN = 'scim-server-test-0123456789';

/** A user in the server's form. */
type ScimUser = Record<string, unknown> & { id: string; externalId?: string; emails?: { value?: string }[] };

/** scim2-server of PyPI: an independent SCIM server with users, filters and versions, in memory. */
export interface ScimServer {
  url: string;
  /** Calls it as any other client would. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  users(): Promise<ScimUser[]>;
  stop(): Promise<void>;
}

/** Exact versions, so that a newer one cannot change a test. */
const REQUIREMENTS = [
  'scim2-server==0.8.3',
  'scim2-models==0.12.3',
  'pydantic==2.14.4',
  'pydantic_core==2.50.5',
  'annotated-types==0.8.0',
  'typing-inspection==0.4.5',
  'typing_extensions==4.16.0',
  'email-validator==2.4.0',
  'dnspython==2.9.2',
  'idna==3.20',
  'lark==1.3.1',
];

export async function startScim(): Promise<ScimServer> {
  const bin = await installPython('scim2-server-0.8.3', REQUIREMENTS);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/v2`;
  const args = ['--port', String(port), '--bearer-token', SCIM_SERVER_TOKEN];
  const child = await serveUntilAnswers(join(bin, 'scim2-server'), args, url);
  const call = createCall(url);
  return { url, call, users: () => readUsers(call), stop: () => endChild(child, 'SIGKILL') };
}

function createCall(url: string): ScimServer['call'] {
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${SCIM_SERVER_TOKEN}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  };
}

async function readUsers(call: ScimServer['call']): Promise<ScimUser[]> {
  const users: ScimUser[] = [];
  for (;;) {
    const page = await call<{ totalResults: number; Resources?: ScimUser[] }>(
      'GET',
      `/Users?startIndex=${users.length + 1}&count=500`,
    );
    users.push(...(page.Resources ?? []));
    if (users.length >= page.totalResults || page.Resources?.length === 0) return users;
  }
}
