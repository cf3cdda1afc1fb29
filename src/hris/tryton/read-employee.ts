import type { EmployeeFields } from '../../hire/employee.ts';
import type { EmployeeRecord } from '../port.ts';
import { type EmployeeRow, readEmployeeRows, refOf, type Tryton } from './find.ts';
import { ADDRESS, CONTACTS } from './options.ts';

/** A contact mechanism or address as stored. */
export interface PartRow {
  id: number;
  [field: string]: unknown;
}

/** What belongs to a party beside its own fields: our reference, e-mail and phones, addresses. */
export interface PartyParts {
  identifiers: PartRow[];
  contacts: PartRow[];
  addresses: PartRow[];
}

/** One employee by its id, with what its party knows. */
export async function readEmployee(
  tryton: Tryton,
  id: string,
  signal: AbortSignal,
): Promise<EmployeeRecord | undefined> {
  const row = await readRow(tryton, id, signal);
  if (row === undefined) return undefined;
  const parts = await readParts(tryton, row.party, signal);
  const reference = parts.identifiers.find(({ code }) => typeof code === 'string' && REFERENCE.test(code))?.['code'];
  return {
    ref: refOf(row),
    fields: fieldsOf(tryton, row, parts),
    ...(typeof reference === 'string' ? { reference } : {}),
  };
}

/** Ours among the identifiers that a party may have: hirebridge's references have a colon in them. */
const REFERENCE = /:/;

/** Undefined where there is none; an id of another system's form is no id here. */
export async function readRow(tryton: Tryton, id: string, signal: AbortSignal): Promise<EmployeeRow | undefined> {
  if (!/^\d{1,15}$/.test(id)) return undefined;
  return (await readEmployeeRows(tryton, [['id', '=', Number(id)]], signal))[0];
}

export async function readParts({ session }: Tryton, party: number, signal: AbortSignal): Promise<PartyParts> {
  const read = (model: string, fields: readonly string[]): Promise<PartRow[]> =>
    session.call({
      method: `model.${model}.search_read`,
      params: [[['party', '=', party]], 0, 200, [['id', 'ASC']], fields],
      signal,
    });
  const [identifiers, contacts, addresses] = await Promise.all([
    read('party.identifier', ['code']),
    read('party.contact_mechanism', ['type', 'value']),
    read('party.address', Object.values(ADDRESS)),
  ]);
  return { identifiers, contacts, addresses };
}

function fieldsOf({ options }: Tryton, row: EmployeeRow, { contacts, addresses }: PartyParts): EmployeeFields {
  const value = (one: unknown) => (one === '' || one === undefined ? null : one) as EmployeeFields[string];
  const ofContacts = Object.entries(CONTACTS).map(([key, type]) => [
    key,
    value(contacts.find((one) => one['type'] === type)?.['value']),
  ]);
  const ofAddress = Object.entries(ADDRESS).map(([key, name]) => [key, value(addresses[0]?.[name])]);
  const extra = Object.entries(options.fields).map(([key, { model, name }]) => [
    key,
    value(model === 'party' ? (row['party.'] as Record<string, unknown>)[name] : row[name]),
  ]);
  return {
    name: value(row['party.'].name),
    startDate: row.start_date,
    endDate: row.end_date,
    ...Object.fromEntries([...ofContacts, ...ofAddress, ...extra]),
  };
}
