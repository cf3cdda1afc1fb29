import { resolve } from 'node:path';
import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import { fieldDefs } from '../option-types.ts';
import type {
  DescribedField,
  Employees,
  FieldDef,
  FieldsInUse,
  HrisAdapter,
  HrisConnection,
  HrisSystem,
  Landing,
  LandingConnection,
  Landings,
  Requisitions,
  SetupStatement,
} from '../port.ts';
import { unlessAborted } from '../read-many.ts';
import { probed } from '../records.ts';
import { explainSqlError, type Reach, type SqlDatabase } from './database.ts';
import { describeTable, givesNumber, probeEmployees, userOf } from './describe.ts';
import { employeeFolder } from './employee-folder.ts';
import { landingOf, landingTable } from './land.ts';
import { openSqlDatabase } from './open-database.ts';
import {
  databaseUrl,
  GONE_AT,
  type LandingTable,
  landingKeys,
  landingOptions,
  narrowed,
  requisitionOptions,
  resumeOptions,
  type SqlOptions,
  sqlOptions,
} from './options.ts';
import { changedEmployees, employeeNews, findEmployee, isTaken, readEmployee } from './read-employees.ts';
import { createHrisTables, createLandingTables, setupOf } from './setup.ts';
import { assertThere, listsOf, requisitionsOf, resolvePending, writesOf } from './write-rows.ts';

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
  open: async (options, _limits, inUse, today) =>
    openConnection({ ...narrowed(options, inUse), ...(today && { today }) }),
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
      return await unlessAborted(signal, database.whileUsed(ready().then(work)));
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

/** A database in which records land, beside an HR system of any kind. `url` may still be a reference to a secret. */
export function landingSection(landings: Landings) {
  return z.strictObject({
    kind: z.literal('sql', 'expected sql: records land in the tables of a database'),
    url: databaseUrl,
    /** A table for each stream, with the tenant's own names and additional columns. */
    tables: landingOptions(landings),
    /** Open positions, if they are in this database instead of the HR system. */
    requisitions: requisitionOptions.optional(),
    /** Files that become candidates, if they are in this database instead of the HR system. */
    resumes: resumeOptions.optional(),
    /** Creates the tables if they are missing. */
    createTable: z.boolean('expected true or false').default(false),
  });
}

type LandingOptions = z.output<ReturnType<typeof landingSection>>;

/** The fields that a stream's mapping may write. */
export function landingFieldsOf({ tables }: LandingOptions, stream: string): readonly FieldDef[] | undefined {
  const table = tables[stream];
  return table === undefined ? undefined : fieldDefs(table);
}

/** The fields of an open position; empty if there are none in this database. */
export function positionFieldsOf({ requisitions }: LandingOptions): readonly FieldDef[] {
  return requisitions === undefined ? [] : fieldDefs(requisitions);
}

/**
 * Opens the database at the first call, and calls `addressOf` only then: a bad address must only affect what lands
 * there, not the tenant's other work.
 */
export function openLanding(
  options: LandingOptions,
  addressOf: () => string,
  landings: Landings,
  inUse: FieldsInUse,
): LandingConnection {
  let opened: LandingConnection | undefined;
  const open = (): LandingConnection => {
    opened ??= openLandingTables(narrowed(asSql({ ...options, url: addressOf() }, landings), inUse));
    return opened;
  };
  const landing: Landing = {
    land: async (...given) => open().landing.land(...given),
    read: async (...given) => open().landing.read(...given),
    hashes: async (...given) => open().landing.hashes(...given),
    ids: async (...given) => open().landing.ids(...given),
    marks: async (...given) => (await open().landing.marks?.(...given)) ?? false,
    remove: async (...given) => open().landing.remove(...given),
  };
  const positions = () => open().requisitions as Required<Requisitions>;
  const requisitions: Required<Requisitions> = {
    listOpen: async (...given) => positions().listOpen(...given),
    read: async (...given) => positions().read(...given),
    update: async (...given) => positions().update(...given),
    amend: async (...given) => positions().amend(...given),
  };
  const describe: LandingConnection['describe'] = async (...given) => open().describe(...given);
  const resumes = { list: async (signal: AbortSignal) => (await open().resumes?.list(signal)) ?? [] };
  const { requisitions: told, resumes: listed } = options;
  const calls = { landing, describe, ...(told && { requisitions }), ...(listed && { resumes }) };
  return { ...speaksOfLanding(calls), close: async () => opened?.close() };
}

/** Statements that create what these fields need and the database lacks. Reads only. */
export async function landingSetup(
  options: LandingOptions,
  landings: Landings,
  inUse: FieldsInUse,
): Promise<SetupStatement[]> {
  const all = await setupOf(asSql(options, landings), inUse);
  return all.filter(({ subject }) => subject !== 'employee');
}

/** The section as options of the `sql` kind, which opens it. */
function asSql({ url, tables, requisitions, resumes, createTable }: LandingOptions, landings: Landings): SqlOptions {
  return { ...sqlOptions(landings).parse({ url }), landing: tables, requisitions, resumes, createTable };
}

function speaksOfLanding<T extends object>(calls: T): T {
  const members = Object.entries(calls).map(([name, member]: [string, unknown]): [string, unknown] => {
    if (typeof member === 'object' && member !== null) return [name, speaksOfLanding(member)];
    const call = member as (...given: unknown[]) => Promise<unknown>;
    const told = async (...given: unknown[]): Promise<unknown> => {
      try {
        return await call(...given);
      } catch (error) {
        throw ofLanding(error);
      }
    };
    return [name, told];
  });
  return Object.fromEntries(members) as T;
}

/** Codes that mean nothing can be opened; for an HR system they would stop the tenant. */
const OF_THE_ADDRESS: ReadonlySet<string> = new Set(['SECRET_MISSING', 'HRIS_OPTIONS_INVALID']);

/**
 * Trouble of this database is not trouble of the HR system: it ends the stream's run, but pauses neither the tenant nor
 * its hires, as invalid credentials of an HR system would.
 */
function ofLanding(error: unknown): unknown {
  if (error instanceof z.ZodError) return addressInvalid(error);
  if (!isConnectorError(error)) return error;
  const { code, action, details } = error;
  const isOfAddress = OF_THE_ADDRESS.has(code);
  if (!code.startsWith('HRIS_') && !isOfAddress && code !== 'LANDING_UNUSABLE') return error;
  const message = error.message
    .replaceAll('HRIS database', 'landing database')
    .replaceAll('hris.landing', 'landing.tables')
    .replaceAll('hris.', 'landing.');
  return new ConnectorError({
    code: code === 'LANDING_UNUSABLE' ? code : `LANDING_${code.replace('HRIS_', '')}`,
    action: action === 'reauthorize' || isOfAddress ? 'reject' : action,
    message: isOfAddress ? `landing.url cannot be used. ${message}` : message,
    ...(details && { details }),
    cause: error,
  });
}

/** Leaves out the address, which is a secret. */
function addressInvalid({ issues }: z.ZodError): ConnectorError {
  const expected = issues.map(({ message }) => message).join('; ');
  return rejected(
    'LANDING_OPTIONS_INVALID',
    `landing.url cannot be used: ${expected}. Correct the address, or what the reference leads to.`,
  );
}

/** Marks a text field as one that `isTaken` can look up. */
function lookedUp(def: FieldDef): FieldDef {
  return def.type === 'text' && def.options === undefined ? { ...def, isLookedUp: true } : def;
}
