import { hasEnded } from '../has-ended.ts';
import type { EmployeeRecord } from '../port.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { type EmployeeRow, readEmployeeRows, refOf, type Stamps, type Tryton } from './find.ts';
import { ADDRESS, CONTACTS } from './options.ts';

/** A stored contact mechanism or address. */
export interface PartRow extends Stamps {
  id: number;
  party: number;
  [field: string]: unknown;
}

/** Parts of a party beside its own fields: our reference, e-mail and phones, addresses. */
export interface PartyParts {
  identifiers: PartRow[];
  contacts: PartRow[];
  addresses: PartRow[];
}

/** Employees by id: four calls, however many there are. */
export async function readEmployees(
  tryton: Tryton,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, EmployeeRecord>> {
  const known = ids.filter(isId).map(Number);
  const rows = known.length === 0 ? [] : await readEmployeeRows(tryton, [['id', 'in', known]], signal);
  if (rows.length === 0) return new Map();
  const parties = rows.map(({ party }) => party);
  const partsOf = await readPartsOf(tryton, parties, signal);
  return new Map(rows.map((row) => [String(row.id), recordOf(tryton, row, partsOf(row.party))]));
}

export function recordOf(tryton: Tryton, row: EmployeeRow, parts: PartyParts): EmployeeRecord {
  const reference = parts.identifiers.find(({ code }) => typeof code === 'string' && REFERENCE.test(code))?.['code'];
  return {
    ref: refOf(row),
    ...fieldsOf(tryton, row, parts),
    ...(typeof reference === 'string' ? { reference } : {}),
    former: hasEnded(row.end_date),
  };
}

/** Matches our identifier among a party's: hirebridge's references contain a colon. */
const REFERENCE = /:/;

/** The largest id in Tryton's databases: a query with a larger one fails. */
const MOST_ID = 2_147_483_647;

/** Ids in another system's form are not ids here. */
function isId(id: string): boolean {
  return /^[1-9]\d{0,9}$/.test(id) && Number(id) <= MOST_ID;
}

/** Undefined if there is none. */
export async function readRow(tryton: Tryton, id: string, signal: AbortSignal): Promise<EmployeeRow | undefined> {
  if (!isId(id)) return undefined;
  return (await readEmployeeRows(tryton, [['id', '=', Number(id)]], signal))[0];
}

export async function readParts(tryton: Tryton, party: number, signal: AbortSignal): Promise<PartyParts> {
  const parts = await readPartsOf(tryton, [party], signal);
  return parts(party);
}

/** The parts of many parties, in three calls. */
export async function readPartsOf(
  { session }: Tryton,
  parties: readonly number[],
  signal: AbortSignal,
): Promise<(party: number) => PartyParts> {
  const read = async (model: string, fields: readonly string[]) => {
    const params = [[['party', 'in', parties]], 0, null, [['id', 'ASC']], ['party', ...STAMPS, ...fields]];
    const rows = await session.call<PartRow[]>({ method: `model.${model}.search_read`, params, signal });
    return Map.groupBy(rows, ({ party }) => party);
  };
  const [identifiers, contacts, addresses] = await Promise.all([
    read('party.identifier', ['code']),
    read('party.contact_mechanism', ['type', 'value']),
    read('party.address', Object.values(ADDRESS)),
  ]);
  const of = (rows: Map<number, PartRow[]>, party: number) => rows.get(party) ?? [];
  return (party) => ({
    identifiers: of(identifiers, party),
    contacts: of(contacts, party),
    addresses: of(addresses, party),
  });
}

type Field = [key: string, read: ReadCell];

const STAMPS = ['create_date', 'write_date'] as const;

function fieldsOf({ options }: Tryton, row: EmployeeRow, { contacts, addresses }: PartyParts): ReadFields {
  const value = (one: unknown) => readCell('text', one);
  const ofContacts = Object.entries(CONTACTS).map(
    ([key, type]): Field => [key, value(contacts.find((one) => one['type'] === type)?.['value'])],
  );
  const ofAddress = Object.entries(ADDRESS).map(([key, name]): Field => [key, value(addresses[0]?.[name])]);
  const extra = Object.entries(options.fields).map(
    ([key, { model, name, type }]): Field => [key, readCell(type, model === 'party' ? row['party.'][name] : row[name])],
  );
  const own: Field[] = [
    ['name', value(row['party.'].name)],
    ['startDate', readCell('date', row.start_date)],
    ['endDate', readCell('date', row.end_date)],
  ];
  return readFields([...own, ...ofContacts, ...ofAddress, ...extra]);
}
