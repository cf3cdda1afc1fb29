import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/employee.ts';
import type { CreateResult, WriteOptions } from '../port.ts';
import { refuseFields } from '../refuse-fields.ts';
import { type EmployeeRow, employeesOf, partiesOfReference, type Tryton } from './find.ts';
import { ADDRESS, CONTACTS, trytonFields } from './options.ts';
import { type PartyParts, readParts, readRow } from './read-employee.ts';
import { encodeDate } from './rpc-values.ts';

/** What is written to which record; only what was given. */
interface Writes {
  party: Record<string, unknown>;
  employee: Record<string, unknown>;
  contacts: Record<string, string | null>;
  address: Record<string, string | null>;
}

/**
 * A party that carries our reference, then its employee: two writes. Where the second did not happen, the next create
 * finds the party and goes on from there.
 */
export async function createEmployee(
  tryton: Tryton,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { session, options } = tryton;
  const writes = writesOf(tryton, fields, { complete: true });
  const [known, ...more] = await partiesOfReference(tryton, reference, write.signal);
  const [employee] = known === undefined ? [] : await employeesOf(tryton, [known, ...more], write.signal);
  if (employee !== undefined) throw alreadyExists(employee);
  const party = known ?? (await createParty(tryton, writes, reference, write));
  if (known !== undefined) await writeParty(tryton, { id: party }, writes, write);
  const [id] = await explained(fields, () =>
    session.call<number[]>({
      method: 'model.company.employee.create',
      params: [[{ party, company: options.company, ...writes.employee }]],
      ...write,
    }),
  );
  return { kind: 'created', ref: await numbered(tryton, String(id), write.signal) };
}

/** The number stands in the party; a reading that fails takes nothing back. */
async function numbered(tryton: Tryton, id: string, signal: AbortSignal): Promise<{ id: string; number?: string }> {
  const row = await readRow(tryton, id, signal).catch(() => undefined);
  const number = row?.['party.'].code;
  return number === undefined || number === null ? { id } : { id, number };
}

async function createParty(
  { session }: Tryton,
  { party, contacts, address }: Writes,
  reference: string,
  write: WriteOptions,
): Promise<number> {
  const created = { ...party, identifiers: [['create', [{ type: null, code: reference }]]] };
  const mechanisms = Object.entries(contacts).flatMap(([type, value]) => (value === null ? [] : [{ type, value }]));
  const filled = Object.values(address).some((value) => value !== null);
  const [id] = await explained({ ...contacts, ...address, ...(party as EmployeeFields) }, () =>
    session.call<number[]>({
      method: 'model.party.party.create',
      params: [
        [
          {
            ...created,
            ...(mechanisms.length === 0 ? {} : { contact_mechanisms: [['create', mechanisms]] }),
            ...(filled ? { addresses: [['create', [address]]] } : {}),
          },
        ],
      ],
      ...write,
    }),
  );
  return Number(id);
}

/** Writes the fields given, and nothing where they are as they should be. STALE (retry) when somebody was faster. */
export async function updateEmployee(
  tryton: Tryton,
  id: string,
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  await writeRow(tryton, await existingRow(tryton, id, write.signal), fields, write);
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
export async function existingRow(tryton: Tryton, id: string, signal: AbortSignal): Promise<EmployeeRow> {
  const row = await readRow(tryton, id, signal);
  if (row !== undefined) return row;
  throw new ConnectorError({
    code: 'EMPLOYEE_NOT_FOUND',
    action: 'reject',
    message: `Tryton has no employee with the id ${id} in this company.`,
  });
}

/** Writes over the version that was read. */
export async function writeRow(
  tryton: Tryton,
  row: EmployeeRow,
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  const writes = writesOf(tryton, fields, { complete: false });
  await writeParty(tryton, { id: row.party, version: row['party.']._timestamp }, writes, write);
  if (Object.keys(writes.employee).length === 0) return;
  await explained(fields, () =>
    tryton.session.call({
      method: 'model.company.employee.write',
      params: [[row.id], writes.employee],
      context: expecting('company.employee', { id: row.id, version: row._timestamp }),
      ...write,
    }),
  );
}

interface Versioned {
  id: number;
  version?: string | null;
}

async function writeParty(tryton: Tryton, party: Versioned, writes: Writes, write: WriteOptions): Promise<void> {
  const parts = await readParts(tryton, party.id, write.signal);
  const changes = { ...writes.party, ...contactChanges(writes, parts), ...addressChanges(writes, parts) };
  if (Object.keys(changes).length === 0) return;
  await explained({ ...writes.contacts, ...writes.address, ...(writes.party as EmployeeFields) }, () =>
    tryton.session.call({
      method: 'model.party.party.write',
      params: [[party.id], changes],
      context: expecting('party.party', party),
      ...write,
    }),
  );
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

/** Every field that does not fit is named at once, without its value. */
function writesOf({ options }: Tryton, fields: EmployeeFields, { complete }: { complete: boolean }): Writes {
  const known = new Map(trytonFields(options).map((def) => [def.key, def]));
  const problems: Record<string, string> = {};
  const missing: Record<string, string> = {};
  for (const [key, value] of Object.entries(fields)) {
    const problem = problemOf(key, known.get(key)?.type, value);
    if (problem !== undefined) problems[key] = problem;
  }
  for (const { key, required } of known.values())
    if (required && (fields[key] === null || (complete && isEmpty(fields[key])))) missing[key] = 'must not be empty';
  if (Object.keys(problems).length > 0) throw refuseFields('INVALID_VALUE', 'Tryton does not accept', problems);
  if (Object.keys(missing).length > 0) throw refuseFields('MISSING_FIELD', 'Tryton requires', missing);
  return sorted(options, fields);
}

/** Fields of one line; Tryton refuses these signs there (trytond/model/fields/char.py). */
const SPACING = /[\t\n\r]/;

function problemOf(key: string, type: string | undefined, value: FieldValue): string | undefined {
  if (type === undefined) return 'is no field of this HRIS';
  if (typeof value === 'string' && value.includes('\0')) return 'holds a zero character';
  if (key !== 'street' && typeof value === 'string' && SPACING.test(value)) return 'holds a tab or a line break';
  if (type === 'date' && typeof value === 'string' && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return 'is no date';
  return Array.isArray(value) ? 'is a list' : undefined;
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

function isEmpty(value: FieldValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/** Adds what Tryton said to a refusal, with every value that we sent taken out of it. */
async function explained<T>(sent: EmployeeFields, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isConnectorError(error, 'INVALID_VALUE') || typeof error.cause !== 'string') throw error;
    const values = Object.values(sent).filter((value): value is string => typeof value === 'string' && value !== '');
    const said = values.reduce((text, value) => text.replaceAll(value, '…'), error.cause).slice(0, 300);
    throw new ConnectorError({ code: error.code, action: error.action, message: `${error.message} It said: ${said}` });
  }
}

function alreadyExists(ref: { id: string; number?: string }): ConnectorError {
  return new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: 'Tryton already has the employee of this reference.',
    details: { ...ref },
  });
}
