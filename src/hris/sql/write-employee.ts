import { sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { Amendment } from '../fields-to-amend.ts';
import type { CreateResult, WriteOptions } from '../port.ts';
import { amendRow } from './amend-row.ts';
import type { SqlHris } from './database.ts';
import { findEmployee, readEmployee } from './find.ts';
import { askAgain, createdOrPending } from './pending.ts';
import { tooLate, updateRow } from './update-row.ts';
import { byField, toColumns, toRef } from './values.ts';

/** One insert. ALREADY_EXISTS (ignore, details: the ref) if the reference is taken. */
export async function createEmployee(
  hris: SqlHris,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { database, options } = hris;
  const corrected = toColumns(fields, options);
  const pairs = [...corrected];
  if (options.referenceColumn !== undefined) pairs.push([options.referenceColumn, reference]);
  const columns = sql.join(pairs.map(([column]) => sql.ref(column)));
  const values = sql.join(pairs.map(([, value]) => value));
  const { table, idColumn, numberColumn, referenceColumn } = options;
  const known = referenceColumn === undefined ? {} : { reference: { column: referenceColumn, value: reference } };
  try {
    const [row] = await database.write(
      {
        table,
        build: (guard) => sql`insert into ${sql.table(table)} (${columns}) select ${values} where ${guard}`,
        returned: [idColumn, numberColumn],
        inserted: { idColumn, ...known },
      },
      write,
    );
    if (!row) throw tooLate();
    return createdOrPending(hris, toRef(row, options));
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    const ofReference =
      error.code === 'DUPLICATE_VALUE' &&
      options.referenceColumn !== undefined &&
      Object.keys(error.details ?? {}).includes(options.referenceColumn);
    if (!ofReference) throw byField(error, options);
    const again = await askAgain(hris, reference, corrected, write);
    if (again === undefined) throw await alreadyExists(hris, reference);
    return again;
  }
}

/** The reference is taken, so this employee was created before: that is the result, not an error to repeat. */
async function alreadyExists(hris: SqlHris, reference: string): Promise<ConnectorError> {
  const found = await findEmployee(hris, { by: 'reference', value: reference }).catch(() => undefined);
  return new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: 'The HRIS already has the employee of this reference.',
    ...(found?.kind === 'one' ? { details: { ...found.ref } } : {}),
  });
}

/** One update of the given fields. */
export async function updateEmployee(
  hris: SqlHris,
  id: string,
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  await writeColumns(hris, id, { pairs: toColumns(fields, hris.options) }, write);
}

/** One update that sets the fields and clears the last day. */
export async function rehireEmployee(
  hris: SqlHris,
  { id, endColumn }: { id: string; endColumn: string },
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  await writeColumns(hris, id, { pairs: [...toColumns(fields, hris.options), [endColumn, null]] }, write);
}

/** One update of the last day. */
export function terminateEmployee(
  hris: SqlHris,
  { id, endColumn }: { id: string; endColumn: string },
  lastDay: string,
  write: WriteOptions,
): Promise<void> {
  return writeColumns(hris, id, { pairs: [[endColumn, lastDay]] }, write);
}

/** Writes over the values that this was decided from. @throws ConnectorError STALE */
export async function amendEmployee(
  { database, options }: SqlHris,
  id: string,
  { fields, over }: Amendment,
  write: WriteOptions,
): Promise<void> {
  if (!(await amendRow(database, options, { id, fields, over }, write))) throw notFound(id);
}

async function writeColumns(
  hris: SqlHris,
  id: string,
  { pairs }: { pairs: readonly [column: string, value: unknown][] },
  write: WriteOptions,
): Promise<void> {
  if (await updateRow(hris.database, hris.options, { id, pairs }, write)) return;
  await assertThere(hris, id);
  throw tooLate();
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
export async function assertThere(hris: SqlHris, id: string): Promise<void> {
  if ((await readEmployee(hris, id)) === undefined) throw notFound(id);
}

function notFound(id: string): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_NOT_FOUND',
    action: 'reject',
    message: `The HRIS has no employee with the id ${id}.`,
  });
}
