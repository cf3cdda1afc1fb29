import { type ChildProcess, execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RawBuilder, sql } from 'kysely';
import { freePort } from '../free-port.ts';
import { openSqlDatabase } from '../hris/sql/open-database.ts';
import { endChild, spawnTied } from '../temporal/dev-server/spawn-tied.ts';
import { ensurePackages, untilSays } from './install-once.ts';

const run = promisify(execFile);

/** A temporary MariaDB from Debian. */
export interface MariadbServer {
  /** Creates a database; its URL has the administrator's login. */
  newDatabase(): Promise<string>;
  /** Kills it with SIGKILL and restarts it on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** MariaDB refuses to run as root without this option. */
const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];

/** Supports TLS if given a key and certificate. */
export async function startMariadb(tls?: { key: Buffer; cert: Buffer }): Promise<MariadbServer> {
  await ensurePackages('mariadb-server');
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-mariadb-'));
  const data = join(folder, 'data');
  const made = ['--no-defaults', `--datadir=${data}`, ...asRoot];
  await run('mariadb-install-db', [...made, '--auth-root-authentication-method=normal', '--skip-test-db']);
  const port = await freePort();
  // A table of 400 columns may exceed the row size; without strict mode, that is checked for each row.
  const settings = [...(await tlsSettings(folder, tls)), '--innodb-strict-mode=OFF', `--socket=${folder}/socket`];
  const begin = () => serve([...made, ...settings, '--bind-address=127.0.0.1', `--port=${port}`]);
  let child = await begin();
  return {
    async newDatabase() {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await onMariadb(`mariadb://root@127.0.0.1:${port}/mysql`, sql`create database ${sql.ref(name)} charset utf8mb4`);
      return `mariadb://root@127.0.0.1:${port}/${name}`;
    },
    async restart() {
      await endChild(child, 'SIGKILL');
      child = await begin();
    },
    async stop() {
      await endChild(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function tlsSettings(folder: string, tls: { key: Buffer; cert: Buffer } | undefined): Promise<string[]> {
  if (tls === undefined) return [];
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await Promise.all([writeFile(key, tls.key), writeFile(cert, tls.cert)]);
  return [`--ssl-key=${key}`, `--ssl-cert=${cert}`];
}

/** Resolves when it takes connections. */
async function serve(args: readonly string[]): Promise<ChildProcess> {
  const child = spawnTied('mariadbd', args);
  const trouble = await untilSays(child, /ready for connections/);
  if (trouble !== undefined) throw new Error(`MariaDB did not start: ${trouble}`);
  return child;
}

/** Runs a statement on its own connection and returns the rows. */
export async function onMariadb<Row>(url: string, statement: RawBuilder<Row>): Promise<Row[]> {
  const database = openSqlDatabase(url);
  try {
    return (await statement.execute(database.kysely)).rows;
  } finally {
    await database.close();
  }
}
