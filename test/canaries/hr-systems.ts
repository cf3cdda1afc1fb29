import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { API_KEY, FILE_CATEGORY, REFERENCE_FIELD, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import { startCustomerJob, takeRequests } from '../../src/counterparts/customer-job.ts';
import { newDatabase, rowsOf, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { startSftp } from '../../src/counterparts/start-sftp.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import type { WorldOptions } from '../harness/world-tenant.ts';

// HR systems that do not take somebody at first, and say so in words that quote who it is.

export interface HrSystem {
  options: Pick<WorldOptions, 'hris' | 'hrisUrl' | 'otherHris' | 'env'>;
  /** What takes any text: an answer to a question comes to stand there. */
  answerField: string;
  /** More of the tenant file. */
  settings: string;
  /** What it says of whoever has this e-mail address, until `accept`. */
  refuse(words: ReadonlyMap<string, string>): Promise<void>;
  accept(): Promise<void>;
  /** Ids that it gave, each a canary. */
  ids(): Promise<string[]>;
  /** Documents that it was given. */
  files(): Promise<number>;
  /** A folder of its where nothing of a person may stand, by its name. */
  notes: readonly (readonly [folder: string, place: string])[];
  close(): Promise<void>;
}

export const HR_SYSTEMS = { sql: startSql, sftp: startFiles, bamboohr: startBamboo } as const;

const NUMBER = `'CnyNumber' || substr(md5(random()::text), 1, 12)`;

/** A Postgres whose trigger raises an exception, with a folder for files. */
async function startSql(root: string): Promise<HrSystem> {
  const postgres = await startPostgres();
  const url = await newDatabase(postgres.url);
  const folder = join(root, 'hr-files');
  await mkdir(folder);
  await ensureHrisSchema(url, undefined, landings);
  const run = (statement: string) => rowsOf(url, statement);
  await run('create table refusals (email text, words text)');
  await run(`create function judge() returns trigger language plpgsql as $$ begin
    if exists (select from refusals where email = lower(new.email)) then
      raise exception '%', (select words from refusals where email = lower(new.email))
        using detail = format('Failing row contains (%s).', new);
    end if;
    new.employee_number := ${NUMBER};
    return new; end $$`);
  await run('create trigger judge before insert on employees for each row execute function judge()');
  return {
    options: { hrisUrl: url, hris: { files: { folder } } },
    answerField: 'department',
    settings: '',
    async refuse(words) {
      for (const [email, said] of words) await run(`insert into refusals values ('${email}', '${said}')`);
    },
    accept: async () => void (await run('delete from refusals')),
    ids: async () =>
      (await run('select employee_number as id from employees')).map((row) => (row as { id: string }).id),
    files: async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length,
    notes: [],
    close: () => postgres.stop(),
  };
}

/** Files by SFTP: the customer's job writes a rejection, and takes documents that were delivered. */
async function startFiles(root: string): Promise<HrSystem> {
  const postgres = await startPostgres();
  const server = await startSftp();
  const job = await startCustomerJob(server.root, postgres);
  await job.sql(`alter table employee alter column employee_number set default ${NUMBER}`);
  await job.writeRoster();
  const ended = new AbortController();
  let refused: ReadonlyMap<string, string> = new Map();
  job.decide = (id) => {
    const requests = join(server.root, 'requests');
    const [, words] = [...refused].find(([email]) => readRequest(requests, id).includes(email)) ?? [];
    return words === undefined ? 'create' : { reject: words };
  };
  const working = takeRequests(server.root, job, ended.signal);
  const { port, hostKey, privateKey, passphrase } = server;
  const where = { host: '127.0.0.1', port, user: userInfo().username, hostKey, allowPrivateAddress: true };
  const secrets = { privateKey: 'env:COUNTERPART_SSH_KEY', passphrase: 'env:COUNTERPART_SSH_PASSPHRASE' };
  const rows = (statement: string) => job.sql<{ id: string }>(statement);
  return {
    options: {
      otherHris: {
        settings: { kind: 'sftp', ...where, ...secrets, checkEvery: '1s', endColumn: 'last_day' },
        env: { COUNTERPART_SSH_KEY: privateKey, COUNTERPART_SSH_PASSPHRASE: passphrase },
        employees: async () => [],
      },
    },
    answerField: 'department',
    settings: beside(root),
    refuse: async (words) => void (refused = words),
    accept: async () => void (refused = new Map()),
    ids: async () => (await rows('select employee_number as id from employee')).map(({ id }) => id),
    files: async () => (await rows('select name as id from document')).length,
    notes: [[join(server.root, 'sent'), 'notes of what was sent']],
    async close() {
      ended.abort();
      await working;
      await job.stop();
      await server.stop();
      await postgres.stop();
    },
  };
}

/** Where records land that such a system has no tables for. */
function beside(root: string): string {
  return `landing: { kind: sql, url: "sqlite:${join(root, 'landing.db')}", createTable: true }\n`;
}

function readRequest(folder: string, id: string): string {
  const [name] = readdirSync(folder).filter((one) => one.startsWith(`${id}.`) && one.endsWith('.csv'));
  return name === undefined ? '' : readFileSync(join(folder, name), 'utf8').toLowerCase();
}

/**
 * A BambooHR behind a line of ours: it refuses new employees with words in header and body, and until `accept` reads
 * break off in the middle.
 */
async function startBamboo(root: string): Promise<HrSystem> {
  const double = await startBambooDouble();
  let refused: ReadonlyMap<string, string> = new Map();
  let [refusals, reads, isWell] = [0, 0, false];
  const line = createServer(async (request, response) => {
    const raw = await buffer(request);
    const sent = raw.toString('latin1').toLowerCase();
    const isCreate = request.method === 'POST' && request.url === '/api/v1/employees';
    const [, words] = isCreate ? ([...refused].find(([email]) => sent.includes(email)) ?? []) : [];
    if (words !== undefined) {
      refusals += 1;
      response.writeHead(refusals % 2 === 0 ? 500 : 400, { 'x-bamboohr-error-message': words });
      return void response.end(`<p>${words}</p>${sent}`);
    }
    const headers = Object.entries(request.headers).filter(
      ([name]) => !/^(host|connection|content-length)$/.test(name),
    );
    const asked = { method: request.method ?? 'GET', headers: headers as [string, string][] };
    const answer = await fetch(`${double.url}${request.url}`, raw.length === 0 ? asked : { ...asked, body: raw });
    const whole = Buffer.from(await answer.arrayBuffer());
    const isRead = (request.method === 'GET' || request.url?.includes('/datasets/') === true) && whole.includes('Cny');
    reads += isRead ? 1 : 0;
    const isBroken = isRead && !isWell && reads % 5 === 1;
    const told = [...answer.headers].filter(([name]) => !/^(connection|content-length|transfer-encoding)$/.test(name));
    response.writeHead(answer.status, Object.fromEntries(told));
    response.end(isBroken ? whole.subarray(0, whole.length - 3) : whole);
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  const { employees, files } = double.company;
  return {
    options: {
      otherHris: {
        settings: {
          kind: 'bamboohr',
          url: `http://127.0.0.1:${(line.address() as AddressInfo).port}`,
          apiKey: 'env:COUNTERPART_BAMBOOHR_KEY',
          referenceField: REFERENCE_FIELD,
          fileCategory: FILE_CATEGORY,
          employment: { active: 'Full-Time', ended: 'Terminated' },
          readLag: '0ms',
          allowPrivateAddress: true,
        },
        env: { COUNTERPART_BAMBOOHR_KEY: API_KEY },
        employees: async () => [],
      },
    },
    // A department is one of its list.
    answerField: 'location',
    settings: beside(root),
    refuse: async (words) => void (refused = words),
    async accept() {
      refused = new Map();
      isWell = true;
    },
    // It gives numbers of five digits, which stand anywhere.
    ids: async () => [],
    files: async () => [...employees.keys()].reduce((count, id) => count + (files.get(id)?.length ?? 0), 0),
    notes: [],
    async close() {
      line.closeAllConnections();
      line.close();
      await double.close();
    },
  };
}
