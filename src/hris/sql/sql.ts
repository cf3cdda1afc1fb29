import { resolve } from 'node:path';
import { fieldDefs, lookedUp } from '../columns.ts';
import type { DescribedField, Employees, HrisAdapter, HrisConnection, HrisSystem, LandingConnection } from '../port.ts';
import { probed } from '../records.ts';
import { type Reach, type SqlDatabase, whileOpen } from './database.ts';
import { describeTable } from './describe.ts';
import { employeeFolder } from './employee-folder.ts';
import { landingOf, landingTable } from './land.ts';
import { openSqlDatabase } from './open-database.ts';
import { GONE_AT, type LandingTable, landingKeys, narrowed, type SqlOptions, sqlOptions } from './options.ts';
import { givesNumber, probeEmployees, userOf } from './probe.ts';
import { changedEmployees, employeeNews, findEmployee, isTaken, readEmployee } from './read-employees.ts';
import { listsOf, requisitionsOf } from './requisitions.ts';
import { createHrisTables, createLandingTables, setupOf } from './setup.ts';
import { explainSqlError } from './sql-errors.ts';
import { assertThere, resolvePending, writesOf } from './write-rows.ts';

const USUAL_PORT: Readonly<Record<string, string>> = { 'mariadb:': '3306' };

/** Identifies the table in its database, independent of login and spelling of the address. */
function systemOf({ url, table }: SqlOptions): HrisSystem {
  if (url.startsWith('sqlite:')) return { url: `sqlite:${resolve(url.slice('sqlite:'.length))}`, table };
  const address = URL.canParse(url) ? new URL(url) : undefined;
  // A reference whose secret is not available here.
  if (address === undefined || !address.pathname.startsWith('/') || /^(?:env|file):/.test(url)) return { url, table };
  const { searchParams: said, username, pathname } = address;
  const path = pathname.slice(1);
  return {
    dialect: address.protocol === 'mariadb:' ? 'mariadb' : 'postgres',
    // Postgres also accepts these in the query, and lets them win.
    host: (said.get('host') ?? address.hostname).toLowerCase(),
    port: said.get('port') ?? (address.port || (USUAL_PORT[address.protocol] ?? '5432')),
    database: path === '' ? username : path,
    // It may name a schema of the database.
    options: said.get('options') ?? '',
    table,
  };
}

/** An employees table in Postgres, MariaDB or SQLite; it belongs to the HRIS and numbers the employees itself. */
export const sql: HrisAdapter<SqlOptions> = {
  optionsSchema: sqlOptions,
  systemOf,
  employeeFields: (options) => fieldDefs(options).map(lookedUp),
  supports: ({ files, job, referenceColumn }) => ({
    files: files !== undefined,
    amend: true,
    accounts: job === undefined && referenceColumn !== undefined,
  }),
  requisitionFields: ({ requisitions }) => (requisitions === undefined ? [] : fieldDefs(requisitions)),
  employeeUrl: ({ employeeUrl }) => employeeUrl,
  listNames: ({ lists = {} }) => Object.keys(lists),
  landingFields: (options, stream) => fieldDefs(landingTable(options, stream)),
  open: async (options, _limits, inUse) => openConnection(narrowed(options, inUse)),
  setup: setupOf,
};

/** Connects at the first call. */
function openConnection(options: SqlOptions): HrisConnection {
  const database = openSqlDatabase(options.url, { create: options.createTable });
  const reach = reaching(database, options, createHrisTables);
  return {
    capabilities: { storesReference: options.referenceColumn !== undefined, readLagMs: options.readLag },
    employees: employeesOf(options, reach),
    ...changesOf(options, reach),
    ...requisitionsOf(options, reach),
    ...listsOf(options, reach),
    ...filesOf(options, reach),
    landing: landingOf(options, reach),
    describe: (subject, signal) => {
      const { table, columns } = subject === 'employee' ? options : landingTable(options, subject);
      return reach(signal, (open) => describeColumns(open, { table, columns }, options));
    },
    givesNumber: (signal) => reach(signal, (open) => givesNumber(open, options)),
    probe: (signal) => probed(reach(signal, (open) => probeEmployees(open, options))),
    close: () => database.close(),
  };
}

/** Opens the same database for landing tables and open positions only: nobody is hired into it. */
export function openLandingTables(options: SqlOptions): LandingConnection {
  const database = openSqlDatabase(options.url, { create: options.createTable });
  const reach = reaching(database, options, createLandingTables);
  return {
    landing: landingOf(options, reach),
    ...requisitionsOf(options, reach),
    describe: (stream, signal) =>
      reach(signal, (open) => describeColumns(open, landingTable(options, stream), options)),
    close: () => database.close(),
  };
}

/** Creates the demonstration's tables once, before the first use. */
function reaching(database: SqlDatabase, options: SqlOptions, create: typeof createHrisTables): Reach {
  let created: Promise<void> | undefined;
  const ready = async (): Promise<SqlDatabase> => {
    created ??= options.createTable ? create(database, options) : Promise.resolve();
    await created.catch((error: unknown) => {
      created = undefined;
      throw error;
    });
    return database;
  };
  return async (signal, work) => {
    try {
      return await whileOpen(database.whileUsed(ready().then(work)), signal);
    } catch (error) {
      throw explainSqlError(error, { sent: false, user: userOf(options.url) });
    }
  };
}

function changesOf(options: SqlOptions, reach: Reach): Pick<HrisConnection, 'changes' | 'pending'> {
  const { changes, job } = options;
  return {
    ...(job && {
      pending: {
        resolve: (ticket, signal) => reach(signal, (database) => resolvePending({ database, options }, ticket)),
      },
    }),
    ...(changes && {
      changes: {
        since: (cursor, signal) =>
          reach(signal, (database) => changedEmployees({ database, options }, changes, cursor)),
        news: (cursor, signal) =>
          reach(signal, (database) => employeeNews({ database, options }, changes.column, cursor)),
      },
    }),
  };
}

function filesOf(options: SqlOptions, reach: Reach): Pick<HrisConnection, 'files'> {
  if (options.files === undefined) return {};
  const assertKnown = (id: string, signal: AbortSignal) =>
    reach(signal, (database) => assertThere({ database, options }, id));
  return { files: employeeFolder(options.files.folder, assertKnown) };
}

function employeesOf(options: SqlOptions, reach: Reach): Employees {
  return {
    find: (key, signal) => reach(signal, (database) => findEmployee({ database, options }, key)),
    read: (id, signal) => reach(signal, (database) => readEmployee({ database, options }, id)),
    isTaken: (name, value, signal) => reach(signal, (database) => isTaken({ database, options }, name, value)),
    ...writesOf(options, reach),
  };
}

/** Leaves out columns that are not fields: an employee's key, number and reference, and those of every landing row. */
async function describeColumns(
  database: SqlDatabase,
  { table, columns }: LandingTable,
  { idColumn, numberColumn, referenceColumn, endColumn, changes }: SqlOptions,
): Promise<DescribedField[]> {
  const own = [idColumn, numberColumn, referenceColumn, endColumn, changes?.column, GONE_AT];
  const ours = new Set([...own, ...Object.values(landingKeys)]);
  return (await describeTable(database, table, columns)).filter(({ isField, label }) => isField || !ours.has(label));
}
