import { z } from 'zod';
import { dayOf } from '../../day-of.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { WriteOptions } from '../port.ts';
import { updateEmployee } from './employees.ts';
import type { Bamboo } from './find.ts';

const Rows = z.array(
  z.looseObject({ id: z.coerce.string(), date: z.string().default(''), employmentStatus: z.string().nullish() }),
);

/** The account's names of the statuses. */
type Statuses = NonNullable<Bamboo['options']['employment']>;

/** A row in the table of employment statuses, valid from its date on. */
interface StatusRow {
  date: string;
  employmentStatus: string;
}

/**
 * Makes a former employee active again by a row in the table of employment statuses; the record stays. The fields are
 * written first, so that an employee who shows as active has them. A row that ends the employment on that day or later
 * would end it again, so it is changed to active. The earliest row is written last: after an interruption the employee
 * still shows as former, and the rehire is repeated.
 */
export async function rehireEmployee(
  bamboo: Bamboo,
  { id, fields, active, ended }: { id: string; fields: EmployeeFields } & Statuses,
  write: WriteOptions,
): Promise<void> {
  const startKey = Object.entries(bamboo.options.fields).find(([, { name }]) => name === 'hireDate')?.[0];
  const start = startKey === undefined ? undefined : fields[startKey];
  const date = typeof start === 'string' ? start : dayOf(Date.now());
  await updateEmployee(bamboo, id, fields, write);
  const later = (await readStatuses(bamboo, id, write)).filter((row) => row.date >= date);
  for (const row of later.filter(({ employmentStatus }) => employmentStatus === ended).toReversed())
    await writeStatus(bamboo, { id, rowId: row.id }, { date: row.date, employmentStatus: active }, write);
  if (later.some((row) => row.date === date && [active, ended].includes(row.employmentStatus ?? ''))) return;
  await writeStatus(bamboo, { id }, { date, employmentStatus: active }, write);
}

/**
 * Ends the employment with a row dated on the last day, unless it exists. A later row that makes the employee active,
 * as a rehire leaves it, would undo that, so it is changed to ended.
 */
export async function terminateEmployee(
  bamboo: Bamboo,
  { id, active, ended, lastDay }: { id: string; lastDay: string } & Statuses,
  write: WriteOptions,
): Promise<void> {
  const rows = await readStatuses(bamboo, id, write);
  const undoing = rows.filter((row) => row.date > lastDay && row.employmentStatus === active);
  for (const row of undoing.toReversed())
    await writeStatus(bamboo, { id, rowId: row.id }, { date: row.date, employmentStatus: ended }, write);
  if (rows.some((row) => row.date === lastDay && row.employmentStatus === ended)) return;
  await writeStatus(bamboo, { id }, { date: lastDay, employmentStatus: ended }, write);
}

/** Sorted by date: BambooHR returns them unsorted. */
async function readStatuses({ api }: Bamboo, id: string, { signal }: WriteOptions) {
  const call = { what: 'GET employees/{id}/tables/employmentStatus', method: 'GET', path: pathOf(id), signal } as const;
  return Rows.parse(await api.json(call)).toSorted((a, b) => a.date.localeCompare(b.date));
}

/** Replaces a row, or adds a new one. */
async function writeStatus(
  { api }: Bamboo,
  { id, rowId }: { id: string; rowId?: string },
  body: StatusRow,
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const isNew = rowId === undefined;
  const what = `POST employees/{id}/tables/employmentStatus${isNew ? '' : '/{row}'}`;
  const path = isNew ? pathOf(id) : `${pathOf(id)}/${encodeURIComponent(rowId)}`;
  await api.send({ what, method: 'POST', path, body, sent: {}, idempotent: true, signal, beforeSend });
}

function pathOf(id: string): string {
  return `/api/v1/employees/${encodeURIComponent(id)}/tables/employmentStatus`;
}
