import { sql as query } from 'kysely';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { CreateResult, EmployeeFields, HrisAdapter, HrisFacts, WriteOptions } from '../port.ts';
import type { HrisKind } from '../registry.ts';
import { openSqlDatabase, type SqlDatabase } from './database.ts';
import { createEmployeesTable } from './ensure-hris-schema.ts';
import { findEmployee } from './find.ts';
import { fieldDefs, type SqlOptions, sqlOptions } from './options.ts';
import { whileOpen } from './postgres.ts';
import { probeEmployees } from './probe.ts';
import { explainSqlError } from './sql-errors.ts';
import { byField, toColumns, toFields, toRef } from './values.ts';

/** An employees table in SQLite or Postgres that the HRIS owns and that numbers the employees itself. */
export const sql: HrisKind<SqlOptions> = { optionsSchema: sqlOptions as HrisKind<SqlOptions>['optionsSchema'], fields: fieldDefs, open: async (options) => openSqlAdapter(options) };

/** Opens the adapter; connects at the first call. */
export function openSqlAdapter(options: SqlOptions): HrisAdapter {
  const database = openSqlDatabase(options.url, { create: options.createTable });
  let created: Promise<void> | undefined;
  const ready = async (): Promise<SqlDatabase> => {
    created ??= options.createTable ? createEmployeesTable(database, options) : Promise.resolve();
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
    create: async (fields, reference, write) => createEmployee(await reading(write.signal, async (open) => open), options, fields, reference, write),
    update: async (id, fields, write) => updateEmployee(await reading(write.signal, async (open) => open), options, id, fields, write),
    read: (id, signal) => reading(signal, (open) => readEmployee(open, options, id)),
    close: () => database.close(),
  };
}

function factsOf(options: SqlOptions): HrisFacts {
  const trusted: ('reference' | 'number' | 'email' | 'person')[] = ['number'];
  if (options.referenceColumn !== undefined) trusted.push('reference');
  if (options.columns['email']) trusted.push('email');
  if (options.columns['birthDate']) trusted.push('person');
  return { trustedFilters: new Set(trusted), readLagMs: options.readLag, numberBy: options.numberBy, storesReference: options.referenceColumn !== undefined };
}

async function createEmployee(database: SqlDatabase, options: SqlOptions, fields: EmployeeFields, reference: string, write: WriteOptions): Promise<CreateResult> {
  const pairs = toColumns(fields, options);
  if (options.referenceColumn !== undefined) pairs.push([options.referenceColumn, reference]);
  const columns = query.join(pairs.map(([column]) => query.ref(column)));
  const values = query.join(pairs.map(([, value]) => value));
  const returned = query.join([query.ref(options.idColumn), query.ref(options.numberColumn)]);
  try {
    const [row] = await database.write((guard) => query`insert into ${query.table(options.table)} (${columns}) select ${values} where ${guard} returning ${returned}`, write);
    if (!row) throw tooLate();
    return { kind: 'created', ref: toRef(row, options) };
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    const ofReference = error.code === 'DUPLICATE_VALUE' && options.referenceColumn !== undefined && Object.keys(error.details ?? {}).includes(options.referenceColumn);
    throw ofReference ? await alreadyExists(database, options, reference) : byField(error, options);
  }
}

/** The reference is taken, so this employee was created before: not an error to repeat, but the answer. */
async function alreadyExists(database: SqlDatabase, options: SqlOptions, reference: string): Promise<ConnectorError> {
  const found = await findEmployee(database, options, { by: 'reference', value: reference }).catch(() => undefined);
  return new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: 'The HRIS already has the employee of this reference.',
    ...(found?.kind === 'one' ? { details: { ...found.ref } } : {}),
  });
}

async function updateEmployee(database: SqlDatabase, options: SqlOptions, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  const pairs = toColumns(fields, options);
  if (pairs.length === 0) return;
  const changes = query.join(pairs.map(([column, value]) => query`${query.ref(column)} = ${value}`));
  const idColumn = query.ref(options.idColumn);
  try {
    const rows = await database.write((guard) => query`update ${query.table(options.table)} set ${changes} where ${idColumn} = ${id} and ${guard} returning ${idColumn}`, write);
    if (rows.length > 0) return;
    throw (await readEmployee(database, options, id)) ? tooLate() : new ConnectorError({ code: 'EMPLOYEE_NOT_FOUND', action: 'reject', message: `The HRIS has no employee with the id ${id}.` });
  } catch (error) {
    throw isConnectorError(error) ? byField(error, options) : error;
  }
}

async function readEmployee(database: SqlDatabase, options: SqlOptions, id: string): ReturnType<HrisAdapter['read']> {
  // Compared as text by the database itself: an id of another HRIS's form is then absent, not an error.
  const row = await database.kysely.selectFrom(options.readFrom).selectAll().where(query<boolean>`cast(${query.ref(options.idColumn)} as text) = ${id}`).executeTakeFirst();
  if (!row) return undefined;
  const reference = options.referenceColumn === undefined ? undefined : row[options.referenceColumn];
  return { ref: toRef(row, options), fields: toFields(row, options), ...(typeof reference === 'string' ? { reference } : {}) };
}

function tooLate(): ConnectorError {
  return new ConnectorError({ code: 'DEADLINE_PASSED', action: 'retry', message: 'The write reached the HRIS database after its time was over; nothing was written.' });
}
