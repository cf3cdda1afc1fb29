import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { ensurePackages } from './install-once.ts';
import { newDatabase, startPostgres, type TestPostgres } from './start-postgres.ts';

const run = promisify(execFile);

/** The customer's decision about a request for a new employee. */
export type Decision = 'create' | 'wait' | { reject: string };

/**
 * The customer's own job, built from independent tools: gpg decrypts, Postgres' COPY reads requests and writes results
 * and rosters, and a sequence numbers the employees.
 */
export interface CustomerJob {
  /** Its OpenPGP public key; only the job has the private one. */
  publicKey: string;
  /** Our public key, if results and rosters are to be encrypted. */
  encryptTo?: string;
  decide: (requestId: string) => Decision;
  /** Takes every ready request, then writes results and a roster. */
  run(): Promise<void>;
  writeRoster(): Promise<string>;
  /** Runs a statement in its database. */
  sql<T = Record<string, unknown>>(statement: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

const KEYS = ['employee_id', 'employee_number', 'request_id', 'reference'];

const SCHEMA = `
  create sequence ids start 100; create sequence numbers start 1;
  create table employee (
    employee_id text primary key default 'E' || nextval('ids'),
    employee_number text unique default lpad(nextval('numbers')::text, 6, '0'),
    request_id text unique, reference text unique,
    given_name text, family_name text, email text, phone text, title text, start_date text, birth_date text,
    last_day text);
  create table document (employee_id text, name text, bytes bytea);
  create table said (n int generated always as identity, request_id text, status text, employee_id text,
    employee_number text, error text, shown boolean default false);`;

/** Works on the folders under `root`, with its own Postgres unless one is given. */
export async function startCustomerJob(root: string, shared?: TestPostgres): Promise<CustomerJob> {
  await ensurePackages('gnupg');
  const postgres = shared ?? (await startPostgres());
  const client = new pg.Client({ connectionString: await newDatabase(postgres.url) });
  await client.connect();
  await client.query(SCHEMA);
  const desk = await mkdtemp(join(tmpdir(), 'hirebridge-customer-'));
  // Postgres runs as another user and reads and writes there.
  await chmod(desk, 0o777);
  const publicKey = await makeKeyring(join(desk, 'keys'));
  const office: Office = { root, desk, client, written: 0 };
  const job: CustomerJob = {
    publicKey,
    decide: () => 'create',
    async run() {
      for (const name of await readyRequests(root)) await takeRequest(office, name, job);
      await writeResults(office, job);
      await job.writeRoster();
    },
    writeRoster: async () => {
      const columns = (await columnsOf(client)).filter((column) => column !== 'request_id');
      return writeTable(office, job, 'rosters', `select ${columns.join()} from employee order by employee_id`);
    },
    sql: async (statement, values) => (await client.query(statement, values)).rows,
    async stop() {
      await client.end();
      if (shared === undefined) await postgres.stop();
      await run('gpgconf', ['--homedir', join(desk, 'keys'), '--kill', 'all']).catch(() => undefined);
      await rm(desk, { recursive: true, force: true });
    },
  };
  return job;
}

/** Runs the job whenever requests are ready, like a scheduler, until told to stop. */
export async function takeRequests(root: string, job: CustomerJob, ended: AbortSignal): Promise<void> {
  for (; !ended.aborted; await pause(300)) if ((await readyRequests(root)).length > 0) await job.run();
}

interface Office {
  root: string;
  desk: string;
  client: pg.Client;
  written: number;
}

async function makeKeyring(home: string): Promise<string> {
  await mkdir(home, { mode: 0o700 });
  const gpg = ['--homedir', home, '--batch', '--passphrase', ''];
  await run('gpg', [...gpg, '--quick-gen-key', 'HR <hr@acme.example>', 'default', 'default', 'never']);
  return (await run('gpg', [...gpg, '--armor', '--export'])).stdout;
}

/** In the order in which they became ready. */
async function readyRequests(root: string): Promise<string[]> {
  const ready = (await readdir(join(root, 'requests'))).filter((name) => name.endsWith('.ready'));
  const dated = ready.map(async (name) => ({ name, at: (await stat(join(root, 'requests', name))).mtimeMs }));
  const inOrder = (await Promise.all(dated)).toSorted((a, b) => a.at - b.at);
  return inOrder.map(({ name }) => name.slice(0, -'.ready'.length));
}

/** A request that waits for a person's decision stays in place. */
async function takeRequest(office: Office, name: string, { decide }: CustomerJob): Promise<void> {
  const { root, desk } = office;
  const id = name.replace(/\.[0-9a-f]{12}\.csv(?:\.pgp)?$/, '');
  const decision = decide(id);
  if (decision === 'wait') return;
  const inbox = join(root, 'requests', name);
  const plain = join(desk, `${id}.csv`);
  await unseal(office, inbox, plain);
  await readInto(office.client, plain);
  if (id.startsWith('file-')) await fileDocument(office);
  else if (id.startsWith('change-')) await applyChange(office.client);
  else await hire(office.client, decision);
  await rm(`${inbox}.ready`);
  await rm(inbox);
  await rm(plain);
}

async function unseal({ desk }: Office, sealed: string, plain: string): Promise<void> {
  if (sealed.endsWith('.pgp'))
    await run('gpg', ['--homedir', join(desk, 'keys'), '--batch', '-o', plain, '--decrypt', sealed]);
  else await writeFile(plain, await readFile(sealed));
}

/** Puts the document beside the row into the employee's record, if it matches the row. */
async function fileDocument(office: Office): Promise<void> {
  const { root, desk, client } = office;
  const { rows } = await client.query<Record<string, string>>('select * from incoming');
  const [row = {}] = rows;
  const inbox = join(root, 'requests', row['document'] ?? '');
  const plain = join(desk, 'document');
  await unseal(office, inbox, plain);
  const bytes = await readFile(plain);
  if (createHash('sha256').update(bytes).digest('hex') !== row['sha256']) throw new Error('not what the row says');
  const values = [row['employee_id'], row['file_name'], bytes];
  await client.query('insert into document (employee_id, name, bytes) values ($1, $2, $3)', values);
  await rm(inbox);
  await rm(plain);
}

/** COPY checks the file; an unknown column is added to the employees. */
async function readInto(client: pg.Client, file: string): Promise<void> {
  const header = (await readFile(file, 'utf8')).split('\r\n', 1)[0] ?? '';
  const columns = header.replaceAll('"', '').split(',');
  await client.query('drop table if exists incoming');
  await client.query(`create table incoming (${columns.map((column) => `${column} text`).join()})`);
  await client.query(`copy incoming from '${file}' with (format csv, header match)`);
  if (columns.includes('document')) return;
  const unseen = columns.filter((column) => column !== 'action');
  for (const column of unseen) await client.query(`alter table employee add column if not exists ${column} text`);
}

async function hire(client: pg.Client, decision: Exclude<Decision, 'wait'>): Promise<void> {
  if (decision !== 'create') {
    await client.query("insert into said (request_id, status, error) select request_id, 'rejected', $1 from incoming", [
      decision.reject,
    ]);
    return;
  }
  const columns = ['request_id', 'reference', ...(await valuesIn(client))].join();
  await client.query(`insert into employee (${columns}) select ${columns} from incoming on conflict do nothing`);
  await client.query(
    `insert into said (request_id, status, employee_id, employee_number)
     select request_id, 'created', employee_id, employee_number from employee join incoming using (request_id)`,
  );
}

async function applyChange(client: pg.Client): Promise<void> {
  const given = (await valuesIn(client)).map((column) => `${column} = i.${column}`).join();
  await client.query(`update employee e set ${given} from incoming i where i.employee_id = e.employee_id`);
}

async function valuesIn(client: pg.Client): Promise<string[]> {
  return (await columnsOf(client, 'incoming')).filter((column) => ![...KEYS, 'action'].includes(column));
}

async function columnsOf(client: pg.Client, table = 'employee'): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
     order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

async function writeResults(office: Office, job: CustomerJob): Promise<void> {
  const columns = 'request_id, status, employee_id, employee_number, error';
  const { rowCount } = await office.client.query('select 1 from said where not shown');
  if (rowCount === 0) return;
  await writeTable(office, job, 'results', `select ${columns} from said where not shown order by n`);
  await office.client.query('update said set shown = true');
}

/** The name sorts by time; the ready file is written last. */
async function writeTable(office: Office, job: CustomerJob, folder: string, query: string): Promise<string> {
  const { root, desk, client } = office;
  office.written += 1;
  const name = `${folder}-${String(office.written).padStart(6, '0')}.csv`;
  const plain = join(desk, name);
  await client.query(`copy (${query}) to '${plain}' with (format csv, header)`);
  const sealed = await seal(desk, plain, job);
  const final = join(root, folder, sealed === plain ? name : `${name}.gpg`);
  await writeFile(`${final}.tmp`, await readFile(sealed));
  await rename(`${final}.tmp`, final);
  await writeFile(`${final}.ready`, '');
  return final;
}

async function seal(desk: string, plain: string, { encryptTo }: CustomerJob): Promise<string> {
  if (encryptTo === undefined) return plain;
  const key = join(desk, 'theirs.asc');
  await writeFile(key, encryptTo);
  const home = ['--homedir', join(desk, 'keys'), '--batch', '--yes', '--trust-model', 'always'];
  await run('gpg', [...home, '--recipient-file', key, '-o', `${plain}.gpg`, '--encrypt', plain]);
  return `${plain}.gpg`;
}
