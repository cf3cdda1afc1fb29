import { z } from 'zod';
import { dayOf } from '../../day-of.ts';
import { isConnectorError, rejected } from '../../errors.ts';
import { clockOf, pageOfChanges, readChangeCursor } from '../change-cursor.ts';
import { type HrisLimits, readJson, sameAddress } from '../http-line.ts';
import type {
  ChangedEmployees,
  DescribedField,
  EmployeeFile,
  Employees,
  HrisAdapter,
  HrisConnection,
  ListEntry,
  WriteOptions,
} from '../port.ts';
import { readApart, sortRead } from '../read-many.ts';
import { probed } from '../records.ts';
import {
  type Bamboo,
  type BambooOptions,
  bamboohrFields,
  bamboohrOptions,
  bamboohrWebhooks,
  openBamboo,
} from './account.ts';
import {
  amendEmployee,
  createEmployee,
  findEmployee,
  isTaken,
  readEmployee,
  rehireEmployee,
  terminateEmployee,
  updateEmployee,
} from './employees.ts';

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
  open: async (options, limits, _inUse, today) => openConnection(options, limits, today),
};

function openConnection(options: BambooOptions, limits: HrisLimits, today = () => dayOf(Date.now())): HrisConnection {
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
      ...employmentOf(bamboo, today),
    },
    changes: { since: (cursor, signal) => changedEmployees(bamboo, cursor, signal) },
    ...filesOf(bamboo),
    lists: { read: (list, signal) => readList(bamboo, list, signal) },
    probe: (signal) => probed(probe(bamboo, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(bamboo, signal) : []),
    close: () => bamboo.close(),
  };
}

function employmentOf(bamboo: Bamboo, today: () => string): Pick<Employees, 'rehire' | 'terminate'> {
  const { employment } = bamboo.options;
  if (employment === undefined) return {};
  return {
    rehire: (id, fields, write) => rehireEmployee(bamboo, { id, fields, today: today(), ...employment }, write),
    terminate: (id, lastDay, write) => terminateEmployee(bamboo, { id, lastDay, ...employment }, write),
  };
}

function filesOf(bamboo: Bamboo): Pick<HrisConnection, 'files'> {
  const { fileCategory: category } = bamboo.options;
  if (category === undefined) return {};
  return {
    files: {
      deliver: (id, file, write) => deliverFile(bamboo, { id, category }, file, write),
      holds: (id, file, signal) => isThere(bamboo, id, file, signal),
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

/** One page of changed employees. The list has ids and times; each employee is then read by itself. */
async function changedEmployees(
  bamboo: Bamboo,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  const { settled } = before;
  // It is not documented whether changes within this very second are included, so ask for a second more.
  const since = settled === undefined ? BEGINNING : new Date(Date.parse(settled) - 1_000).toISOString();
  const path = `employees/changed?${new URLSearchParams({ since, type: 'all' }).toString()}`;
  const what = 'employees/changed';
  const answer = await bamboo.send({ path, what, signal, priority: 'bulk' });
  const { employees } = Changed.parse(readJson(answer, { what: `GET ${what}`, idempotent: true }));
  const changes = Object.entries(employees).map(([id, { action, lastChanged }]) => ({
    id,
    gone: action === 'Deleted',
    at: new Date(lastChanged).toISOString(),
  }));
  const how = { size: PAGE, width: 15, clock: clockOf(answer.headers.date), overlapMs: OVERLAP_MS };
  const { page, ...next } = pageOfChanges(before, changes, how);
  // A change of somebody whom the key may not read would otherwise stop all that follow.
  const read = await readApart(
    page,
    async ({ id, gone }) => (gone ? undefined : readEmployee(bamboo, id, signal)),
    async () => (await probed(probe(bamboo, signal))).ok,
  );
  const ids = page.map(({ id }) => id);
  return { ...sortRead(ids, read), ...next };
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
async function readFields({ json }: Bamboo, signal: AbortSignal) {
  return Fields.parse(await json({ path: 'meta/fields', signal })).filter(({ deprecated }) => deprecated !== true);
}

async function readLists({ json }: Bamboo, signal: AbortSignal) {
  const lists = Lists.parse(await json({ path: 'meta/lists', signal }));
  return lists.map(({ options, ...list }) => ({
    ...list,
    options: options.flatMap(({ id, name, archived }) => (archived === 'yes' || !name ? [] : [{ id, label: name }])),
  }));
}

/** The entries of one list that are not archived. @throws ConnectorError HRIS_LIST_UNKNOWN */
async function readList(bamboo: Bamboo, list: string, signal: AbortSignal): Promise<ListEntry[]> {
  const lists = await readLists(bamboo, signal);
  const found = lists.find(({ fieldId, name, alias }) => [alias, fieldId, name].includes(list));
  if (found !== undefined) return found.options.flatMap(({ id, label }) => (id === undefined ? [] : [{ id, label }]));
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
  const options = new Map(lists.map(({ fieldId, options: all }) => [fieldId, all.map(({ label }) => label)]));
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
  if (await isThere(bamboo, id, file, signal)) return 'there';
  const upload = new FormData();
  upload.set('fileName', file.name);
  upload.set('category', String(category));
  upload.set('share', 'no');
  upload.set('file', new Blob([new Uint8Array(file.bytes)], { type: file.mediaType }), file.name);
  // Safe to repeat: the next delivery looks first.
  const call = { method: 'POST', path: filesPath(id), what: 'employees/{id}/files', upload } as const;
  await bamboo.send({ ...call, sent: { name: file.name }, signal, beforeSend });
  return 'delivered';
}

function filesPath(id: string): string {
  return `employees/${encodeURIComponent(id)}/files`;
}

async function isThere({ json, send }: Bamboo, id: string, file: EmployeeFile, signal: AbortSignal): Promise<boolean> {
  const place = filesPath(id);
  // Without a section that we may see, the answer is 404, as for an unknown employee.
  const what = 'employees/{id}/files/view';
  const view = await json({ path: `${place}/view`, what, signal }).catch((error: unknown) => {
    if (isConnectorError(error) && error.status === 404) return { categories: [] };
    throw error;
  });
  const named = View.parse(view)
    .categories.flatMap(({ files = [] }) => files)
    .filter(({ name, size }) => name === file.name && (size ?? file.bytes.length) === file.bytes.length);
  for (const one of named) {
    const call = { path: `${place}/${one.id}`, what: 'employees/{id}/files/{fileId}', accept: '*/*' };
    if ((await send({ ...call, signal })).body.equals(file.bytes)) return true;
  }
  return false;
}
