import { resolve } from 'node:path';
import { ConnectorError } from '../../errors.ts';
import { fieldDefs, lookedUp } from '../columns.ts';
import type {
  DescribedField,
  Employees,
  HrisAdapter,
  HrisConnection,
  HrisSystem,
  Landing,
  LandingConnection,
  Requisitions,
  WriteOptions,
} from '../port.ts';
import { probed } from '../probed.ts';
import { changedEmployees, employeeNews } from './changes.ts';
import type { SqlDatabase, SqlHris } from './database.ts';
import { describeTable } from './describe.ts';
import { employeeFolder } from './employee-folder.ts';
import { createHrisTables, createLandingTables } from './ensure-hris-schema.ts';
import { findEmployee, isTaken, readEmployee } from './find.ts';
import { givesNumber } from './gives-number.ts';
import { landRows, readHashes, readRows } from './land.ts';
import { GONE_AT, type LandingTable, landingKeys } from './landing-options.ts';
import { openSqlDatabase } from './open-database.ts';
import { narrowed, type SqlOptions, sqlOptions } from './options.ts';
import { resolvePending } from './pending.ts';
import { probeEmployees, userOf } from './probe.ts';
import { hasMarks, readIds, removeRows } from './remove.ts';
import type { RequisitionTable } from './requisition-options.ts';
import {
  amendRequisition,
  listRequisitions,
  listResumes,
  readList,
  readRequisitions,
  updateRequisition,
} from './requisitions.ts';
import { setupOf } from './setup.ts';
import { explainSqlError } from './sql-errors.ts';
import { whileOpen } from './while-open.ts';
import {
  amendEmployee,
  assertThere,
  createEmployee,
  rehireEmployee,
  terminateEmployee,
  updateEmployee,
} from './write-employee.ts';

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

/** Runs work on the open database until the signal aborts; every failure is a ConnectorError. */
type Reach = <T>(signal: AbortSignal, work: (database: SqlDatabase) => Promise<T>) => Promise<T>;

/** Connects at the first call. */
function openConnection(options: SqlOptions): HrisConnection {
  const database = openSqlDatabase(options.url, { create: options.createTable });
  const reach = reaching(database, options, createHrisTables);
  return {
    capabilities: { storesReference: options.referenceColumn !== undefined, readLagMs: options.readLag },
    employees: employeesOf(options, reach),
    ...changesOf(options, reach),
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
    ...(options.requisitions && { requisitions: requisitionsOf(options.requisitions, reach) }),
    ...resumesOf(options, reach),
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

function changesOf(
  options: SqlOptions,
  reach: Reach,
): Pick<HrisConnection, 'changes' | 'requisitions' | 'resumes' | 'lists' | 'pending'> {
  const { changes, requisitions, lists, job } = options;
  return {
    ...(lists && {
      lists: { read: (list, signal) => reach(signal, (database) => readList(database, list, lists)) },
    }),
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
    ...(requisitions && { requisitions: requisitionsOf(requisitions, reach) }),
    ...resumesOf(options, reach),
  };
}

function resumesOf({ resumes }: SqlOptions, reach: Reach): Pick<HrisConnection, 'resumes'> {
  if (resumes === undefined) return {};
  return { resumes: { list: (signal) => reach(signal, (database) => listResumes(database, resumes)) } };
}

function filesOf(options: SqlOptions, reach: Reach): Pick<HrisConnection, 'files'> {
  if (options.files === undefined) return {};
  const assertKnown = (id: string, signal: AbortSignal) =>
    reach(signal, (database) => assertThere({ database, options }, id));
  return { files: employeeFolder(options.files.folder, assertKnown) };
}

function requisitionsOf(table: RequisitionTable, reach: Reach): Requisitions {
  return {
    listOpen: (signal) => reach(signal, (database) => listRequisitions(database, table)),
    read: (ids, signal) => reach(signal, (database) => readRequisitions(database, table, ids)),
    update: async (id, fields, write) => {
      const database = await reach(write.signal, async (open) => open);
      return updateRequisition(database, table, { id, fields }, write);
    },
    amend: async (id, amendment, write) => {
      const database = await reach(write.signal, async (open) => open);
      return amendRequisition(database, table, { id, ...amendment }, write);
    },
  };
}

/** Writes run outside `reach`: a driver knows better than a signal whether a write was sent. */
function employeesOf(options: SqlOptions, reach: Reach): Employees {
  const open = async ({ signal }: WriteOptions): Promise<SqlHris> => ({
    database: await reach(signal, async (database) => database),
    options,
  });
  return {
    find: (key, signal) => reach(signal, (database) => findEmployee({ database, options }, key)),
    read: (id, signal) => reach(signal, (database) => readEmployee({ database, options }, id)),
    isTaken: (name, value, signal) => reach(signal, (database) => isTaken({ database, options }, name, value)),
    create: async (fields, reference, write) => createEmployee(await open(write), fields, reference, write),
    update: async (id, fields, write) => updateEmployee(await open(write), id, fields, write),
    amend: async (id, amendment, write) => amendEmployee(await open(write), id, amendment, write),
    ...endingsOf(options, open),
  };
}

/** Only if the table has a column for the last day. */
function endingsOf(
  { endColumn }: SqlOptions,
  open: (write: WriteOptions) => Promise<SqlHris>,
): Pick<Employees, 'rehire' | 'terminate'> {
  if (endColumn === undefined) return {};
  return {
    rehire: async (id, fields, write) => rehireEmployee(await open(write), { id, endColumn }, fields, write),
    terminate: async (id, lastDay, write) => terminateEmployee(await open(write), { id, endColumn }, lastDay, write),
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

function landingOf(options: SqlOptions, reach: Reach): Landing {
  async function reachTable<T>(
    stream: string,
    signal: AbortSignal,
    work: (database: SqlDatabase, table: LandingTable) => Promise<T>,
  ): Promise<T> {
    const table = landingTable(options, stream);
    return reach(signal, async (database) => {
      try {
        return await work(database, table);
      } catch (error) {
        throw explainLandingError(error, table);
      }
    });
  }
  return {
    land: (stream, rows, { signal, ...how }) =>
      reachTable(stream, signal, (database, table) => landRows(database, table, rows, how)),
    read: (stream, ids, { signal, tenant }) =>
      reachTable(stream, signal, (database, table) => readRows(database, table, tenant, ids)),
    hashes: (stream, ids, { signal, tenant }) =>
      reachTable(stream, signal, (database, table) => readHashes(database, table, tenant, ids)),
    ids: (stream, { signal, ...which }) =>
      reachTable(stream, signal, (database, table) => readIds(database, table, which)),
    marks: (stream, { signal }) => reachTable(stream, signal, hasMarks),
    remove: (stream, ids, { signal, ...how }) =>
      reachTable(stream, signal, (database, table) => removeRows(database, table, ids, how)),
  };
}

function landingTable({ landing }: SqlOptions, stream: string): LandingTable {
  const table = landing[stream];
  if (table === undefined) throw new Error(`The connection was opened without a landing table for ${stream}.`);
  return table;
}

/**
 * Faults of the landing table itself: they end the stream's run, but do not affect the tenant's hires, which use
 * another table.
 */
const ofTheTable: ReadonlySet<string> = new Set(['HRIS_FORBIDDEN', 'HRIS_MISCONFIGURED']);

/** Like `explainSqlError`, for a landing table. */
function explainLandingError(error: unknown, { table, columns }: LandingTable): ConnectorError {
  const known = explainSqlError(error, { sent: false });
  if (!ofTheTable.has(known.code)) return known;
  const [, source = 'no code', next = ''] = /\(([^()]*)\)\.(.*)$/.exec(known.message) ?? [];
  const needed = [...Object.values(landingKeys), ...Object.values(columns).map(({ column }) => column)].join(', ');
  const why =
    known.code === 'HRIS_FORBIDDEN'
      ? 'may not be read and written by this user. Grant select, insert and update on it'
      : `does not exist, or lacks a column or its unique key. It needs the columns ${needed}, unique on ` +
        `(${landingKeys.tenant}, ${landingKeys.id}); set another name or other columns in hris.landing`;
  return new ConnectorError({
    code: 'LANDING_UNUSABLE',
    action: 'reject',
    message: `The landing table ${table} of the HRIS database ${why} (${source}).${next}`,
    cause: known,
  });
}
