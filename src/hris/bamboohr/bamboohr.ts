import { z } from 'zod';
import { isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import { clockOf, latestOf, nextChangeCursor, readChangeCursor } from '../change-cursor.ts';
import { type HrisLimits, readJson, sameAddress } from '../http-line.ts';
import type {
  Amendment,
  ChangedEmployees,
  DescribedField,
  EmployeeFile,
  Employees,
  HrisAdapter,
  HrisConnection,
  ListEntry,
  WriteOptions,
} from '../port.ts';
import { fieldsToAmend, probed } from '../records.ts';
import {
  createEmployee,
  notFound,
  readEmployee,
  rehireEmployee,
  terminateEmployee,
  toBamboo,
  updateEmployee,
} from './employees.ts';
import {
  type Bamboo,
  type BambooOptions,
  bamboohrFields,
  bamboohrOptions,
  bamboohrWebhooks,
  findEmployee,
  isTaken,
  openBamboo,
} from './find.ts';

/** BambooHR through its public API; document: `specs/public.yaml` of BambooHR/bhr-api-php (MIT). */
export const bamboohr: HrisAdapter<BambooOptions> = {
  optionsSchema: () => bamboohrOptions,
  systemOf: ({ url }) => ({ url: sameAddress(url) }),
  secrets: ['apiKey', 'webhookKeys', 'webhookKey'],
  webhooks: bamboohrWebhooks,
  employeeFields: bamboohrFields,
  supports: ({ fileCategory, referenceField }) => ({
    files: fileCategory !== undefined,
    amend: true,
    accounts: referenceField !== undefined,
  }),
  employeeUrl: ({ employeeUrl }) => employeeUrl,
  listNames: () => 'any',
  open: async (options, limits) => openConnection(options, limits),
};

function openConnection(options: BambooOptions, limits: HrisLimits): HrisConnection {
  const bamboo = openBamboo(options, limits);
  return {
    capabilities: { storesReference: options.referenceField !== undefined, readLagMs: options.readLag },
    employees: {
      find: (key, signal) => findEmployee(bamboo, key, signal),
      isTaken: (name, value, signal) => isTaken(bamboo, name, value, signal),
      read: (id, signal) => readEmployee(bamboo, id, signal),
      create: (fields, reference, write) => createEmployee(bamboo, fields, reference, write),
      update: (id, fields, write) => updateEmployee(bamboo, id, fields, write),
      amend: (id, amendment, write) => amendEmployee(bamboo, id, amendment, write),
      ...employmentOf(bamboo),
    },
    changes: { since: (cursor, signal) => changedEmployees(bamboo, cursor, signal) },
    ...filesOf(bamboo),
    lists: { read: (list, signal) => readList(bamboo, list, signal) },
    probe: (signal) => probed(probe(bamboo, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(bamboo, signal) : []),
    close: () => bamboo.api.close(),
  };
}

function employmentOf(bamboo: Bamboo): Pick<Employees, 'rehire' | 'terminate'> {
  const { employment } = bamboo.options;
  if (employment === undefined) return {};
  return {
    rehire: (id, fields, write) => rehireEmployee(bamboo, { id, fields, ...employment }, write),
    terminate: (id, lastDay, write) => terminateEmployee(bamboo, { id, lastDay, ...employment }, write),
  };
}

function filesOf(bamboo: Bamboo): Pick<HrisConnection, 'files'> {
  const { fileCategory: category } = bamboo.options;
  if (category === undefined) return {};
  return {
    files: {
      deliver: (id, file, write) => deliverFile(bamboo, { id, category }, file, write),
      holds: (id, file, signal) => isThere(bamboo, filesPath(id), file, signal),
    },
  };
}

/** Checks the key, and that every field we write exists. Reads no person. */
async function probe(bamboo: Bamboo, signal: AbortSignal): Promise<void> {
  const { options } = bamboo;
  const known = new Set((await readFields(bamboo, signal)).flatMap(({ id, alias }) => [id, alias ?? '']));
  const written = [options.referenceField, ...Object.values(options.fields).map(({ name }) => name)];
  const missing = written.filter((name) => name !== undefined && !known.has(name));
  if (missing.length === 0) return;
  throw rejected(
    'HRIS_MISCONFIGURED',
    `BambooHR has no field ${missing.join(', ')}, or this key may not see it. Make it there, give the key access, ` +
      'or name the right one under hris.fields and hris.referenceField.',
    { details: { fields: missing } },
  );
}

const Rows = z.array(z.looseObject({ id: z.coerce.string(), date: z.string().default('') }));

/** Fields that BambooHR keeps with a date, in the table `jobInfo`. */
const DATED: readonly string[] = ['jobTitle', 'department', 'location', 'division', 'reportsTo'];

/** Writes dated fields as a row of their table, others at once. BambooHR has no versions: old values are read first. */
async function amendEmployee(bamboo: Bamboo, id: string, amendment: Amendment, write: WriteOptions): Promise<void> {
  const held = await readEmployee(bamboo, id, write.signal);
  if (held === undefined) throw notFound(id);
  const fields = Object.entries(fieldsToAmend(amendment, held));
  const isDated = ([key]: [string, unknown]): boolean => DATED.includes(bamboo.options.fields[key]?.name ?? '');
  const dated = Object.fromEntries(fields.filter(isDated));
  if (Object.keys(dated).length > 0) await amendJob(bamboo, { id, from: amendment.from, fields: dated }, write);
  await updateEmployee(bamboo, id, Object.fromEntries(fields.filter((field) => !isDated(field))), write);
}

/** Writes the row of that day; a new row repeats the row before it, because fields left out of a row are empty. */
async function amendJob(
  bamboo: Bamboo,
  { id, from, fields }: { id: string; from: string; fields: EmployeeFields },
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const path = `/api/v1/employees/${id}/tables/jobInfo`;
  const table = 'employees/{id}/tables/jobInfo';
  const { api } = bamboo;
  const changes = await toBamboo(bamboo, fields, signal);
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

const Changed = z.looseObject({
  // If there are no employees, the answer is an empty list instead of an empty map.
  employees: z.union([
    z.array(z.never()).transform(() => ({})),
    z.record(z.string(), z.looseObject({ action: z.string(), lastChanged: z.iso.datetime({ offset: true }) })),
  ]),
});

const BEGINNING = '1970-01-01T00:00:00.000Z';

/** Each employee costs a call. */
const PAGE = 50;
/** How late a change may appear in the list; not documented. */
const OVERLAP_MS = 60_000;

interface Change {
  id: string;
  gone: boolean;
  at: string;
}

/** One page of changed employees. The list has ids and times; each employee is then read by itself. */
async function changedEmployees(
  bamboo: Bamboo,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  const { changes, clock } = await readChanges(bamboo, before.settled, signal);
  const waiting = changes.filter((change) => placeOf(change) > (before.pass?.after ?? ''));
  const page = waiting.slice(0, PAGE);
  const read = await Promise.all(
    page.map(async ({ id, gone }) => (gone ? undefined : readEmployee(bamboo, id, signal))),
  );
  const more = waiting.length > PAGE;
  const last = page.at(-1);
  const after = more && last !== undefined ? placeOf(last) : undefined;
  const stamps = page.map(({ at }) => at);
  return {
    employees: read.filter((record) => record !== undefined),
    gone: page.filter((_change, at) => read[at] === undefined).map(({ id }) => id),
    next: nextChangeCursor(before, { after, latest: latestOf(stamps, clock), clock, overlapMs: OVERLAP_MS }),
    more,
  };
}

/** Sorts by time, and by id among equal times. */
function placeOf({ at, id }: Change): string {
  return `${at} ${id.padStart(15, '0')}`;
}

async function readChanges({ api }: Bamboo, settled: string | undefined, signal: AbortSignal) {
  // It is not documented whether changes within this very second are included, so ask for a second more.
  const since = settled === undefined ? BEGINNING : new Date(Date.parse(settled) - 1_000).toISOString();
  const query = new URLSearchParams({ since, type: 'all' });
  const what = 'GET employees/changed';
  const answer = await api.send({
    what,
    method: 'GET',
    path: `/api/v1/employees/changed?${query.toString()}`,
    signal,
    priority: 'bulk',
  });
  const { employees } = Changed.parse(readJson(answer, { what, idempotent: true }));
  const changes = Object.entries(employees)
    .map(([id, { action, lastChanged }]) => ({
      id,
      gone: action === 'Deleted',
      at: new Date(lastChanged).toISOString(),
    }))
    .filter(({ at }) => settled === undefined || at > settled)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return { changes, clock: clockOf(answer.headers.date) };
}

const Id = z.union([z.string(), z.number()]).transform(String);
const Fields = z.array(
  z.looseObject({
    id: Id,
    name: z.string(),
    type: z.string(),
    alias: z.string().optional(),
    deprecated: z.boolean().optional(),
  }),
);
const Lists = z.array(
  z.looseObject({
    fieldId: Id,
    name: z.string().nullish(),
    alias: z.string().nullish(),
    options: z.array(z.looseObject({ id: Id.optional(), name: z.string().nullish(), archived: z.string().optional() })),
  }),
);

/** Every field of the account that is not retired. */
async function readFields({ api }: Bamboo, signal: AbortSignal) {
  const answer = await api.json({ what: 'GET meta/fields', method: 'GET', path: '/api/v1/meta/fields', signal });
  return Fields.parse(answer).filter(({ deprecated }) => deprecated !== true);
}

async function readLists({ api }: Bamboo, signal: AbortSignal) {
  const path = '/api/v1/meta/lists';
  return Lists.parse(await api.json({ what: 'GET meta/lists', method: 'GET', path, signal }));
}

/** The entries of one list that are not archived. @throws ConnectorError HRIS_LIST_UNKNOWN */
async function readList(bamboo: Bamboo, list: string, signal: AbortSignal): Promise<ListEntry[]> {
  const lists = await readLists(bamboo, signal);
  const found = lists.find(({ fieldId, name, alias }) => [alias, fieldId, name].includes(list));
  if (found !== undefined)
    return found.options.flatMap(({ id, name, archived }) =>
      id === undefined || archived === 'yes' || !name ? [] : [{ id, label: name }],
    );
  const known = lists.map(({ fieldId, name, alias }) => alias ?? name ?? fieldId).join(', ');
  throw rejected(
    'HRIS_LIST_UNKNOWN',
    `BambooHR has no list "${list}". It has: ${known}. Name one of them under options, and apply the file.`,
  );
}

/** Every create needs these; which other fields an account requires is not documented. */
const REQUIRED: ReadonlySet<string> = new Set(['firstName', 'lastName']);

/** The account's fields with the values of its lists; custom fields are included. */
async function describeFields(bamboo: Bamboo, signal: AbortSignal): Promise<DescribedField[]> {
  const [fields, lists] = await Promise.all([readFields(bamboo, signal), readLists(bamboo, signal)]);
  const options = new Map(
    lists.map(({ fieldId, options: all }) => [
      fieldId,
      all.flatMap(({ name, archived }) => (archived === 'yes' || !name ? [] : [name])),
    ]),
  );
  const ours = Object.entries(bamboo.options.fields).map(([key, field]) => [field.name, { key, field }] as const);
  const known = new Map(ours);
  return fields.map(({ id, name, type, alias }) => {
    const { key, field } = known.get(alias ?? id) ?? known.get(id) ?? {};
    // Countries are codes in our fields, whatever BambooHR calls them.
    const values = field?.type === 'country' ? [] : (options.get(id) ?? []);
    return {
      key: key ?? alias ?? id,
      label: name,
      isField: key !== undefined,
      type: TYPES[type] ?? 'other',
      required: REQUIRED.has(alias ?? ''),
      ...(values.length === 0 ? {} : { options: values }),
    };
  });
}

/** A list field holds a single value, so it is text for us. */
const TYPES: Readonly<Record<string, DescribedField['type']>> = {
  text: 'text',
  textarea: 'text',
  email: 'text',
  phone: 'text',
  list: 'text',
  state: 'text',
  country: 'text',
  date: 'date',
  checkbox: 'boolean',
  bool: 'boolean',
  int: 'number',
  integer: 'number',
};

const View = z.looseObject({
  categories: z.array(
    z.looseObject({
      id: z.number(),
      files: z.array(z.looseObject({ id: z.number(), name: z.string(), size: z.number().optional() })).optional(),
    }),
  ),
});

/** Puts a file into a section of the employee's files, unless the same bytes are there under this name. */
async function deliverFile(
  bamboo: Bamboo,
  { id, category }: { id: string; category: number },
  file: EmployeeFile,
  { signal, beforeSend }: WriteOptions,
): Promise<'delivered' | 'there'> {
  const place = filesPath(id);
  if (await isThere(bamboo, place, file, signal)) return 'there';
  const form = new FormData();
  form.set('fileName', file.name);
  form.set('category', String(category));
  form.set('share', 'no');
  form.set('file', new Blob([new Uint8Array(file.bytes)], { type: file.mediaType }), file.name);
  const encoded = new Response(form);
  const what = 'POST employees/{id}/files';
  const upload = { contentType: encoded.headers.get('content-type') ?? '', body: await encoded.bytes() };
  // Safe to repeat: the next delivery looks first.
  const sent = { name: file.name };
  await bamboo.api.send({ what, method: 'POST', path: place, upload, sent, idempotent: true, signal, beforeSend });
  return 'delivered';
}

function filesPath(id: string): string {
  return `/api/v1/employees/${encodeURIComponent(id)}/files`;
}

async function isThere({ api }: Bamboo, place: string, file: EmployeeFile, signal: AbortSignal): Promise<boolean> {
  const call = { what: 'GET employees/{id}/files/view', method: 'GET', path: `${place}/view`, signal } as const;
  // Without a section that we may see, the answer is 404, as for an unknown employee.
  const view = await api.json(call).catch((error: unknown) => {
    if (isConnectorError(error) && error.status === 404) return { categories: [] };
    throw error;
  });
  const { categories } = View.parse(view);
  const named = categories
    .flatMap(({ files = [] }) => files)
    .filter(({ name, size }) => name === file.name && (size ?? file.bytes.length) === file.bytes.length);
  for (const { id } of named) {
    const what = 'GET employees/{id}/files/{fileId}';
    const { body } = await api.send({ what, method: 'GET', path: `${place}/${id}`, accept: '*/*', signal });
    if (body.equals(file.bytes)) return true;
  }
  return false;
}
