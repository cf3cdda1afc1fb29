import { join } from 'node:path';
import type { CustomerHris, hrisSources, OwnEmployee } from '../../counterparts/hris-sources.ts';
import { openSqlDatabase } from '../../hris/sql/open-database.ts';

/** HR systems for the demo's customer: `sql` is a SQLite file, and all others are started beside the demo. */
export const DEMO_KINDS = ['sql', 'postgresql', 'mariadb', 'tryton', 'sftp', 'bamboohr', 'scim', 'odoo'] as const;

export type DemoKind = (typeof DEMO_KINDS)[number];

/** The HR system of the demo's first customer. */
export interface DemoHris {
  /** YAML under `hris:` in the tenant file, without the connection. */
  settings: string;
  /** What is sent to the partner as Employee ID. */
  employeeId: 'number' | 'id';
  /** The secrets that `settings` refers to. */
  env: NodeJS.ProcessEnv;
  /** The HR system's own records: the demo counts these, not what the connector reports. */
  employees(): Promise<EmployeeRow[]>;
  /** Tables for landed records and for the streams of the demo; absent if the HR system has none. */
  tables?: HrisTables;
  close(): Promise<void>;
}

/** Installs missing parts, like the tests of this kind. */
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
    case 'odoo':
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
  const { newDatabase } = await import('../../counterparts/start-postgres.ts');
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

/** The HRIS's own record, without personal data. */
export type EmployeeRow = Omit<OwnEmployee, 'email'>;

/** The HRIS's own tables, read and edited as its users would. */
export interface HrisTables {
  employees(): Promise<EmployeeRow[]>;
  count(table: string): Promise<number>;
  rows(table: string): Promise<Record<string, unknown>[]>;
  readCity(id: string): Promise<unknown>;
  /** HR corrects a number, and edits the city as well. */
  edit(id: string, values: { number: string; city: string }): Promise<void>;
  close(): Promise<void>;
}

function openTables(url: string): HrisTables {
  const database = openSqlDatabase(url, { create: true });
  const known = new Set<string>();
  /** The connector creates the tables when it first connects. */
  const isMade = async (table: string): Promise<boolean> => {
    if (!known.has(table)) for (const { name } of await database.kysely.introspection.getTables()) known.add(name);
    return known.has(table);
  };
  return {
    async employees() {
      if (!(await isMade('employees'))) return [];
      const { kysely } = database;
      const columns = ['id', 'employee_number', 'external_ref'];
      const rows = await kysely.selectFrom('employees').select(columns).orderBy('id').execute();
      return rows.map(({ id, employee_number: number, external_ref: reference }) => ({
        id: String(id),
        number: String(number),
        reference: typeof reference === 'string' ? reference : null,
      }));
    },
    async count(table) {
      if (!(await isMade(table))) return 0;
      const count = database.kysely.fn.countAll().as('n');
      return Number((await database.kysely.selectFrom(table).select(count).executeTakeFirst())?.['n']);
    },
    async rows(table) {
      return (await isMade(table)) ? database.kysely.selectFrom(table).selectAll().execute() : [];
    },
    async readCity(id) {
      const query = database.kysely.selectFrom('employees').select('city').where('id', '=', id);
      return (await query.executeTakeFirst())?.['city'];
    },
    async edit(id, { number, city }) {
      // SQLite derives the number from the id, so a corrected number has a column of its own.
      const column = database.dialect === 'sqlite' ? 'corrected_number' : 'employee_number';
      await database.kysely
        .updateTable('employees')
        .set({ [column]: number, city })
        .where('id', '=', id)
        .execute();
    },
    close: () => database.close(),
  };
}
