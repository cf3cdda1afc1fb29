import { type RawBuilder, sql } from 'kysely';
import type { FieldValue } from '../../hire/employee.ts';
import type { Column } from '../columns.ts';
import type { Amendment } from '../fields-to-amend.ts';
import { fieldsToAmend } from '../fields-to-amend.ts';
import type { WriteOptions } from '../port.ts';
import { asText, type SqlDatabase, type SqlHris } from './database.ts';
import { toColumns } from './values.ts';
import { writeColumns } from './write-employee.ts';

/** One update that names what it replaces, so that an edit which came before it is never overwritten. */
export function amendEmployee(hris: SqlHris, id: string, amendment: Amendment, write: WriteOptions): Promise<void> {
  const { fields, over } = amendment;
  const pairs = toColumns(fields, hris.options);
  const conditions = Object.entries(fields).map(([key, value]) => holds(hris, key, [value, over[key] ?? null]));
  const where = sql.join(conditions, sql` and `);
  return writeColumns(
    hris,
    id,
    { pairs, where, explain: (found) => void fieldsToAmend(amendment, found.fields) },
    write,
  );
}

/** Lists stand in columns of many types, some of which know no equality. */
function holds({ database, options }: SqlHris, key: string, values: readonly FieldValue[]): RawBuilder<boolean> {
  const column = options.columns[key];
  if (column === undefined || column.type === 'list') return sql`true`;
  const isOne = values.map((value) => isValue(database, column, value));
  return sql`(${sql.join(isOne, sql` or `)})`;
}

function isValue(database: SqlDatabase, { column, type }: Column, value: FieldValue): RawBuilder<boolean> {
  const ref = sql.ref(column);
  if (value === null || value === '')
    return type === 'text' ? sql`(${ref} is null or ${ref} = '')` : sql`${ref} is null`;
  // A column of times holds more than the day.
  if (type === 'date') return sql`substr(${asText(database, column)}, 1, 10) = ${value}`;
  // MariaDB compares texts without case.
  const compared = type === 'text' && database.dialect === 'mariadb' ? asText(database, column) : ref;
  return sql`${compared} = ${value}`;
}
