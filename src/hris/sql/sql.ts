import type { FindKey } from '../../hire/employee.ts';
import type { HrisAdapter, HrisFacts } from '../port.ts';
import type { HrisKind } from '../registry.ts';
import { openSqlDatabase, type SqlDatabase } from './database.ts';
import { createHrisTables } from './ensure-hris-schema.ts';
import { fieldDefs } from './field-options.ts';
import { findEmployee, readEmployee } from './find.ts';
import { landRows } from './land.ts';
import { explainLandingError } from './landing-errors.ts';
import type { LandingTable } from './landing-options.ts';
import { type SqlOptions, sqlOptions } from './options.ts';
import { whileOpen } from './postgres.ts';
import { probeEmployees } from './probe.ts';
import { explainSqlError } from './sql-errors.ts';
import { createEmployee, updateEmployee } from './write-employee.ts';

/** An employees table in SQLite or Postgres that the HRIS owns and that numbers the employees itself. */
export const sql: HrisKind<SqlOptions> = {
  optionsSchema: sqlOptions as unknown as HrisKind<SqlOptions>['optionsSchema'],
  fields: fieldDefs,
  landingFields: (options, stream) => fieldDefs(landingTable(options, stream)),
  open: async (options) => openSqlAdapter(options),
};

/** Opens the adapter; connects at the first call. */
export function openSqlAdapter(options: SqlOptions): HrisAdapter {
  const database = openSqlDatabase(options.url, { create: options.createTable });
  let created: Promise<void> | undefined;
  const ready = async (): Promise<SqlDatabase> => {
    created ??= options.createTable ? createHrisTables(database, options) : Promise.resolve();
    await created.catch((error: unknown) => {
      created = undefined;
      throw error;
    });
    return database;
  };
  const reading = async <T>(signal: AbortSignal, read: (open: SqlDatabase) => Promise<T>): Promise<T> => {
    try {
      return await whileOpen(ready().then(read), signal);
    } catch (error) {
      throw explainSqlError(error, { sent: false });
    }
  };
  const facts = factsOf(options);
  return {
    kind: 'sql',
    facts: () => facts,
    fields: () => fieldDefs(options),
    probe: async (signal) => {
      try {
        await reading(signal, (open) => probeEmployees(open, options));
        return { ok: true, facts };
      } catch (error) {
        return { ok: false, error: explainSqlError(error, { sent: false }) };
      }
    },
    find: (key, signal) => reading(signal, (open) => findEmployee(open, options, key)),
    create: async (fields, reference, write) =>
      createEmployee(await reading(write.signal, async (open) => open), options, fields, reference, write),
    update: async (id, fields, write) =>
      updateEmployee(await reading(write.signal, async (open) => open), options, id, fields, write),
    read: (id, signal) => reading(signal, (open) => readEmployee(open, options, id)),
    land: (stream, rows, { signal, ...how }) => {
      const table = landingTable(options, stream);
      const write = async (open: SqlDatabase) => {
        try {
          return await landRows(open, table, rows, how);
        } catch (error) {
          throw explainLandingError(error, table);
        }
      };
      return reading(signal, write);
    },
    close: () => database.close(),
  };
}

function landingTable({ landing }: SqlOptions, stream: string): LandingTable {
  const table = landing[stream];
  if (table === undefined) throw new Error(`The connection was opened without a landing table for ${stream}.`);
  return table;
}

function factsOf(options: SqlOptions): HrisFacts {
  const trusted: FindKey['by'][] = ['number'];
  if (options.referenceColumn !== undefined) trusted.push('reference');
  if (options.columns['email']) trusted.push('email');
  if (options.columns['birthDate']) trusted.push('person');
  return {
    trustedFilters: new Set(trusted),
    readLagMs: options.readLag,
    numberBy: options.numberBy,
    storesReference: options.referenceColumn !== undefined,
  };
}
