import { z } from 'zod';
import type { EmployeeFields } from '../../hire/employee.ts';
import type { Amendment } from '../fields-to-amend.ts';
import { fieldsToAmend } from '../fields-to-amend.ts';
import type { WriteOptions } from '../port.ts';
import { notFound, readEmployee, updateEmployee } from './employees.ts';
import type { Bamboo } from './find.ts';
import { toBamboo } from './values.ts';

const Rows = z.array(z.looseObject({ id: z.coerce.string(), date: z.string().default('') }));

/** What BambooHR keeps with a date, in the table `jobInfo`. */
const DATED: readonly string[] = ['jobTitle', 'department', 'location', 'division', 'reportsTo'];

/** Dated fields as a row of their table, the others at once. BambooHR knows no versions: the values are read before. */
export async function amendEmployee(
  bamboo: Bamboo,
  id: string,
  amendment: Amendment,
  write: WriteOptions,
): Promise<void> {
  const held = await readEmployee(bamboo, id, write.signal);
  if (held === undefined) throw notFound(id);
  const fields = Object.entries(fieldsToAmend(amendment, held.fields));
  const isDated = ([key]: [string, unknown]): boolean => DATED.includes(bamboo.options.fields[key]?.name ?? '');
  const dated = Object.fromEntries(fields.filter(isDated));
  if (Object.keys(dated).length > 0) await amendJob(bamboo, { id, from: amendment.from, fields: dated }, write);
  await updateEmployee(bamboo, id, Object.fromEntries(fields.filter((field) => !isDated(field))), write);
}

/** The row of that day; a new one holds what the row before it holds, because what a row leaves out is empty. */
async function amendJob(
  { api, options }: Bamboo,
  { id, from, fields }: { id: string; from: string; fields: EmployeeFields },
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const path = `/api/v1/employees/${id}/tables/jobInfo`;
  const table = 'employees/{id}/tables/jobInfo';
  const changes = toBamboo(options, fields);
  const rows = Rows.parse(await api.json({ what: `GET ${table}`, method: 'GET', path, signal }));
  const before = rows.filter(({ date }) => date <= from).toSorted((a, b) => a.date.localeCompare(b.date));
  const latest = before.at(-1);
  const call = { method: 'POST', sent: fields, idempotent: true, signal, beforeSend } as const;
  if (latest?.date === from)
    return void (await api.send({ ...call, what: `POST ${table}/{row}`, path: `${path}/${latest.id}`, body: changes }));
  const kept = Object.entries(latest ?? {}).filter(([name, value]) => DATED.includes(name) && value !== null);
  const body = { ...Object.fromEntries(kept), ...changes, date: from };
  await api.send({ ...call, what: `POST ${table}`, path, body });
}
