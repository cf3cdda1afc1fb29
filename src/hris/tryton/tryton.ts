import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/hire.ts';
import { clockOf, nextChangeCursor, readChangeCursor } from '../change-cursor.ts';
import { type HrisLimits, sameAddress } from '../http-line.ts';
import type {
  Amendment,
  ChangedEmployees,
  CreateResult,
  DescribedField,
  EmployeeFile,
  HrisAdapter,
  HrisConnection,
  WriteOptions,
} from '../port.ts';
import { readTogether } from '../read-many.ts';
import {
  alreadyExists,
  assertFits,
  fieldsToAmend,
  isEmpty,
  probed,
  problemOf,
  refOf,
  withoutValues,
} from '../records.ts';
import {
  type EmployeeRow,
  ENOUGH,
  employeesOf,
  findEmployee,
  isTaken,
  laterOf,
  latestStamp,
  type PartyParts,
  partiesOfReference,
  readEmployeeRows,
  readEmployees,
  readPartsOf,
  readRow,
  recordOf,
  searchRead,
  type Tryton,
} from './find.ts';
import {
  ADDRESS,
  CONTACTS,
  encodeDate,
  encodeInstant,
  openSession,
  type TrytonOptions,
  trytonFields,
  trytonOptions,
} from './session.ts';

/** Tryton, an ERP, over JSON-RPC: an employee is a party, numbered by the server, and a record of the company. */
export const tryton: HrisAdapter<TrytonOptions> = {
  optionsSchema: () => trytonOptions,
  systemOf: ({ url, database, company }) => ({ url: sameAddress(url), database, company }),
  secrets: ['password'],
  employeeFields: trytonFields,
  supports: () => ({ files: true, amend: true, accounts: true }),
  employeeUrl: ({ employeeUrl }) => employeeUrl,
  open: async (options, limits, _inUse, today) => openConnection(options, limits, today),
};

function openConnection(options: TrytonOptions, limits: HrisLimits, today: Tryton['today']): HrisConnection {
  const open: Tryton = { session: openSession(options, limits), options, today };
  return {
    capabilities: { storesReference: true, readLagMs: 0 },
    employees: {
      find: (key, signal) => findEmployee(open, key, signal),
      isTaken: (name, value, signal) => isTaken(open, name, value, signal),
      read: readTogether((ids, signal) => readEmployees(open, ids, signal)),
      create: (fields, reference, write) => createEmployee(open, fields, reference, write),
      update: (id, fields, write) => updateEmployee(open, id, fields, write),
      amend: (id, amendment, write) => amendEmployee(open, id, amendment, write),
      rehire: (id, fields, write) => rehireEmployee(open, id, fields, write),
      terminate: (id, lastDay, write) => updateEmployee(open, id, { endDate: lastDay }, write),
    },
    changes: { since: (cursor, signal) => changedEmployees(open, cursor, signal) },
    files: {
      deliver: (id, file, write) => deliverFile(open, id, file, write),
      holds: (id, file, signal) => isThere(open, { id, file }, signal),
    },
    probe: (signal) => probed(probe(open, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(open, signal) : []),
    close: () => open.session.close(),
  };
}

/** Checks the login, the company, and the right to read employees. Reads no person. */
async function probe({ session, options }: Tryton, signal: AbortSignal): Promise<void> {
  const companies = await searchRead({ session }, 'company.company', [['id', '=', options.company]], ['id'], signal);
  if (companies.length === 0)
    throw rejected(
      'HRIS_MISCONFIGURED',
      `Tryton has no company with the id ${options.company}, or this user may not see it. Check hris.company.`,
    );
  await session.call({ method: 'model.company.employee.search_count', params: [[['id', '=', 0]]], signal });
}

/** A change is stamped when its transaction begins but visible only when it ends: a long import takes minutes. */
const OVERLAP_MS = 300_000;

/** The records that make up an employee; the stamps of all count. */
const RECORDS = ['', 'party.', 'party.identifiers.', 'party.contact_mechanisms.', 'party.addresses.'];

/** One page of changed employees, ordered by id. A deleted record leaves no trace in Tryton. */
async function changedEmployees(
  tryton: Tryton,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  // Read the clock first: changes from now on belong to the next pass.
  const clock = await readClock(tryton, signal);
  const after = Number(before.pass?.after ?? 0);
  const domain = [['id', '>', after], ...changedAfter(before.settled)];
  const rows = await readEmployeeRows(tryton, domain, signal);
  const page = rows.slice(0, ENOUGH);
  const parties = page.map(({ party }) => party);
  const partsOf = await readPartsOf(tryton, parties, signal);
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
  const count = {
    method: 'model.company.employee.search_count',
    params: [[['id', '=', 0]]],
    priority: 'bulk',
  } as const;
  const { date } = await session.ask({ ...count, signal });
  return clockOf(date);
}

function changedAfter(settled: string | undefined): unknown[] {
  if (settled === undefined) return [];
  const instant = encodeInstant(settled);
  const names = RECORDS.flatMap((record) => [`${record}write_date`, `${record}create_date`]);
  return [['OR', ...names.map((name) => [[name, '>', instant]])]];
}

/** Tryton's description of a field (fields_get). */
interface RawField {
  string: string;
  type: string;
  required?: boolean;
  readonly?: boolean;
  size?: number | null;
  selection?: unknown;
}

/** Fields of the models that make up an employee; those that no mapping can fill have Tryton's names. */
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
  // E-mail, phones and address have records of their own.
  const parts = known
    .filter(({ key }) => !ofModels.some((field) => field.key === key))
    .map(({ key, label, required }) => ({ key, label, isField: true, type: 'text' as const, required }));
  return [...ofModels, ...parts];
}

function readFields({ session }: Tryton, model: string, signal: AbortSignal): Promise<Record<string, RawField>> {
  return session.call({ method: `model.${model}.fields_get`, params: [[]], signal });
}

/** The mapping's name for a field, by model and name. */
function fieldKeys({ options }: Tryton): Map<string, string> {
  const extra = Object.entries(options.fields).map(([key, { model, name }]) => [`${model}.${name}`, key] as const);
  return new Map([
    ['party.name', 'name'],
    ['employee.start_date', 'startDate'],
    ['employee.end_date', 'endDate'],
    ...extra,
  ]);
}

/** Skips links to other records, which are not values, and computed fields, which cannot be written. */
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
      // Check boxes are required but always have a value.
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

/** Pairs of value and label, or a method's name if the server computes them. */
function selectionOf(selection: unknown): string[] | undefined {
  if (!Array.isArray(selection)) return undefined;
  const values = (selection as [unknown, unknown][]).flatMap(([value]) =>
    typeof value === 'string' && value !== '' ? value : [],
  );
  return values.length === 0 ? undefined : values;
}

/** Removes the employee's end date and makes the party active again. */
async function rehireEmployee(tryton: Tryton, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  const row = await readRow(tryton, id, write.signal);
  if (row?.['party.'].active === false)
    await send(tryton, { method: 'model.party.party.write', params: [[row.party], { active: true }] }, {}, write);
  await updateEmployee(tryton, id, { endDate: null, ...fields }, write);
}

/** The write names the version in which the old values were read. */
async function amendEmployee(tryton: Tryton, id: string, amendment: Amendment, write: WriteOptions): Promise<void> {
  const row = await existingRow(tryton, id, write.signal);
  const held = recordOf(tryton, row, await readParts(tryton, row.party, write.signal));
  const fields = fieldsToAmend(amendment, held);
  if (Object.keys(fields).length > 0) await writeRow(tryton, row, fields, write);
}

/** Attaches a file to the employee's record, unless the same bytes are there under this name. */
async function deliverFile(
  tryton: Tryton,
  id: string,
  file: EmployeeFile,
  write: WriteOptions,
): Promise<'delivered' | 'there'> {
  if (await isThere(tryton, { id, file }, write.signal)) return 'there';
  const data = { __class__: 'bytes', base64: file.bytes.toString('base64') };
  const attachment = { name: file.name, resource: resourceOf(id), type: 'data', data };
  await tryton.session.call({ method: 'model.ir.attachment.create', params: [[attachment]], ...write });
  return 'delivered';
}

function resourceOf(id: string): string {
  return `company.employee,${Number(id)}`;
}

async function isThere(
  { session }: Tryton,
  { id, file }: { id: string; file: EmployeeFile },
  signal: AbortSignal,
): Promise<boolean> {
  const domain = Object.entries({ resource: resourceOf(id), name: file.name }).map(([name, is]) => [name, '=', is]);
  const stored = await searchRead<{ data: string | null }>({ session }, 'ir.attachment', domain, ['data'], signal);
  // Other implementations break base64 into lines.
  return stored.some(({ data }) => Buffer.from(data ?? '', 'base64').equals(file.bytes));
}

/** Values to write, by record; only given ones. */
interface Writes {
  party: Record<string, unknown>;
  employee: Record<string, unknown>;
  contacts: Record<string, string | null>;
  address: Record<string, string | null>;
}

/**
 * Creates a party with our reference, then its employee: two writes. If the second did not happen, the next create
 * finds the party and continues from there.
 */
async function createEmployee(
  tryton: Tryton,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { company } = tryton.options;
  const writes = writesOf(tryton, fields, true);
  const [known, ...more] = await partiesOfReference(tryton, reference, write.signal);
  const [employee] = known === undefined ? [] : await employeesOf(tryton, [known, ...more], write.signal);
  if (employee !== undefined) throw alreadyExists('Tryton already has an employee with this reference.', employee);
  const party = known ?? (await createParty(tryton, writes, reference, write));
  if (known !== undefined) await writeParty(tryton, { id: party }, writes, write);
  const made = { method: 'model.company.employee.create', params: [[{ party, company, ...writes.employee }]] };
  const [id] = await send<number[]>(tryton, made, fields, write);
  // The number is in the party; a failed read does not undo the create.
  const row = await readRow(tryton, String(id), write.signal).catch(() => undefined);
  return { kind: 'created', ref: refOf(String(id), row?.['party.'].code) };
}

async function createParty(
  tryton: Tryton,
  { party, contacts, address }: Writes,
  reference: string,
  write: WriteOptions,
): Promise<number> {
  const mechanisms = Object.entries(contacts).flatMap(([type, value]) => (value === null ? [] : [{ type, value }]));
  const filled = Object.values(address).some((value) => value !== null);
  const created = {
    ...party,
    identifiers: [['create', [{ type: null, code: reference }]]],
    ...(mechanisms.length > 0 && { contact_mechanisms: [['create', mechanisms]] }),
    ...(filled && { addresses: [['create', [address]]] }),
  };
  const sent = { ...contacts, ...address, ...(party as EmployeeFields) };
  const [id] = await send<number[]>(tryton, { method: 'model.party.party.create', params: [[created]] }, sent, write);
  return Number(id);
}

/** Writes the given fields, but nothing if they have these values. STALE (retry) if somebody was faster. */
async function updateEmployee(tryton: Tryton, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  await writeRow(tryton, await existingRow(tryton, id, write.signal), fields, write);
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
async function existingRow(tryton: Tryton, id: string, signal: AbortSignal): Promise<EmployeeRow> {
  const row = await readRow(tryton, id, signal);
  if (row !== undefined) return row;
  throw rejected('EMPLOYEE_NOT_FOUND', `Tryton has no employee with the id ${id} in this company.`);
}

/** Writes over the version that was read. */
async function writeRow(tryton: Tryton, row: EmployeeRow, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  const writes = writesOf(tryton, fields, false);
  await writeParty(tryton, { id: row.party, version: row['party.']._timestamp }, writes, write);
  if (Object.keys(writes.employee).length === 0) return;
  const context = expecting('company.employee', { id: row.id, version: row._timestamp });
  const call = { method: 'model.company.employee.write', params: [[row.id], writes.employee], context };
  await send(tryton, call, fields, write);
}

interface Versioned {
  id: number;
  version?: string | null;
}

async function writeParty(tryton: Tryton, party: Versioned, writes: Writes, write: WriteOptions): Promise<void> {
  const parts = await readParts(tryton, party.id, write.signal);
  const changes = { ...writes.party, ...contactChanges(writes, parts), ...addressChanges(writes, parts) };
  if (Object.keys(changes).length === 0) return;
  const sent = { ...writes.contacts, ...writes.address, ...(writes.party as EmployeeFields) };
  const context = expecting('party.party', party);
  await send(tryton, { method: 'model.party.party.write', params: [[party.id], changes], context }, sent, write);
}

function contactChanges({ contacts }: Writes, { contacts: stored }: PartyParts): Record<string, unknown> {
  const commands = Object.entries(contacts).flatMap(([type, value]): unknown[] => {
    const old = stored.find((one) => one['type'] === type);
    if ((old?.['value'] ?? null) === value) return [];
    if (old === undefined) return [['create', [{ type, value }]]];
    return value === null ? [['delete', [old.id]]] : [['write', [old.id], { value }]];
  });
  return commands.length === 0 ? {} : { contact_mechanisms: commands };
}

function addressChanges({ address }: Writes, { addresses: [first] }: PartyParts): Record<string, unknown> {
  const changed = Object.entries(address).filter(([name, value]) => (first?.[name] || null) !== value);
  if (changed.length === 0) return {};
  const values = Object.fromEntries(changed);
  return { addresses: [first === undefined ? ['create', [values]] : ['write', [first.id], values]] };
}

function expecting(model: string, { id, version }: Versioned): Record<string, unknown> {
  return typeof version === 'string' ? { _timestamp: { [`${model},${id}`]: version } } : {};
}

/** For single-line fields, in which Tryton refuses these characters (trytond/model/fields/char.py). */
const SPACING = /[\t\n\r]/;

function writesOf({ options }: Tryton, fields: EmployeeFields, isNew: boolean): Writes {
  const told = { accepts: 'Tryton does not accept', requires: 'Tryton requires', known: trytonFields(options) };
  assertFits(told, fields, isNew, (value, def) => {
    const isBroken = def.key !== 'street' && typeof value === 'string' && SPACING.test(value);
    return (
      problemOf(value, def) ??
      (isBroken ? 'holds a tab or a line break' : Array.isArray(value) ? 'is a list' : undefined)
    );
  });
  return sorted(options, fields);
}

function sorted(options: Tryton['options'], fields: EmployeeFields): Writes {
  const writes: Writes = { party: {}, employee: {}, contacts: {}, address: {} };
  for (const [key, value] of Object.entries(fields)) {
    const extra = options.fields[key];
    const wire = dateFields.has(key) || extra?.type === 'date' ? dateOf(value) : value;
    if (key === 'name') writes.party['name'] = wire;
    else if (key in CONTACTS) writes.contacts[key] = textOf(value);
    else if (key in ADDRESS) writes.address[ADDRESS[key as keyof typeof ADDRESS]] = textOf(value);
    else if (extra !== undefined) writes[extra.model][extra.name] = wire;
    else writes.employee[key === 'startDate' ? 'start_date' : 'end_date'] = wire;
  }
  return writes;
}

const dateFields: ReadonlySet<string> = new Set(['startDate', 'endDate']);

function dateOf(value: FieldValue): unknown {
  return typeof value === 'string' ? encodeDate(value) : null;
}

function textOf(value: FieldValue): string | null {
  return isEmpty(value) ? null : String(value);
}

/** Makes a call that writes; adds Tryton's own words to a refusal, without the values that we sent. */
async function send<T>(
  { session }: Tryton,
  call: { method: string; params: unknown[]; context?: Record<string, unknown> },
  sent: EmployeeFields,
  write: WriteOptions,
): Promise<T> {
  return session.call<T>({ ...call, ...write }).catch((error: unknown) => {
    if (!isConnectorError(error, 'INVALID_VALUE') || typeof error.cause !== 'string') throw error;
    const said = withoutValues(error.cause, Object.values(sent));
    const { code, action, message } = error;
    throw new ConnectorError({ code, action, message: `${message} It said: ${said}`, said });
  });
}

async function readParts(tryton: Tryton, party: number, signal: AbortSignal): Promise<PartyParts> {
  const parts = await readPartsOf(tryton, [party], signal);
  return parts(party);
}
