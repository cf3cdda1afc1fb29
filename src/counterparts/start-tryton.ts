import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import { endChild } from '../temporal/dev-server/spawn-tied.ts';
import { ensurePackages, serveUntilAnswers } from './install-once.ts';
import { copyOf, nameOf, newDatabase, rowsOf, startPostgres, type TestPostgres } from './start-postgres.ts';

const run = promisify(execFile);

export const TRYTON_PASSWORD = 'tryton-test-0123456789';

/** A Tryton on its own Postgres, with one company. */
export interface TrytonServer {
  url: string;
  port: number;
  database: string;
  company: number;
  /** Calls it as its own client would; returns the result of `model.…`. */
  call<T>(method: string, ...params: unknown[]): Promise<T>;
  /** Runs a statement in its database and returns the rows. */
  sql(statement: string): Promise<unknown[]>;
  /** Kills it with SIGKILL and restarts it on the same port. */
  restart(): Promise<void>;
  /** Starts another server on a copy of this database, in its state after the company was made. */
  fork(): Promise<Omit<TrytonServer, 'fork'>>;
  stop(): Promise<void>;
}

export async function startTryton(): Promise<TrytonServer> {
  // With python3-phonenumbers, which Debian recommends, Tryton checks phones and writes them with spaces.
  const packages = ['tryton-server', 'tryton-modules-company', 'python3-psycopg2', 'python3-phonenumbers'];
  await ensurePackages(...packages);
  const postgres = await startPostgres();
  const databaseUrl = await newDatabase(postgres.url);
  const installing = await mkdtemp(join(tmpdir(), 'hirebridge-tryton-'));
  await install(await configure(postgres, installing, 0), nameOf(databaseUrl), installing);
  await rm(installing, { recursive: true, force: true });
  const first = await begin(postgres, databaseUrl);
  const company = await seed(first.call);
  const copyUrl = await copyOf(databaseUrl);
  // Copying ended its connections, which the next calls would still be given.
  await first.restart();
  return {
    ...first,
    company,
    fork: async () => ({ ...(await begin(postgres, await copyOf(copyUrl))), company }),
    async stop() {
      await first.stop();
      await postgres.stop();
    },
  };
}

async function begin(postgres: TestPostgres, databaseUrl: string): Promise<Omit<TrytonServer, 'company' | 'fork'>> {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-tryton-'));
  const port = await freePort();
  const config = await configure(postgres, folder, port);
  const url = `http://127.0.0.1:${port}`;
  const serve = () => serveUntilAnswers('trytond', ['-c', config], url);
  let child = await serve();
  return {
    url,
    port,
    database: nameOf(databaseUrl),
    call: createCall(url, nameOf(databaseUrl)),
    sql: (statement) => rowsOf(databaseUrl, statement),
    async restart() {
      await endChild(child, 'SIGKILL');
      child = await serve();
    },
    async stop() {
      await endChild(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function configure({ url }: TestPostgres, folder: string, port: number): Promise<string> {
  const { host, username } = new URL(url);
  const config = join(folder, 'trytond.conf');
  const lines = [
    '[database]',
    `uri = postgresql://${username}@${host}/`,
    `path = ${folder}`,
    '[web]',
    `listen = 127.0.0.1:${port}`,
    '[session]',
    'max_attempt = 5',
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  return config;
}

/** Tryton's own tool creates the tables and activates the company module. */
async function install(config: string, database: string, folder: string): Promise<void> {
  const password = join(folder, 'password');
  await writeFile(password, TRYTON_PASSWORD);
  const env = { ...process.env, TRYTONPASSFILE: password };
  const admin = (...args: string[]) => run('trytond-admin', ['-c', config, '-d', database, ...args], { env });
  await admin('--all', '--email', 'admin@example.org');
  await admin('-u', 'company', '--activate-dependencies');
}

/** Opens a session for each call, because tests end sessions. */
function createCall(url: string, database: string): TrytonServer['call'] {
  const post = async (body: unknown, headers: Record<string, string> = {}): Promise<unknown> => {
    const answer = await fetch(`${url}/${database}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: unknown };
    if (error !== undefined && error !== null) throw new Error(JSON.stringify(error));
    return result;
  };
  return async <T>(method: string, ...params: unknown[]) => {
    const login = { id: 1, method: 'common.db.login', params: ['admin', { password: TRYTON_PASSWORD }] };
    const [user, key] = (await post(login)) as [number, string];
    const authorization = `Session ${Buffer.from(`admin:${user}:${key}`).toString('base64')}`;
    return (await post({ id: 1, method, params: [...params, {}] }, { authorization })) as T;
  };
}

async function seed(call: TrytonServer['call']): Promise<number> {
  const [currency] = await call<number[]>('model.currency.currency.create', [
    { name: 'Euro', symbol: '€', code: 'EUR' },
  ]);
  const [party] = await call<number[]>('model.party.party.create', [{ name: 'Acme' }]);
  const [company] = await call<number[]>('model.company.company.create', [{ party, currency }]);
  return Number(company);
}
