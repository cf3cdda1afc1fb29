import { join } from 'node:path';
import type { CustomerHris, hrisSources } from '../../counterparts/hris-sources.ts';
import type { DemoKind } from './demo-kinds.ts';
import { type EmployeeRow, type HrisTables, openTables } from './hris-tables.ts';

/** The HR system of the demo's first customer. */
export interface DemoHris {
  /** YAML under `hris:` in the tenant file, without the connection. */
  settings: string;
  /** What the partner is told as Employee ID. */
  employeeId: 'number' | 'id';
  /** The secrets that `settings` refers to. */
  env: NodeJS.ProcessEnv;
  /** The demo counts what stands there, not what the connector says it did. */
  employees(): Promise<EmployeeRow[]>;
  /** Where the partner's records land, and what streams are shown on; absent where there are no tables. */
  tables?: HrisTables;
  close(): Promise<void>;
}

/** Installs what is missing, as its kind's tests do. */
export async function openDemoHris(kind: DemoKind, dir: string): Promise<DemoHris> {
  switch (kind) {
    case 'sql':
      return sqlHris(`sqlite:${join(dir, 'hris.db')}`, async () => undefined);
    case 'postgresql':
      return onPostgres();
    case 'mariadb':
      return onMariadb();
    case 'tryton':
    case 'sftp':
    case 'bamboohr':
    case 'scim':
      return onCounterpart(kind);
  }
}

function sqlHris(url: string, stop: () => Promise<void>): DemoHris {
  const tables = openTables(url);
  return {
    settings: `  kind: sql
  url: ${JSON.stringify(url)}
  createTable: true # for demonstrations; a customer's table belongs to the customer
  changes: { column: changed_at, overlap: 2s } # how employees that somebody edited there are found
`,
    employeeId: 'number',
    env: {},
    employees: () => tables.employees(),
    tables,
    async close() {
      await tables.close();
      await stop();
    },
  };
}

async function onPostgres(): Promise<DemoHris> {
  const { startPostgres } = await import('../../counterparts/start-postgres.ts');
  const { newDatabase } = await import('../../counterparts/new-database.ts');
  const server = await startPostgres();
  return sqlHris(await newDatabase(server.url), () => server.stop());
}

async function onMariadb(): Promise<DemoHris> {
  const { startMariadb } = await import('../../counterparts/start-mariadb.ts');
  const server = await startMariadb();
  return sqlHris(await server.newDatabase(), () => server.stop());
}

async function onCounterpart(kind: keyof typeof hrisSources): Promise<DemoHris> {
  const { hrisSources: sources } = await import('../../counterparts/hris-sources.ts');
  const source = await sources[kind]();
  const hris = await source.open();
  return {
    settings: yamlOf(hris.settings),
    employeeId: hris.employeeId ?? 'number',
    env: hris.env,
    employees: () => hris.employees(),
    async close() {
      await hris.close();
      await source.stop();
    },
  };
}

function yamlOf(settings: CustomerHris['settings']): string {
  return Object.entries(settings)
    .map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`)
    .join('');
}
