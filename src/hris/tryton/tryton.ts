import { ConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/employee.ts';
import { clockOf, nextChangeCursor, readChangeCursor } from '../change-cursor.ts';
import { type Amendment, fieldsToAmend } from '../fields-to-amend.ts';
import type { HrisLimits } from '../http-line.ts';
import type {
  ChangedEmployees,
  DescribedField,
  EmployeeFile,
  HrisAdapter,
  HrisConnection,
  WriteOptions,
} from '../port.ts';
import { probed } from '../probed.ts';
import { readTogether } from '../read-together.ts';
import { sameAddress } from '../same-address.ts';
import { type EmployeeRow, ENOUGH, findEmployee, readEmployeeRows, type Stamps, type Tryton } from './find.ts';
import { type TrytonOptions, trytonFields, trytonOptions } from './options.ts';
import { type PartyParts, readEmployees, readParts, readPartsOf, readRow, recordOf } from './read-employee.ts';
import { encodeInstant } from './rpc-values.ts';
import { openSession } from './session.ts';
import { createEmployee, existingRow, updateEmployee, writeRow } from './write-employee.ts';

/** Tryton, an ERP, over its JSON-RPC: an employee is a party, numbered by the server, and a record of the company. */
export const tryton: HrisAdapter<TrytonOptions> = {
  optionsSchema: () => trytonOptions,
  systemOf: ({ url, database, company }) => ({ url: sameAddress(url), database, company }),
  secrets: ['password'],
  employeeFields: trytonFields,
  supports: () => ({ files: true, amend: true }),
  open: async (options, limits) => openConnection(options, limits),
};

function openConnection(options: TrytonOptions, limits: HrisLimits): HrisConnection {
  const open: Tryton = { session: openSession(options, limits), options };
  return {
    capabilities: { storesReference: true, readLagMs: 0 },
    employees: {
      find: (key, signal) => findEmployee(open, key, signal),
      read: readTogether((ids, signal) => readEmployees(open, ids, signal)),
      create: (fields, reference, write) => createEmployee(open, fields, reference, write),
      update: (id, fields, write) => updateEmployee(open, id, fields, write),
      amend: (id, amendment, write) => amendEmployee(open, id, amendment, write),
      rehire: (id, fields, write) => rehireEmployee(open, id, fields, write),
      terminate: (id, lastDay, write) => updateEmployee(open, id, { endDate: lastDay }, write),
    },
    changes: { since: (cursor, signal) => changedEmployees(open, cursor, signal) },
    files: { deliver: (id, file, write) => deliverFile(open, id, file, write) },
    probe: (signal) => probed(probe(open, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(open, signal) : []),
    close: () => open.session.close(),
  };
}

/** The login, the company, and that employees may be read. Reads no person. */
async function probe({ session, options }: Tryton, signal: AbortSignal): Promise<void> {
  const params = [[['id', '=', options.company]], 0, 1, null, ['id']];
  const companies = await session.call<unknown[]>({ method: 'model.company.company.search_read', params, signal });
  if (companies.length === 0)
    throw new ConnectorError({
      code: 'HRIS_MISCONFIGURED',
      action: 'reject',
      message: `Tryton has no company with the id ${options.company}, or this user may not see it. Check hris.company.`,
    });
  await session.call({ method: 'model.company.employee.search_count', params: [[['id', '=', 0]]], signal });
}

/** A change is stamped when its transaction begins, and seen when it ends: a long import takes minutes. */
const OVERLAP_MS = 300_000;

/** Whose stamps count: the records that an employee is made of. */
const RECORDS = ['', 'party.', 'party.identifiers.', 'party.contact_mechanisms.', 'party.addresses.'];

/** One page of the employees that changed, by id. A record that was deleted leaves no trace in Tryton. */
async function changedEmployees(
  tryton: Tryton,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  // Asked first: what changes from here on is the next pass's.
  const clock = await readClock(tryton, signal);
  const after = Number(before.pass?.after ?? 0);
  const domain = [['id', '>', after], ...changedAfter(before.settled)];
  const rows = await readEmployeeRows(tryton, domain, signal);
  const page = rows.slice(0, ENOUGH);
  const partsOf = await readPartsOf(
    tryton,
    page.map(({ party }) => party),
    signal,
  );
  const more = rows.length > ENOUGH;
  const latest = page.reduce((high, row) => laterOf(high, latestStamp(row, partsOf(row.party))), '');
  const reached = more ? String(page.at(-1)?.id) : undefined;
  return {
    employees: page.map((row) => recordOf(tryton, row, partsOf(row.party))),
    gone: [],
    next: nextChangeCursor(before, { after: reached, latest, clock, overlapMs: OVERLAP_MS }),
    more,
  };
}

async function readClock({ session }: Tryton, signal: AbortSignal): Promise<number> {
  const params = [[['id', '=', 0]]];
  const { date } = await session.ask({
    method: 'model.company.employee.search_count',
    params,
    signal,
    priority: 'bulk',
  });
  return clockOf(date);
}

function changedAfter(settled: string | undefined): unknown[] {
  if (settled === undefined) return [];
  const instant = encodeInstant(settled);
  const names = RECORDS.flatMap((record) => [`${record}write_date`, `${record}create_date`]);
  return [['OR', ...names.map((name) => [[name, '>', instant]])]];
}

function latestStamp(row: EmployeeRow, { identifiers, contacts, addresses }: PartyParts): string {
  const records: Stamps[] = [row, row['party.'], ...identifiers, ...contacts, ...addresses];
  return records.flatMap((one) => [one.create_date ?? '', one.write_date ?? '']).reduce(laterOf, '');
}

function laterOf(a: string, b: string): string {
  return a > b ? a : b;
}

/** What Tryton's fields_get says of a field. */
interface RawField {
  string: string;
  type: string;
  required?: boolean;
  readonly?: boolean;
  size?: number | null;
  selection?: unknown;
}

/** Fields of the models that an employee is made of; those that no mapping can fill go by Tryton's own names. */
async function describeFields(tryton: Tryton, signal: AbortSignal): Promise<DescribedField[]> {
  const [party, employee] = await Promise.all([
    readFields(tryton, 'party.party', signal),
    readFields(tryton, 'company.employee', signal),
  ]);
  const models = { party, employee } as const;
  const keys = fieldKeys(tryton);
  const known = trytonFields(tryton.options);
  const ofModels = (['party', 'employee'] as const).flatMap((model) =>
    Object.entries(models[model]).flatMap(([name, raw]) => describeField(raw, `${model}.${name}`, keys)),
  );
  // E-mail, phones and address are records of their own.
  const parts = known
    .filter(({ key }) => !ofModels.some((field) => field.key === key))
    .map(({ key, label, required }) => ({ key, label, isField: true, type: 'text' as const, required }));
  return [...ofModels, ...parts];
}

function readFields({ session }: Tryton, model: string, signal: AbortSignal): Promise<Record<string, RawField>> {
  return session.call({ method: `model.${model}.fields_get`, params: [[]], signal });
}

/** The mapping's name of a field, by its model and name. */
function fieldKeys({ options }: Tryton): Map<string, string> {
  const extra = Object.entries(options.fields).map(([key, { model, name }]) => [`${model}.${name}`, key] as const);
  return new Map([
    ['party.name', 'name'],
    ['employee.start_date', 'startDate'],
    ['employee.end_date', 'endDate'],
    ...extra,
  ]);
}

/** Links to other records are no values, and what is worked out there cannot be written. */
function describeField(raw: RawField, place: string, keys: ReadonlyMap<string, string>): DescribedField[] {
  const type = TYPES[raw.type];
  const key = keys.get(place);
  if (type === undefined || (key === undefined && (raw.readonly === true || HOUSEKEEPING.test(place)))) return [];
  const options = selectionOf(raw.selection);
  return [
    {
      key: key ?? place,
      label: raw.string,
      isField: key !== undefined,
      type,
      // Ticked boxes are required and have a value all the same.
      required: raw.required === true && type !== 'boolean' && place !== 'party.code',
      ...(options === undefined ? {} : { options }),
      ...(typeof raw.size === 'number' ? { maxLength: raw.size } : {}),
    },
  ];
}

const HOUSEKEEPING = /\.(id|create_date|write_date|rec_name|code|.*_readonly)$/;

const TYPES: Readonly<Record<string, DescribedField['type']>> = {
  char: 'text',
  text: 'text',
  selection: 'text',
  date: 'date',
  boolean: 'boolean',
  integer: 'number',
  float: 'number',
  numeric: 'number',
};

/** Pairs of value and label; a method's name where the server works them out. */
function selectionOf(selection: unknown): string[] | undefined {
  if (!Array.isArray(selection)) return undefined;
  const values = (selection as [unknown, unknown][]).flatMap(([value]) =>
    typeof value === 'string' && value !== '' ? value : [],
  );
  return values.length === 0 ? undefined : values;
}

/** The same employee without an end date, of a party that is active again. */
async function rehireEmployee(tryton: Tryton, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  const row = await readRow(tryton, id, write.signal);
  if (row?.['party.'].active === false)
    await tryton.session.call({
      method: 'model.party.party.write',
      params: [[row.party], { active: true }],
      ...write,
    });
  await updateEmployee(tryton, id, { endDate: null, ...fields }, write);
}

/** The write names the version that the old values were read in. */
async function amendEmployee(tryton: Tryton, id: string, amendment: Amendment, write: WriteOptions): Promise<void> {
  const row = await existingRow(tryton, id, write.signal);
  const held = recordOf(tryton, row, await readParts(tryton, row.party, write.signal));
  const fields = fieldsToAmend(amendment, held);
  if (Object.keys(fields).length > 0) await writeRow(tryton, row, fields, write);
}

/** As an attachment of the employee's record, unless the same bytes are there under this name. */
async function deliverFile(
  { session }: Tryton,
  id: string,
  { name, bytes }: EmployeeFile,
  write: WriteOptions,
): Promise<'delivered' | 'there'> {
  const resource = `company.employee,${Number(id)}`;
  const base64 = bytes.toString('base64');
  const domain = [
    ['resource', '=', resource],
    ['name', '=', name],
  ];
  const method = 'model.ir.attachment.search_read';
  const params = [domain, 0, null, null, ['data']];
  const stored = await session.call<{ data: string | null }[]>({ method, params, signal: write.signal });
  // Other implementations break lines in base64.
  if (stored.some(({ data }) => Buffer.from(data ?? '', 'base64').equals(bytes))) return 'there';
  const attachment = { name, resource, type: 'data', data: { __class__: 'bytes', base64 } };
  await session.call({ method: 'model.ir.attachment.create', params: [[attachment]], ...write });
  return 'delivered';
}
