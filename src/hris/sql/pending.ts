import { ConnectorError } from '../../errors.ts';
import type { EmployeeRef } from '../../hire/employee.ts';
import type { CreateResult } from '../port.ts';
import type { SqlHris } from './database.ts';
import { readEmployee } from './find.ts';
import { cellText } from './values.ts';

/** How often a job of the customer's is looked at. */
const NEXT_CHECK_MS = 60_000;

/** A row without a number waits for the customer's job, where the tenant file says that there is one. */
export function createdOrPending({ options }: SqlHris, ref: EmployeeRef): CreateResult {
  if (options.job === undefined || ref.number !== undefined) return { kind: 'created', ref };
  return { kind: 'pending', ticket: ref.id, nextCheckMs: NEXT_CHECK_MS };
}

/** The row as the job left it: numbered, refused, or still waiting. A row that reads do not show yet waits too. */
export async function resolvePending(hris: SqlHris, ticket: string): Promise<CreateResult> {
  const record = await readEmployee(hris, ticket);
  if (record?.ref.number !== undefined) return { kind: 'created', ref: record.ref };
  const said = record === undefined ? '' : await readRefusal(hris, ticket);
  if (said === '') return { kind: 'pending', ticket, nextCheckMs: NEXT_CHECK_MS };
  const values = Object.values(record?.fields ?? {}).filter((value) => typeof value === 'string' && value !== '');
  const shown = values.reduce<string>((text, value) => text.replaceAll(String(value), '…'), said).slice(0, 300);
  throw new ConnectorError({
    code: 'CREATE_REJECTED',
    action: 'reject',
    message: `The job over there refused row ${ticket} of ${hris.options.table}. It said: ${shown}`,
  });
}

async function readRefusal({ database, options }: SqlHris, id: string): Promise<string> {
  const column = options.job?.errorColumn;
  if (column === undefined) return '';
  const row = await database.kysely
    .selectFrom(options.readFrom)
    .select(column)
    .where(options.idColumn, '=', id)
    .executeTakeFirst();
  return cellText(row?.[column]);
}
