import { type ChildProcess, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ConnectorError, rejected } from '../errors.ts';
import { freePort } from '../free-port.ts';
import { endChild } from '../temporal/dev-server/spawn-tied.ts';
import { ensurePackages, installOnce, serveUntilAnswers } from './install-once.ts';
import { asAdmin, copyOf, nameOf, newDatabase, rowsOf, startPostgres, type TestPostgres } from './start-postgres.ts';

const run = promisify(execFile);

/** Password of the user `admin` in a new database. */
export const ODOO_PASSWORD = 'admin';

/** Odoo 14 of Debian 11 with its HR application, on its own Postgres. */
export interface OdooServer {
  url: string;
  database: string;
  /** Calls a model's method as Odoo's own client would, and returns the result. */
  call<T>(model: string, method: string, args: unknown[], kwargs?: Record<string, unknown>): Promise<T>;
  /** Runs a statement in its database and returns the rows. */
  sql(statement: string): Promise<unknown[]>;
  /** Kills it with SIGKILL and restarts it on the same port. */
  restart(): Promise<void>;
  /** Starts another server on a copy of this database in its initial state; `several`: it shows all databases. */
  fork(several?: boolean): Promise<Omit<OdooServer, 'fork'>>;
  stop(): Promise<void>;
}

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' };

/** Installs Debian 11 into its own folder and runs Odoo inside. @throws ConnectorError NO_ODOO if that is impossible */
export async function startOdoo(): Promise<OdooServer> {
  const root = await installOnce('odoo-14-bullseye', install);
  const postgres = await startPostgres();
  await asAdmin(postgres.url, 'create role odoo superuser login');
  const databaseUrl = await newDatabase(postgres.url);
  const made = ['-i', 'hr', '--without-demo=all', '--stop-after-init', '--no-http'];
  const init = argsOf(root, postgres, [...databaseArgs(databaseUrl), ...made]);
  await run('unshare', init, { env: ENVIRONMENT, maxBuffer: 64 * 1024 * 1024 });
  const first = await begin(root, postgres, databaseUrl);
  await customize(first.call);
  const copyUrl = await copyOf(databaseUrl);
  // Copying ended its connections.
  await first.restart();
  return {
    ...first,
    fork: async (several) => begin(root, postgres, await copyOf(copyUrl), several),
    async stop() {
      await first.stop();
      await postgres.stop();
    },
  };
}

async function install(folder: string): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw noOdoo('it runs in a folder with a Debian 11 of its own, which only root can make, on Linux');
  await ensurePackages('debootstrap', 'util-linux');
  const args = ['--variant=minbase', '--include=odoo-14', 'bullseye', folder];
  await run('debootstrap', args, { env: ENVIRONMENT, maxBuffer: 64 * 1024 * 1024 }).catch((cause: unknown) => {
    throw noOdoo('debootstrap did not get Debian 11 with odoo-14', cause);
  });
}

function noOdoo(why: string, cause?: unknown): ConnectorError {
  return rejected('NO_ODOO', `Odoo cannot be installed: ${why}.`, { cause });
}

/** Odoo looks itself up in /proc, which is mounted only for it. */
function argsOf(root: string, { url }: TestPostgres, more: readonly string[]): string[] {
  const inside = 'mount -t proc proc "$1/proc" && exec chroot "$@"';
  const database = ['--db_host', '127.0.0.1', '--db_port', new URL(url).port, '--db_user', 'odoo'];
  return ['--mount', '/bin/sh', '-c', inside, 'sh', root, '/usr/bin/odoo', ...database, '--data-dir', '/tmp', ...more];
}

function databaseArgs(databaseUrl: string, several = false): string[] {
  return ['-d', nameOf(databaseUrl), '--db-filter', several ? '.*' : `^${nameOf(databaseUrl)}$`];
}

async function begin(
  root: string,
  postgres: TestPostgres,
  databaseUrl: string,
  several?: boolean,
): Promise<Omit<OdooServer, 'fork'>> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const own = `--http-interface 127.0.0.1 --http-port ${port} --workers 0 --max-cron-threads 0`.split(' ');
  const args = argsOf(root, postgres, [...databaseArgs(databaseUrl, several), ...own]);
  const serve = (): Promise<ChildProcess> =>
    serveUntilAnswers('unshare', args, `${url}/web/login`, { env: ENVIRONMENT });
  let child = await serve();
  return {
    url,
    database: nameOf(databaseUrl),
    call: createCall(url, nameOf(databaseUrl)),
    sql: (statement) => rowsOf(databaseUrl, statement),
    async restart() {
      await endChild(child, 'SIGKILL');
      child = await serve();
    },
    stop: () => endChild(child, 'SIGKILL'),
  };
}

/** Uses Odoo's calls with name and password, which the connector does not use. */
function createCall(url: string, database: string): OdooServer['call'] {
  return async <T>(model: string, method: string, args: unknown[], kwargs = {}) => {
    const params = {
      service: 'object',
      method: 'execute_kw',
      args: [database, 2, ODOO_PASSWORD, model, method, args, kwargs],
    };
    const answer = await fetch(`${url}/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'call', params }),
    });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: unknown };
    if (error !== undefined) throw new Error(JSON.stringify(error).slice(0, 600));
    return result as T;
  };
}

/** Creates the customer's fields, and keeps files in the database, so that copies contain them. */
async function customize(call: OdooServer['call']): Promise<void> {
  const [model] = await call<number[]>('ir.model', 'search', [[['model', '=', 'hr.employee']]]);
  for (const [name, ttype, label] of [
    ['x_hirebridge', 'char', 'Hirebridge reference'],
    ['x_start_date', 'date', 'Start date'],
  ])
    await call('ir.model.fields', 'create', [
      { name, ttype, field_description: label, model_id: model, state: 'manual' },
    ]);
  await call('ir.config_parameter', 'set_param', ['ir_attachment.location', 'db']);
}
