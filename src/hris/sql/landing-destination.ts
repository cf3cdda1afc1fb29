import { z } from 'zod';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import { fieldDefs } from '../columns.ts';
import type { FieldDef, FieldsInUse, LandingConnection, Landings, SetupStatement } from '../port.ts';
import { landingOptions } from './landing-options.ts';
import { narrowed, type SqlOptions, sqlOptions } from './options.ts';
import { requisitionOptions } from './requisition-options.ts';
import { setupOf } from './setup.ts';
import { openLandingTables } from './sql.ts';

const ADDRESSES = 'expected sqlite:PATH, postgres://..., mariadb://..., env:NAME or file:PATH';

/** A database where records land beside an HR system of any kind. `url` may still be a reference to a secret. */
export function landingSection(landings: Landings) {
  return z.strictObject({
    kind: z.literal('sql', 'expected sql: records land in the tables of a database'),
    url: z.string(ADDRESSES).regex(/^(?:sqlite:.+|postgres(?:ql)?:\/\/.+|mariadb:\/\/.+|env:\w+|file:.+)$/, ADDRESSES),
    /** Its own names and further columns, a table a stream. */
    tables: landingOptions(landings),
    /** Open positions, where they stand in this database and not in the HR system. */
    requisitions: requisitionOptions.optional(),
    /** Creates the tables when they are missing. */
    createTable: z.boolean('expected true or false').default(false),
  });
}

export type LandingOptions = z.output<ReturnType<typeof landingSection>>;

/** What a stream's mapping may write. */
export function landingFieldsOf({ tables }: LandingOptions, stream: string): readonly FieldDef[] | undefined {
  const table = tables[stream];
  return table === undefined ? undefined : fieldDefs(table);
}

/** What an open position holds; none where they do not stand there. */
export function positionFieldsOf({ requisitions }: LandingOptions): readonly FieldDef[] {
  return requisitions === undefined ? [] : fieldDefs(requisitions);
}

/** Opens it; every reference is resolved by now, and nothing is sent before the first call. */
export function openLanding(options: LandingOptions, landings: Landings, inUse: FieldsInUse): LandingConnection {
  const { close, ...calls } = openLandingTables(narrowed(asSql(options, landings), inUse));
  return { ...speaksOfLanding(calls), close };
}

/** What is missing there for these fields, as statements. Reads only. */
export async function landingSetup(
  options: LandingOptions,
  landings: Landings,
  inUse: FieldsInUse,
): Promise<SetupStatement[]> {
  const all = await setupOf(asSql(options, landings), inUse);
  return all.filter(({ subject }) => subject !== 'employee');
}

/** The section in the words of the `sql` kind, which opens it. */
function asSql({ url, tables, requisitions, createTable }: LandingOptions, landings: Landings): SqlOptions {
  return { ...sqlOptions(landings).parse({ url }), landing: tables, requisitions, createTable };
}

function speaksOfLanding<T extends object>(calls: T): T {
  const members = Object.entries(calls).map(([name, member]: [string, unknown]): [string, unknown] => {
    if (typeof member === 'object' && member !== null) return [name, speaksOfLanding(member)];
    const call = member as (...given: unknown[]) => Promise<unknown>;
    const told = async (...given: unknown[]): Promise<unknown> => {
      try {
        return await call(...given);
      } catch (error) {
        throw isConnectorError(error) ? ofLanding(error) : error;
      }
    };
    return [name, told];
  });
  return Object.fromEntries(members) as T;
}

/**
 * Trouble of this database is none of the HR system: it ends the stream's run, and pauses neither the tenant nor its
 * hires, which is what credentials that no longer work do there.
 */
function ofLanding(error: ConnectorError): ConnectorError {
  const { code, action, details } = error;
  if (!code.startsWith('HRIS_') && code !== 'LANDING_UNUSABLE') return error;
  return new ConnectorError({
    code: code.replace('HRIS_', 'LANDING_'),
    action: action === 'reauthorize' ? 'reject' : action,
    message: error.message
      .replaceAll('HRIS database', 'landing database')
      .replaceAll('hris.landing', 'landing.tables')
      .replaceAll('hris.', 'landing.'),
    ...(details && { details }),
    cause: error,
  });
}
