import { ConnectorError, rejected } from '../../errors.ts';
import type { FindKey, Found } from '../../hire/hire.ts';
import type { EmployeeRecord } from '../port.ts';
import { readCell, readFields } from '../read-cell.ts';
import { fitsKey, foldText, foundBy, refOf } from '../records.ts';
import { isBelow, type LdapOptions } from './options.ts';
import { type LdapSchema, readSchema } from './schema.ts';
import { ASSERTION, type LdapSession, type Row } from './session.ts';

export interface Directory {
  session: LdapSession;
  options: LdapOptions;
  /** Read once for each connection. */
  facts?: Promise<Facts> | undefined;
  /** Ids that a pass through the changes still has to read. */
  pass?: { key: string; ids: string[] } | undefined;
}

/** What the server tells of itself. */
interface Facts {
  assertions: boolean;
  /** Undefined if it is not shown. */
  schema: LdapSchema | undefined;
}

export const ID = 'entryUUID';
export const STAMP = 'modifyTimestamp';
/** OpenLDAP's version of an entry; others are held to the values that were read. */
export const VERSION = 'entryCSN';

export function first(row: Row, attribute: string): string | undefined {
  return row.of(attribute).find((value) => typeof value === 'string');
}

export function idOf(row: Row): string {
  return first(row, ID) ?? '';
}

export function people({ options }: Directory, filter: string): string {
  return `(&(objectClass=${options.personClass})${filter})`;
}

export function equals(attribute: string, value: string): string {
  return `(${attribute}=${inFilter(value)})`;
}

/** At most one page of people, with every attribute that is used. */
export async function search(
  open: Directory,
  filter: string,
  signal: AbortSignal,
  at: { base: string; scope?: 'base' } = { base: open.options.base },
): Promise<{ rows: Row[]; complete: boolean }> {
  const { columns, referenceAttribute, numberAttribute, leaver } = open.options;
  const own = [ID, STAMP, VERSION, referenceAttribute, numberAttribute];
  const marks = leaver !== undefined && 'attribute' in leaver ? [leaver.attribute] : [];
  const attributes = [...new Set([...own, ...marks, ...Object.values(columns).map((one) => one.attribute)])];
  return open.session.search({ ...at, filter: people(open, filter), attributes }, signal);
}

/** Values that a server may compare in other ways than we do. */
const PLAIN = /^[ -~]*$/;

export async function findEmployee(open: Directory, key: FindKey, signal: AbortSignal): Promise<Found> {
  const { columns, referenceAttribute, numberAttribute } = open.options;
  const names = key.by === 'person' ? key : key.by === 'name' ? key.parts : undefined;
  const wanted: [attribute: string | undefined, value: string][] =
    key.by === 'reference' || key.by === 'number' || key.by === 'email'
      ? [
          [
            { reference: referenceAttribute, number: numberAttribute, email: columns['email']?.attribute }[key.by],
            key.value,
          ],
        ]
      : names === undefined
        ? [[columns['name']?.attribute, key.by === 'name' ? key.fullName : '']]
        : [
            [columns['familyName']?.attribute, names.familyName],
            [columns['givenName']?.attribute, names.givenName],
          ];
  const lacks = wanted.some(([attribute]) => attribute === undefined);
  if (lacks || (key.by === 'person' && columns['birthDate'] === undefined)) return { kind: 'none', trusted: false };
  const filter = wanted.map(([attribute = '', value]) => equals(attribute, value.trim()));
  const { rows, complete } = await search(open, `(&${filter.join('')})`, signal);
  const hits = rows.filter((row) => fits(open, row, key));
  // What may not be read, or has several values, cannot be compared.
  const isDoubtful = rows.some(
    (row) => idOf(row) === '' || (!hits.includes(row) && wanted.some(([name = '']) => row.of(name).length !== 1)),
  );
  const isPlain = key.by === 'reference' || key.by === 'number' || wanted.every(([, value]) => PLAIN.test(value));
  const trusted = complete && !isDoubtful && isPlain && key.by !== 'name';
  return foundBy(
    key,
    hits.filter((row) => idOf(row) !== '').map((row) => recordOf(open, row).ref),
    trusted,
  );
}

/** Compared again here: a directory ignores case, and each attribute may have several values. */
function fits(open: Directory, row: Row, key: FindKey): boolean {
  const { referenceAttribute, columns } = open.options;
  const record = recordOf(open, row);
  if (key.by === 'reference') return row.of(referenceAttribute).includes(key.value);
  // Whose name is known only as a whole is compared by it.
  const { familyName: _, ...whole } = record.fields;
  if (key.by === 'name' && key.parts === undefined) return fitsKey({ ...record, fields: whole }, key);
  if (key.by !== 'email') return fitsKey(record, key);
  const addresses = row.of(columns['email']?.attribute ?? '');
  return addresses.some((one) => typeof one === 'string' && foldText(one) === foldText(key.value));
}

/** A search by such an attribute finds nobody, whoever is there. @throws ConnectorError HRIS_MISCONFIGURED */
export async function assertSearchable(open: Directory, names: readonly string[], signal: AbortSignal): Promise<void> {
  const blind = (await readFacts(open, signal)).schema?.withoutEquality(names) ?? [];
  if (blind.length === 0) return;
  throw rejected(
    'HRIS_MISCONFIGURED',
    `The schema of the directory has no rule of equality (EQUALITY) for ${blind.join(', ')}, so a search by it finds ` +
      'nobody, and people who are there would be created again. Add the rule, or name other attributes.',
  );
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Ids in another system's form are not ids here. */
export async function readRows(open: Directory, ids: readonly string[], signal: AbortSignal): Promise<Row[]> {
  const known = ids.filter((id) => UUID.test(id));
  if (known.length === 0) return [];
  const { rows, complete } = await search(open, `(|${known.map((id) => equals(ID, id)).join('')})`, signal);
  if (complete) return rows.filter((row) => known.includes(idOf(row)));
  throw new ConnectorError({
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    message:
      'The directory shows only some of the entries that were asked for by id. Lift the limits of the user in ' +
      'hris.bindDn, and let hris.url name a server that holds everybody itself.',
  });
}

/** Our references contain a colon; the attribute may have other values as well. */
const REFERENCE = /:/;

export function recordOf({ options }: Directory, row: Row): EmployeeRecord {
  const { columns, referenceAttribute, numberAttribute, leaver } = options;
  const number = first(row, numberAttribute);
  const reference = row.of(referenceAttribute).find((value) => typeof value === 'string' && REFERENCE.test(value));
  const cells = Object.entries(columns).map(([key, { attribute, type }]) => {
    const values = row.of(attribute);
    const cell = type === 'list' ? (values.length === 0 ? null : values) : values[0];
    return [key, readCell(type, type === 'date' && typeof cell === 'string' ? dayIn(cell) : cell)] as const;
  });
  return {
    ref: refOf(idOf(row), number),
    ...readFields(cells),
    ...(typeof reference === 'string' && { reference }),
    ...(leaver !== undefined && { former: hasLeft(leaver, row) }),
  };
}

export type Leaver = NonNullable<LdapOptions['leaver']>;

export function hasLeft(leaver: Leaver, row: Row): boolean {
  if ('moveTo' in leaver) return isBelow(row.dn, leaver.moveTo);
  const { attribute, value } = leaver;
  return row.of(attribute).some((one) => typeof one === 'string' && foldText(one) === foldText(value));
}

/** A generalized time as `YYYY-MM-DDTHH:MM:SSZ`, with the day that is written there; other text as it stands. */
export function dayIn(text: string): string {
  const [, year, month, day, hour, minute = '00', second = '00', rest = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)?(\d\d)?([.,]\d+)?(?:Z|[+-]\d{2,4})$/.exec(text) ?? [];
  return year === undefined ? text : `${year}-${month}-${day}T${hour}:${minute}:${second}${rest.replace(',', '.')}Z`;
}

export function readFacts(open: Directory, signal: AbortSignal): Promise<Facts> {
  open.facts ??= askFacts(open, signal).catch((error: unknown) => {
    open.facts = undefined;
    throw error;
  });
  return open.facts;
}

async function askFacts({ session, options }: Directory, signal: AbortSignal): Promise<Facts> {
  const ask = async (base: string, filter: string, attributes: string[]) =>
    (await session.search({ base, scope: 'base', filter, attributes }, signal)).rows[0];
  const root = await ask('', '(objectClass=*)', ['supportedControl', 'subschemaSubentry']);
  const place = (await ask(options.base, '(objectClass=*)', ['subschemaSubentry'])) ?? root;
  const at = (place && first(place, 'subschemaSubentry')) ?? (root && first(root, 'subschemaSubentry'));
  const row =
    at === undefined ? undefined : await ask(at, '(objectClass=subschema)', ['attributeTypes', 'objectClasses']);
  const [types = [], classes = []] = ['attributeTypes', 'objectClasses'].map((name) => row?.of(name).map(String));
  return {
    assertions: root?.of('supportedControl').includes(ASSERTION) ?? false,
    schema: types.length === 0 ? undefined : readSchema(types, classes),
  };
}

/** A value in a filter (RFC 4515). */
function inFilter(value: string): string {
  return value.replaceAll(/[*()\\\0]/g, (sign) => `\\${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
