import { z } from 'zod';
import { dayOf } from '../../day-of.ts';
import type { EmployeeFields } from '../../hire/employee.ts';
import type { WriteOptions } from '../port.ts';
import { updateEmployee } from './employees.ts';
import type { Bamboo } from './find.ts';

const Rows = z.array(z.looseObject({ date: z.string().optional(), employmentStatus: z.string().optional() }));

/**
 * A former employee becomes active by a row in the table of employment statuses; the record stays. The fields go first:
 * whoever is shown as active again has them.
 */
export async function rehireEmployee(
  bamboo: Bamboo,
  { id, status, fields }: { id: string; status: string; fields: EmployeeFields },
  write: WriteOptions,
): Promise<void> {
  const startKey = Object.entries(bamboo.options.fields).find(([, { name }]) => name === 'hireDate')?.[0];
  const start = startKey === undefined ? undefined : fields[startKey];
  const date = typeof start === 'string' ? start : dayOf(Date.now());
  await updateEmployee(bamboo, id, fields, write);
  await addStatus(bamboo, id, { date, employmentStatus: status }, write);
}

/** The last day is the date of the row that ends the employment. */
export function terminateEmployee(
  bamboo: Bamboo,
  { id, status, lastDay }: { id: string; status: string; lastDay: string },
  write: WriteOptions,
): Promise<void> {
  return addStatus(bamboo, id, { date: lastDay, employmentStatus: status }, write);
}

/** A row more, unless it is the newest. */
async function addStatus(
  { api }: Bamboo,
  id: string,
  row: { date: string; employmentStatus: string },
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const path = `/api/v1/employees/${encodeURIComponent(id)}/tables/employmentStatus`;
  const table = 'employees/{id}/tables/employmentStatus';
  const rows = Rows.parse(await api.json({ what: `GET ${table}`, method: 'GET', path, signal }));
  const newest = rows.toSorted((a, b) => (a.date ?? '').localeCompare(b.date ?? '')).at(-1);
  if (newest?.date === row.date && newest.employmentStatus === row.employmentStatus) return;
  await api.send({ what: `POST ${table}`, method: 'POST', path, body: row, idempotent: true, signal, beforeSend });
}
