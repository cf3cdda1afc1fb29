import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import { latestOf, nextChangeCursor, orderOf, readChangeCursor } from '../change-cursor.ts';
import type {
  Amendment,
  ChangedEmployees,
  CreateResult,
  DescribedField,
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
  refuseFields,
  withoutValues,
} from '../records.ts';
import {
  assertSearchable,
  type Directory,
  dayIn,
  equals,
  findEmployee,
  first,
  hasLeft,
  ID,
  idOf,
  type Leaver,
  people,
  readFacts,
  readRows,
  recordOf,
  STAMP,
  search,
  VERSION,
} from './entries.ts';
import { isBelow, type LdapOptions, ldapFields, ldapOptions } from './options.ts';
import { GENERALIZED_TIME, typeOf } from './schema.ts';
import { type Changed, codeOf, openSession, portOf, type Row } from './session.ts';

const ENOUGH = 200;

/** A directory that speaks LDAP version 3: an employee is an entry, whose id is its entryUUID (RFC 4530). */
export const ldap: HrisAdapter<LdapOptions> = {
  optionsSchema: () => ldapOptions,
  systemOf: ({ url, base }) => ({
    url: `${new URL(url).hostname.toLowerCase()}:${portOf(url)}`,
    base: base.toLowerCase(),
  }),
  secrets: ['password'],
  employeeFields: ldapFields,
  supports: () => ({ files: false, amend: true, accounts: true }),
  employeeUrl: ({ employeeUrl }) => employeeUrl,
  open: async (options) => openConnection(options),
};

function openConnection(options: LdapOptions): HrisConnection {
  const open: Directory = { session: openSession(options), options };
  const { leaver } = options;
  return {
    capabilities: { storesReference: true, readLagMs: options.readLag },
    employees: {
      find: (key, signal) => findEmployee(open, key, signal),
      isTaken: (field, value, signal) => isTaken(open, field, value, signal),
      read: readTogether(async (ids, signal) => {
        const rows = await readRows(open, ids, signal);
        return new Map(rows.map((row) => [idOf(row), recordOf(open, row)]));
      }),
      create: (fields, reference, write) => createEmployee(open, fields, reference, write),
      update: async (id, fields, write) => writeRow(open, await existingRow(open, id, write.signal), fields, write),
      amend: (id, amendment, write) => amendEmployee(open, id, amendment, write),
      ...(leaver !== undefined && {
        terminate: (id: string, lastDay: string, write: WriteOptions) => terminate(open, leaver, id, lastDay, write),
        rehire: (id: string, fields: EmployeeFields, write: WriteOptions) => rehire(open, leaver, id, fields, write),
      }),
    },
    changes: { since: (cursor, signal) => changedEmployees(open, cursor, signal) },
    probe: (signal) => probed(probe(open, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(open, signal) : []),
    close: () => open.session.close(),
  };
}

/** Our reference names the entry, so that of two creates for one hire the second finds the name taken. */
async function createEmployee(
  open: Directory,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { session, options } = open;
  const values = await valuesOf(open, fields, { complete: true }, write.signal);
  const known = await findEmployee(open, { by: 'reference', value: reference }, write.signal);
  const [there] = known.kind === 'one' ? [known.ref] : known.kind === 'many' ? known.refs : [];
  if (there !== undefined) throw alreadyExists('The directory already has an employee with this reference.', there);
  const dn = `${options.rdnAttribute}=${inDn(reference)},${options.createIn}`;
  const entry: Record<string, string[]> = { objectClass: options.objectClasses };
  for (const { attribute, values: some } of values) if (some.length > 0) entry[attribute] = some;
  const read = async () => (await search(open, '', write.signal, { base: dn, scope: 'base' })).rows[0];
  try {
    await session.add(
      dn,
      { ...entry, [options.rdnAttribute]: [reference], [options.referenceAttribute]: [reference] },
      write,
    );
  } catch (error) {
    if (!isConnectorError(error) || error.status !== TAKEN) throw explained(open, fields, error);
    const row = await read();
    if (row !== undefined)
      throw alreadyExists('The directory already has an employee with this reference.', recordOf(open, row).ref);
    throw rejected(
      'HRIS_MISCONFIGURED',
      `Below hris.createIn an entry has the name that belongs to our reference, but is no ${options.personClass}, or ` +
        'this user may not read it. Correct hris.personClass or the rights, or rename the entry.',
    );
  }
  const row = await read().catch(() => undefined);
  if (row !== undefined && idOf(row) !== '') return { kind: 'created', ref: recordOf(open, row).ref };
  throw new ConnectorError({
    code: 'HRIS_UNREADABLE_ANSWER',
    action: 'unknown',
    message: `The directory made the entry and does not show its ${ID}. It is looked up before anything is repeated.`,
  });
}

/** entryAlreadyExists. */
const TAKEN = 68;

/** Writes the given fields over the entry that was read. STALE (retry) if somebody was faster. */
async function writeRow(
  open: Directory,
  row: Row,
  fields: EmployeeFields,
  write: WriteOptions,
  marks: readonly Changed[] = [],
): Promise<void> {
  const changes = [...(await valuesOf(open, fields, { complete: false }, write.signal)), ...marks];
  if (changes.length === 0) return;
  const { assertions } = await readFacts(open, write.signal);
  const sent = assertions ? changes : changes.flatMap((one) => exactly(row, one));
  try {
    if (sent.length > 0)
      await open.session.modify(row.dn, sent, assertions ? versionOf(row, changes) : undefined, write);
  } catch (error) {
    if (isConnectorError(error) && (error.status === GONE || (!assertions && error.status === THERE))) throw stale();
    throw explained(open, fields, error);
  }
}

/** noSuchObject: somebody renamed or moved the entry. */
const GONE = 32;
/** attributeOrValueExists. */
const THERE = 20;

function stale(): ConnectorError {
  return new ConnectorError({
    code: 'STALE',
    action: 'retry',
    message: 'Somebody changed the entry meanwhile. Nothing was written; it is read again.',
  });
}

/** Matches the entry only as it was read. */
function versionOf(row: Row, changes: readonly Changed[]): string {
  const version = first(row, VERSION);
  if (version !== undefined) return equals(VERSION, version);
  const held = changes.map(({ attribute }) => {
    const values = row.of(attribute).filter((value) => typeof value === 'string');
    return values.length === 0 ? `(!(${attribute}=*))` : values.map((value) => equals(attribute, value)).join('');
  });
  return `(&${held.join('')})`;
}

/** Without assertions: removes the value that was read, which a server refuses if it is no longer there. */
function exactly(row: Row, { attribute, values }: Changed): Changed[] {
  const old = row.of(attribute).filter((value) => typeof value === 'string');
  if (old.length === values.length && old.every((value) => values.includes(value))) return [];
  return [
    ...(old.length > 0 ? [{ operation: 'delete', attribute, values: old } as const] : []),
    ...(values.length > 0 ? [{ operation: 'add', attribute, values } as const] : []),
  ];
}

async function amendEmployee(open: Directory, id: string, amendment: Amendment, write: WriteOptions): Promise<void> {
  const row = await existingRow(open, id, write.signal);
  await writeRow(open, row, fieldsToAmend(amendment, recordOf(open, row)), write);
}

/** The mark is set at once, whatever the last day is; the day is written if a field `endDate` has a place. */
async function terminate(
  open: Directory,
  leaver: Leaver,
  id: string,
  lastDay: string,
  write: WriteOptions,
): Promise<void> {
  const row = await existingRow(open, id, write.signal);
  const day: EmployeeFields = open.options.columns['endDate'] === undefined ? {} : { endDate: lastDay };
  if ('attribute' in leaver) return writeRow(open, row, day, write, [marked(leaver.attribute, leaver.value)]);
  await writeRow(open, row, day, write);
  await moveTo(open, row, leaver.moveTo, write);
}

async function rehire(
  open: Directory,
  leaver: Leaver,
  id: string,
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  const row = await existingRow(open, id, write.signal);
  const day: EmployeeFields = open.options.columns['endDate'] === undefined ? {} : { endDate: null };
  const all = { ...day, ...fields };
  if ('attribute' in leaver) return writeRow(open, row, all, write, [marked(leaver.attribute, leaver.active)]);
  if (hasLeft(leaver, row)) await moveTo(open, row, open.options.createIn, write);
  await writeRow(open, await existingRow(open, id, write.signal), all, write);
}

function marked(attribute: string, value: string | undefined): Changed {
  return { operation: 'replace', attribute, values: value === undefined ? [] : [value] };
}

async function moveTo(open: Directory, row: Row, place: string, write: WriteOptions): Promise<void> {
  const { dn } = row;
  const [, name = ''] = /^((?:\\.|[^\\,])+),/.exec(dn) ?? [];
  if (isBelow(dn, place) && isBelow(place, dn.slice(name.length + 1))) return;
  const { assertions } = await readFacts(open, write.signal);
  try {
    // Somebody else may have this name by now.
    await open.session.move(dn, `${name},${place}`, assertions ? equals(ID, idOf(row)) : undefined, write);
  } catch (error) {
    // Otherwise the place is not there.
    const isGone = isConnectorError(error) && error.status === GONE;
    if (isGone && (await existingRow(open, idOf(row), write.signal)).dn !== dn) throw stale();
    throw error;
  }
}

/** Names every field that does not fit at once, without its value. */
async function valuesOf(
  open: Directory,
  fields: EmployeeFields,
  { complete }: { complete: boolean },
  signal: AbortSignal,
): Promise<Changed[]> {
  const { columns } = open.options;
  const told = { accepts: 'The directory does not accept', requires: 'The directory requires' };
  assertFits({ ...told, known: ldapFields(open.options) }, fields, complete, (value, def) => {
    if (isEmpty(value)) return undefined;
    return problemOf(value, def) ?? (Array.isArray(value) && def.type !== 'list' ? 'is a list' : undefined);
  });
  const hasDates = Object.keys(fields).some((key) => columns[key]?.type === 'date');
  const schema = hasDates ? (await readFacts(open, signal)).schema : undefined;
  return Object.entries(fields).flatMap(([key, value]): Changed[] => {
    const column = columns[key];
    if (column === undefined) return [];
    const { attribute, type } = column;
    const isTime = schema?.attributes.get(attribute.toLowerCase())?.syntax === GENERALIZED_TIME;
    const values = isEmpty(value) ? [] : [value].flat().map((one) => written(type, one, isTime));
    return [{ operation: 'replace', attribute, values }];
  });
}

function written(type: string, value: unknown, isTime: boolean): string {
  if (type === 'boolean') return String(value).toUpperCase();
  return type === 'date' && isTime ? `${String(value).replaceAll('-', '')}000000Z` : String(value);
}

/** Names the fields that the directory's words name, or adds its words without the values that were sent. */
function explained({ options }: Directory, sent: EmployeeFields, error: unknown): unknown {
  if (!isConnectorError(error, 'INVALID_VALUE') || codeOf(error.cause) === undefined) return error;
  const words = withoutValues((error.cause as Error).message.replace(/ Code: 0x[\da-f]+$/, ''), Object.values(sent));
  const named = Object.entries(options.columns).filter(([, { attribute }]) =>
    new RegExp(`(?<![\\w-])${attribute}(?![\\w-])`, 'i').test(words),
  );
  if (named.length > 0)
    return refuseFields(
      'INVALID_VALUE',
      'The directory does not accept',
      Object.fromEntries(named.map(([key, { attribute }]) => [key, `the attribute ${attribute} does not take it`])),
    );
  const { code, action, status, message } = error;
  return new ConnectorError({ code, action, status, message: `${message} It said: ${words}`, said: words });
}

/** One page of changed employees, ordered by id. A deleted entry leaves no trace. */
async function changedEmployees(
  open: Directory,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  const clock = Date.now();
  const after = before.pass?.after ?? '';
  const key = `${before.settled ?? ''} ${before.pass?.beganAt ?? clock}`;
  // A later page of the same pass goes on in the same list.
  const listed = open.pass?.key === key ? open.pass.ids : await changedIds(open, before.settled, signal);
  const ids = listed.filter((id) => id > after);
  const page = ids.slice(0, ENOUGH);
  const rows = await readRows(open, page, signal);
  const more = ids.length > ENOUGH;
  open.pass = more ? { key, ids: listed } : undefined;
  const latest = latestOf(rows.map(stampOf).toSorted(byOrder), clock);
  const next = { after: more ? page.at(-1) : undefined, latest, clock, overlapMs: OVERLAP_MS };
  return { employees: rows.map((row) => recordOf(open, row)), gone: [], next: nextChangeCursor(before, next), more };
}

function stampOf(row: Row): string {
  return dayIn(first(row, STAMP) ?? '');
}

function byOrder(one: string, other: string): number {
  const [a, b] = [orderOf(one), orderOf(other)];
  return a < b ? -1 : Number(a > b);
}

/** A change of another server arrives with the stamp that it has there. */
const OVERLAP_MS = 300_000;

/** A directory returns entries in any order, so the whole list is read before its first page. */
async function changedIds(open: Directory, settled: string | undefined, signal: AbortSignal): Promise<string[]> {
  const filter = settled === undefined ? '' : `(${STAMP}>=${settled.replaceAll(/[-:T]/g, '')})`;
  const { rows } = await open.session.search(
    { base: open.options.base, filter: people(open, filter), attributes: [ID, STAMP], whole: true },
    signal,
  );
  // The filter has no "later than".
  const later = rows.filter((row) => settled === undefined || byOrder(stampOf(row), settled) > 0);
  return later
    .map(idOf)
    .filter((id) => id !== '')
    .toSorted();
}

/** Checks the login, the places, the right to search, and that the schema has each attribute. Reads no person. */
async function probe(open: Directory, signal: AbortSignal): Promise<void> {
  const { session, options } = open;
  const { base, createIn, objectClasses, personClass, rdnAttribute, referenceAttribute, columns } = options;
  for (const place of [
    base,
    createIn,
    ...(options.leaver && 'moveTo' in options.leaver ? [options.leaver.moveTo] : []),
  ])
    await session.search(
      { base: place, scope: 'base', filter: '(objectClass=*)', attributes: [ID], fresh: place === base },
      signal,
    );
  await search(open, equals(ID, '00000000-0000-0000-0000-000000000000'), signal);
  const { schema } = await readFacts(open, signal);
  if (schema === undefined) return;
  const { classes, must, may } = schema.attributesOf(objectClasses);
  if (!classes.has(personClass.toLowerCase()))
    throw rejected(
      'HRIS_MISCONFIGURED',
      `By the directory's schema, an entry with the classes in hris.objectClasses is no ${personClass}: whoever is ` +
        'made there would not be found again. Correct hris.personClass, or add it to hris.objectClasses.',
    );
  const searched = [columns['email'], columns['familyName'], columns['givenName'], columns['name']];
  await assertSearchable(open, [referenceAttribute, ...searched.flatMap((one) => one?.attribute ?? [])], signal);
  const named = [rdnAttribute, referenceAttribute, ...Object.values(columns).map(({ attribute }) => attribute)];
  const unknown = [...new Set(named)].filter((name) => !must.has(name.toLowerCase()) && !may.has(name.toLowerCase()));
  if (unknown.length === 0) return;
  throw rejected(
    'HRIS_MISCONFIGURED',
    `The classes in hris.objectClasses do not have ${unknown.join(', ')} in the schema of the directory. Add the ` +
      'class that has them, or name other attributes.',
  );
}

/** What the schema allows in an entry; attributes that no mapping can fill have the directory's names. */
async function describeFields(open: Directory, signal: AbortSignal): Promise<DescribedField[]> {
  const { schema } = await readFacts(open, signal);
  if (schema === undefined) return [];
  const { objectClasses, rdnAttribute, referenceAttribute, columns } = open.options;
  const { must, may } = schema.attributesOf(objectClasses);
  const own = ['objectclass', rdnAttribute.toLowerCase(), referenceAttribute.toLowerCase()];
  return [...must.union(may)].flatMap((name): DescribedField[] => {
    const attribute = schema.attributes.get(name);
    if (attribute === undefined || own.includes(name)) return [];
    const [key, column] = Object.entries(columns).find(([, one]) => one.attribute.toLowerCase() === name) ?? [];
    const type = typeOf(attribute);
    return [
      {
        key: key ?? attribute.name,
        label: column?.label ?? attribute.name,
        isField: key !== undefined,
        type: type === 'text' && column !== undefined ? column.type : type,
        required: must.has(name),
      },
    ];
  });
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
async function existingRow(open: Directory, id: string, signal: AbortSignal): Promise<Row> {
  const [row] = await readRows(open, [id], signal);
  if (row !== undefined) return row;
  throw rejected('EMPLOYEE_NOT_FOUND', `The directory has no employee with the id ${id} below hris.base.`);
}

async function isTaken(open: Directory, field: string, value: string, signal: AbortSignal): Promise<boolean> {
  const attribute = open.options.columns[field]?.attribute;
  if (attribute === undefined) return false;
  await assertSearchable(open, [attribute], signal);
  const { rows, complete } = await search(open, equals(attribute, value), signal);
  return rows.length > 0 || !complete;
}

/** A value in a distinguished name (RFC 4514). */
function inDn(value: string): string {
  return value.replaceAll(/[^A-Za-z0-9:_.-]/gu, (sign) =>
    [...Buffer.from(sign)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}
