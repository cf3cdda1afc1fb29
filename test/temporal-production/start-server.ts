import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../src/free-port.ts';
import { endChild, spawnTied } from '../../src/temporal/dev-server/spawn-tied.ts';
import { searchAttributes } from '../../src/temporal/ids.ts';
import { until } from '../harness/until.ts';
import type { ServerBinaries } from './build-server.ts';
import { type Databases, dynamicConfig, type ServerPorts, serverConfig } from './server-config.ts';

const run = promisify(execFile);

/** Those of the product, of type Keyword. */
const SEARCH_ATTRIBUTES = Object.keys(searchAttributes);

export interface ProductionServer {
  address: string;
  stop(): Promise<void>;
}

export interface ServerOptions extends ServerBinaries {
  /** The Temporal CLI, which makes namespace and search attributes. */
  cli: string;
  postgresUrl: string;
  logFile: string;
}

/** Temporal as it runs in production: its own server, databases made by its schema tool, set up by its own CLI. */
export async function startServer(options: ServerOptions): Promise<ProductionServer> {
  const databases = databasesOf(options.postgresUrl);
  await makeDatabases(options.sqlTool, databases);
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-temporal-'));
  const ports = await choosePorts();
  const dynamicConfigFile = join(folder, 'dynamic.yaml');
  await writeFile(dynamicConfigFile, dynamicConfig);
  await writeFile(join(folder, 'production.yaml'), serverConfig(databases, ports, dynamicConfigFile));
  const args = ['--root', '/', '--config', folder, '--env', 'production', '--allow-no-auth', 'start'];
  const child = spawnTied(options.server, args);
  const log = createWriteStream(options.logFile);
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  const stop = async (): Promise<void> => {
    await endChild(child, 'SIGTERM', 15_000);
    await rm(folder, { recursive: true, force: true });
  };
  const address = `127.0.0.1:${ports.frontend}`;
  const died = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`Temporal's server ended with ${code}: see ${options.logFile}`)));
  });
  died.catch(() => undefined);
  try {
    await Promise.race([setUp(options.cli, address), died]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, stop };
}

function databasesOf(postgresUrl: string): Databases {
  const { hostname, port, username } = new URL(postgresUrl);
  const names = { persistence: 'temporal', visibility: 'temporal_visibility' };
  return { host: hostname, port, user: username, names };
}

async function makeDatabases(sqlTool: string, { host, port, user, names }: Databases): Promise<void> {
  const schemas = { persistence: 'postgresql/v12/temporal', visibility: 'postgresql/v12/visibility' };
  for (const kind of ['persistence', 'visibility'] as const) {
    const at = ['--plugin', 'postgres12', '--ep', host, '--port', port, '--user', user, '--database', names[kind]];
    await run(sqlTool, [...at, 'create']);
    await run(sqlTool, [...at, 'setup-schema', '--version', '0.0']);
    await run(sqlTool, [...at, 'update-schema', '--schema-name', schemas[kind]]);
  }
}

async function choosePorts(): Promise<ServerPorts> {
  const of = async () => ({
    frontend: await freePort(),
    history: await freePort(),
    matching: await freePort(),
    worker: await freePort(),
  });
  return { ...(await of()), membership: await of() };
}

/** The namespace `default` and the search attributes; each is asked for until the server has it. */
async function setUp(cli: string, address: string): Promise<void> {
  const at = ['--address', address, '--command-timeout', '10s'];
  const ask = async (...args: string[]): Promise<boolean> => {
    try {
      await run(cli, [...args, ...at]);
      return true;
    } catch {
      return false;
    }
  };
  const named = SEARCH_ATTRIBUTES.flatMap((name) => ['--name', name, '--type', 'Keyword']);
  const make = ['operator', 'search-attribute', 'create', '--namespace', 'default', ...named];
  const patient = { timeoutMs: 120_000, everyMs: 1_000 };
  await until('the server answers', () => ask('operator', 'cluster', 'health'), patient);
  await run(cli, ['operator', 'namespace', 'create', '--namespace', 'default', '--retention', '24h', ...at]);
  await until('the namespace is known', () => ask('operator', 'namespace', 'describe', 'default'), patient);
  await until('the search attributes are made', () => ask(...make), patient);
}
