import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import { fieldDefs } from '../columns.ts';
import type {
  FieldDef,
  FieldsInUse,
  Landing,
  LandingConnection,
  Landings,
  Requisitions,
  SetupStatement,
} from '../port.ts';
import {
  databaseUrl,
  landingOptions,
  narrowed,
  requisitionOptions,
  resumeOptions,
  type SqlOptions,
  sqlOptions,
} from './options.ts';
import { setupOf } from './setup.ts';
import { openLandingTables } from './sql.ts';

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
