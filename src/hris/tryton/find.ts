import type { EmployeeRef, FindKey, Found } from '../../hire/hire.ts';
import { foldLabel } from '../../in-words.ts';
import type { EmployeeRecord } from '../port.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { foundBy, hasEnded, refOf } from '../records.ts';
import { ADDRESS, CONTACTS, type TrytonOptions, type TrytonSession } from './session.ts';

export interface Tryton {
  session: TrytonSession;
  options: TrytonOptions;
  today: (() => string) | undefined;
}

/** More hits than this count as "many" anyway. */
export const ENOUGH = 200;

interface Search {
  model: string;
  domain: readonly unknown[];
  /** The field that is compared again here. */
  field: string;
  /** The field that names the party. */
  party: string;
  fits: (value: string) => boolean;
  /** Whether an empty result proves absence. */
  trusted: boolean;
}

/** Finds employees of the company by a key of their party, including former ones: reads show inactive records. */
export async function findEmployee(tryton: Tryton, key: FindKey, signal: AbortSignal): Promise<Found> {
  const search = searchFor(key);
  if (search === undefined) return { kind: 'none', trusted: false };
  const { parties, complete } = await findParties(tryton, search, signal);
  const refs = parties.length === 0 ? [] : await employeesOf(tryton, parties, signal);
  return foundBy(key, refs, search.trusted && complete);
}

/** Whether somebody has a value in a contact or in a module's field; parties without an employee count, too. */
export async function isTaken(
  { session, options }: Tryton,
  name: string,
  value: string,
  signal: AbortSignal,
): Promise<boolean> {
  const extra = options.fields[name];
  const { domain } = byText(extra?.name ?? 'value', value);
  const [model, asked] =
    extra === undefined
      ? [
          'party.contact_mechanism',
          [
            ['type', '=', name],
            ['OR', domain, byText('value_compact', value).domain],
          ],
        ]
      : [{ party: 'party.party', employee: 'company.employee' }[extra.model], domain];
  return (await session.call<number>({ method: `model.${model}.search_count`, params: [asked], signal })) > 0;
}

/** Tryton's parties have no birth date, so a search by person is impossible: only the name is available. */
function searchFor(key: FindKey): Search | undefined {
  if (key.by === 'person') return undefined;
  if (key.by === 'reference') return byReference(key.value);
  if (key.by === 'number') return byCode('party.party', 'id', key.value);
  if (key.by === 'name') return { ...byText('name', key.fullName), model: 'party.party', party: 'id', trusted: false };
  const { domain, ...search } = byText('value', key.value);
  // A database may fold only ASCII.
  const trusted = /^[ -~]*$/.test(foldLabel(key.value));
  return {
    ...search,
    domain: [['type', '=', 'email'], ...domain],
    model: 'party.contact_mechanism',
    party: 'party',
    trusted,
  };
}

/** Our reference is an identifier of the party. */
function byReference(reference: string): Search {
  return byCode('party.identifier', 'party', reference);
}

function byCode(model: string, party: string, code: string): Search {
  return { model, domain: [['code', '=', code]], field: 'code', party, fits: (value) => value === code, trusted: true };
}

/** Ignores case. */
function byText(field: string, text: string): Pick<Search, 'domain' | 'field' | 'fits'> {
  const wanted = foldLabel(text);
  return { domain: [[field, 'ilike', likePattern(wanted)]], field, fits: (value) => foldLabel(value) === wanted };
}

function likePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);
}

/** Parties with our reference, with or without an employee. */
export async function partiesOfReference(tryton: Tryton, reference: string, signal: AbortSignal): Promise<number[]> {
  return (await findParties(tryton, byReference(reference), signal)).parties;
}

async function findParties(
  { session }: Tryton,
  { model, domain, field, party, fits }: Search,
  signal: AbortSignal,
): Promise<{ parties: number[]; complete: boolean }> {
  const fields = [...new Set(['id', field, party])];
  const rows = await searchRead<PartRow>({ session }, model, domain, fields, signal, { most: ENOUGH + 1 });
  const parties = rows
    .filter(({ [field]: value }) => typeof value === 'string' && fits(value))
    .map((row) => Number(row[party]));
  return { parties: [...new Set(parties)], complete: rows.length <= ENOUGH };
}

/** When a record was created and last written; null if it was never written. */
interface Stamps {
  create_date: string | null;
  write_date: string | null;
}

export interface EmployeeRow extends Stamps {
  id: number;
  party: number;
  start_date: string | null;
  end_date: string | null;
  /** The version that was read; Tryton refuses a write that names an older one. */
  _timestamp: string | null;
  'party.': Stamps & {
    id: number;
    active: boolean;
    code: string | null;
    name: string | null;
    _timestamp: string | null;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export async function employeesOf(
  tryton: Tryton,
  parties: readonly number[],
  signal: AbortSignal,
): Promise<EmployeeRef[]> {
  return (await readEmployeeRows(tryton, [['party', 'in', parties]], signal)).map(refIn);
}

/** The company's employees that match a domain, ordered by id; at most one more than are enough. */
export function readEmployeeRows(
  { session, options }: Tryton,
  domain: readonly unknown[],
  signal: AbortSignal,
): Promise<EmployeeRow[]> {
  const extra = Object.values(options.fields).map(({ model, name }) => (model === 'party' ? `party.${name}` : name));
  const versions = ['_timestamp', 'create_date', 'write_date'].flatMap((name) => [name, `party.${name}`]);
  const fields = ['party', 'party.code', 'party.name', 'party.active', 'start_date', 'end_date', ...versions, ...extra];
  const ofCompany = [['company', '=', options.company], ...domain];
  const ordered = { most: ENOUGH + 1, order: [['id', 'ASC']] };
  return searchRead({ session }, 'company.employee', ofCompany, fields, signal, ordered);
}

/** Records of a model, in Tryton's own order by default. */
export function searchRead<Row>(
  { session }: Pick<Tryton, 'session'>,
  model: string,
  domain: readonly unknown[],
  fields: readonly string[],
  signal: AbortSignal,
  { most = null, order = null }: { most?: number | null; order?: string[][] | null } = {},
): Promise<Row[]> {
  const params = [domain, 0, most, order, fields];
  return session.call({ method: `model.${model}.search_read`, params, signal });
}

/** The number is the party's code, assigned by the server's sequence. */
function refIn({ id, 'party.': { code } }: EmployeeRow): EmployeeRef {
  return refOf(String(id), code);
}

/** A stored contact mechanism or address. */
interface PartRow extends Stamps {
  id: number;
  party: number;
  [field: string]: unknown;
}

/** Parts of a party beside its own fields: our reference, e-mail and phones, addresses, in Tryton's order. */
export interface PartyParts {
  identifiers: PartRow[];
  /** The active ones: people in Tryton do not see the others. */
  contacts: PartRow[];
  addresses: PartRow[];
  /** All of them, active or not. */
  stamps: Stamps[];
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
    ref: refIn(row),
    ...fieldsOf(tryton, row, parts),
    ...(typeof reference === 'string' ? { reference } : {}),
    former: hasEnded(row.end_date, tryton.today?.()),
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

/** The parts of many parties, in three calls. */
export async function readPartsOf(
  { session }: Tryton,
  parties: readonly number[],
  signal: AbortSignal,
): Promise<(party: number) => PartyParts> {
  const read = async (model: string, fields: readonly string[]) => {
    const names = ['party', ...STAMPS, ...fields];
    const rows = await searchRead<PartRow>({ session }, model, [['party', 'in', parties]], names, signal);
    return Map.groupBy(rows, ({ party }) => party);
  };
  const [identifiers, contacts, addresses] = await Promise.all([
    read('party.identifier', ['code']),
    read('party.contact_mechanism', ['type', 'value', 'value_compact', 'active']),
    read('party.address', [...Object.values(ADDRESS), 'active']),
  ]);
  const of = (rows: Map<number, PartRow[]>, party: number) => rows.get(party) ?? [];
  const shown = (rows: readonly PartRow[]) => rows.filter(({ active }) => active !== false);
  return (party) => {
    const all = [identifiers, contacts, addresses].map((rows) => of(rows, party));
    const [own = [], mechanisms = [], places = []] = all;
    // Tryton writes phones with spaces, and has them as E.164 beside.
    const plain = mechanisms.map((row) => ({ ...row, value: row['value_compact'] ?? row['value'] }));
    return { identifiers: own, contacts: shown(plain), addresses: shown(places), stamps: all.flat() };
  };
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

/** When a person was last changed, in any of their records; empty if no stamp could be read. */
export function latestStamp(row: EmployeeRow, { stamps }: PartyParts): string {
  const records: Stamps[] = [row, row['party.'], ...stamps];
  return records.flatMap((one) => [one.create_date ?? '', one.write_date ?? '']).reduce(laterOf, '');
}

export function laterOf(a: string, b: string): string {
  return a > b ? a : b;
}
