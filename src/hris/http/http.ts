import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isConnectorError, rejected } from '../../errors.ts';
import { refuse } from '../../yaml/yaml-file.ts';
import { type Change, clockOf, pageOfChanges, readChangeCursor } from '../change-cursor.ts';
import { type HrisLimits, sameAddress } from '../http-line.ts';
import { duration, employeeUrl, pageBelow } from '../option-types.ts';
import type {
  ChangedEmployees,
  DescribedField,
  EmployeeFile,
  EmployeeRecord,
  FieldDef,
  HrisAdapter,
  HrisConnection,
  ListEntry,
  Requisition,
  Requisitions,
  WriteOptions,
} from '../port.ts';
import { cellText } from '../read-cell.ts';
import { readApart, sortRead } from '../read-many.ts';
import { probed } from '../records.ts';
import { readBelow } from './below.ts';
import {
  amendEmployee,
  askCreate,
  createEmployee,
  findEmployee,
  isTaken,
  readEmployee,
  rehireEmployee,
  terminateEmployee,
  writeEmployee,
} from './employees.ts';
import { type Answer, type Defined, type LineOptions, openDefinedLine, unreadable } from './line.ts';
import { type HttpDefinition, loadDefinition } from './load-definition.ts';
import { employeesIn, wholeList } from './look-through.ts';
import { idOf, toEmployee, unlessThere } from './record.ts';

/** A definition in a tenant's options: its file and text. */
const definitionFile = z.object({ file: z.string(), text: z.string() });
export type DefinitionFile = z.output<typeof definitionFile>;

/** The options beside `kind` and `connection` in a tenant file, for every definition. */
export interface CommonOptions {
  url: string;
  readLag?: number | undefined;
  employeeUrl?: string | undefined;
  allowPrivateAddress: boolean;
  [own: string]: unknown;
}

const webhookKeys = z
  .array(z.string().min(1), 'expected a list such as [file:acme-hook.key]')
  .max(2, 'expected at most two keys: the current one and the one being rotated')
  .optional();

/** Definitions that were read: a thousand tenants share a few. */
const adapters = new Map<string, HrisAdapter<CommonOptions>>();
const MOST_ADAPTERS = 1_000;

/** An HR system that a definition file describes: `hris: { kind: http, definition: ./acme-hr.yaml, url: ... }`. */
export const http: HrisAdapter<CommonOptions> = {
  optionsSchema: () => optionsOf(undefined),
  systemOf: ({ url }) => ({ url: sameAddress(url) }),
  definedBy: ({ definition }) => {
    const given = definitionFile.safeParse(definition);
    return given.success ? adapterOf(given.data) : undefined;
  },
  employeeFields: () => [],
  open: async () => {
    throw rejected(
      'HRIS_OPTIONS_INVALID',
      'The HR system of kind http has no definition. Name its file under hris.definition.',
    );
  },
};

/** A kind of its own, described by our definition `src/hris/kinds/NAME.yaml`. */
export function definedKind(name: string): HrisAdapter<CommonOptions> {
  let made: HrisAdapter<CommonOptions> | undefined;
  const make = (): HrisAdapter<CommonOptions> => {
    const file = fileURLToPath(new URL(`../kinds/${name}.yaml`, import.meta.url));
    return adapterOf({ file, text: readFileSync(file, 'utf8') });
  };
  // Every process lists the kinds, but few need this one, so it is read on first use.
  return { ...http, definedBy: () => (made ??= make()) };
}

/** @throws ConnectorError HRIS_DEFINITION_INVALID with file:line:column of each problem */
function adapterOf({ file, text }: DefinitionFile): HrisAdapter<CommonOptions> {
  const key = `${file}\n${text}`;
  const known = adapters.get(key);
  if (known !== undefined) return known;
  const { definition, problems } = loadDefinition(file, text);
  if (definition === undefined) throw refuse('HRIS_DEFINITION_INVALID', problems);
  if (adapters.size >= MOST_ADAPTERS) adapters.clear();
  const made = build(definition);
  adapters.set(key, made);
  return made;
}

function build(definition: HttpDefinition): HrisAdapter<CommonOptions> {
  const fields = fieldsOf(definition);
  const positions = definition.positions && fieldsOf(definition.positions.of);
  const named = Object.entries(definition.options);
  const secrets = named.flatMap(([key, { secret }]) => (secret ? [key] : []));
  // Only the author of a definition knows which of its options names a company.
  const open = named.flatMap(([key, { secret }]) => (secret ? [] : [key]));
  if (definition.webhooks !== undefined) secrets.push('webhookKeys');
  return {
    optionsSchema: () => optionsOf(definition),
    systemOf: (options) => ({
      url: sameAddress(options.url),
      ...Object.fromEntries(open.map((key) => [key, String(options[key])])),
    }),
    secrets,
    ...(definition.webhooks && { webhooks: definition.webhooks }),
    employeeFields: () => fields,
    supports: () => ({
      files: definition.filing !== undefined,
      amend: true,
      accounts:
        definition.record.reference !== undefined && definition.asking === undefined && !definition.isMadeInParts,
    }),
    ...(positions && { requisitionFields: () => positions }),
    listNames: () => [...definition.lists.keys()],
    employeeUrl: ({ url, employeeUrl: own = definition.employeeUrl }) => own && pageBelow(url, own),
    open: async (options, limits, _inUse, today) =>
      openDefinition(definition, options, { limits, ...(today && { today }) }).connection,
  };
}

function fieldsOf({ fields, taken, everybody }: HttpDefinition): FieldDef[] {
  return fields.map((field) => ({
    key: field.key,
    place: field.at,
    label: field.label ?? field.key,
    type: field.type,
    required: field.required,
    writable: field.write,
    ...(field.values === undefined ? {} : { options: Object.keys(field.values) }),
    ...(field.options === undefined ? {} : { options: field.options }),
    ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }),
    ...(field.decimals === undefined ? {} : { decimals: field.decimals }),
    ...(field.type === 'text' && (taken.has(field.key) || everybody) && { isLookedUp: true as const }),
  }));
}

/** An open connection of a definition, and what only `hris test` needs. */
export interface OpenDefinition {
  connection: HrisConnection;
  /** Deletes an employee for good; absent if the definition does not say how. */
  remove?: (id: string, signal: AbortSignal) => Promise<void>;
  /** How many records are below an employee; absent if the definition has none. */
  below?: (id: string) => Promise<number>;
  /** The ids in the list of everybody; absent if the definition has none. Throws if the list is not whole. */
  everybody?: () => Promise<string[]>;
}

/** The options that a tenant file may have beside `kind` and `connection`. */
export function optionsOf(definition: HttpDefinition | undefined): z.ZodType<CommonOptions> {
  const own = Object.entries(definition?.options ?? {}).map(([key, option]) => {
    const text = z.string(`expected text${option.about === undefined ? '' : `: ${option.about}`}`).min(1);
    return [key, option.default === undefined ? text : text.default(option.default)] as const;
  });
  const common = {
    definition: z.unknown().optional().describe('The file that describes the HR system'),
    url: z
      .url({ protocol: /^https?$/, error: 'expected the address of the HR system, https://hr.example/api' })
      .refine(
        (url) => !/[?#]|\/\/[^/]*@/.test(url),
        'expected an address alone: credentials, and a query after ?, belong in "auth" of the definition',
      ),
    readLag: duration.optional(),
    employeeUrl: employeeUrl.optional(),
    ...(definition?.webhooks && { webhookKeys }),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  };
  return z.strictObject({ ...common, ...Object.fromEntries(own) }) as unknown as z.ZodType<CommonOptions>;
}

/** Opens the system that a definition describes; `watch` is called for each request. */
export function openDefinition(
  definition: HttpDefinition,
  options: CommonOptions,
  {
    limits,
    watch,
    today = () => new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
  }: { limits: HrisLimits; watch?: LineOptions['watch']; today?: () => string },
): OpenDefinition {
  const { url, allowPrivateAddress } = options;
  const own = Object.fromEntries(Object.keys(definition.options).map((key) => [`options.${key}`, options[key]]));
  const line = openDefinedLine(definition, { url, allowPrivateAddress, own, watch }, limits);
  const { removing, below, everybody } = definition;
  const defined = { definition, line, own, today, readLagMs: options.readLag ?? definition.readLag ?? 0 };
  return {
    connection: connectionOf(defined),
    ...(below.length > 0 && {
      below: async (id) => Object.values(await readBelow(defined, id, AbortSignal.timeout(60_000))).flat().length,
    }),
    ...(everybody && { everybody: () => idsOfAll(defined, everybody) }),
    ...(removing && {
      remove: async (id, signal) => {
        await line.send({ plan: removing, values: { id }, signal, accepts: [404, 410] });
      },
    }),
  };
}

async function idsOfAll(defined: Defined, plan: NonNullable<HttpDefinition['everybody']>): Promise<string[]> {
  const call = { plan, signal: AbortSignal.timeout(300_000), priority: undefined };
  const ids: unknown[] = [];
  const read = (answer: Answer) => employeesIn(defined, answer, plan);
  for await (const { items } of wholeList(defined, call, 'whoever is missing could be employed twice', read))
    ids.push(...(await Promise.all(items.map(defined.definition.record.id))));
  return ids.flatMap((id) => idOf(id) ?? []);
}

function connectionOf(defined: Defined): HrisConnection {
  const { definition, line, readLagMs } = defined;
  const { terminating, rehiring, changing, asking, filing, describing, positions, creating, numbering } = definition;
  const numbers = [definition.record.number, numbering, creating.number, asking?.number];
  return {
    capabilities: {
      storesReference: definition.record.reference !== undefined,
      readLagMs,
      ...(definition.isMadeInParts && { createsInParts: true as const }),
    },
    employees: {
      find: (key, signal) => findEmployee(defined, key, signal),
      isTaken: (field, value, signal) => isTaken(defined, field, value, signal),
      read: (id, signal) => readEmployee(defined, id, signal),
      create: (fields, reference, write) => createEmployee(defined, fields, reference, write),
      update: (id, fields, write) => writeEmployee(defined, definition.updating, { id, fields }, write),
      amend: (id, amendment, write) => amendEmployee(defined, id, amendment, write),
      ...(terminating && {
        terminate: (id, lastDay, write) => terminateEmployee(defined, terminating, { id, lastDay }, write),
      }),
      ...(rehiring && { rehire: (id, fields, write) => rehireEmployee(defined, rehiring, { id, fields }, write) }),
    },
    ...(changing && { changes: { since: (cursor, signal) => changedEmployees(defined, changing, cursor, signal) } }),
    ...(asking && { pending: { resolve: (ticket, signal) => askCreate(defined, ticket, signal) } }),
    ...(filing && {
      files: {
        deliver: (id, file, write) => deliverFile(defined, filing, { id, file }, write),
        holds: (id, file, signal) => isThere(defined, filing, { id, file }, signal),
      },
    }),
    ...(positions && { requisitions: requisitionsOf({ ...defined, definition: positions.of }, positions.listing) }),
    ...(definition.lists.size > 0 && { lists: { read: (list, signal) => readList(defined, list, signal) } }),
    ...(describing && {
      describe: async (subject, signal) => (subject === 'employee' ? describeFields(defined, describing, signal) : []),
    }),
    ...(numbers.every((one) => one === undefined) && { givesNumber: async () => false }),
    probe: (signal) => probeOf(defined, signal),
    close: () => line.close(),
  };
}

function probeOf({ definition, line }: Defined, signal: AbortSignal): ReturnType<HrisConnection['probe']> {
  return probed(line.send({ plan: definition.probing, signal }));
}

/** Every entry that can be chosen; entries without an id or a label are skipped. */
async function readList(defined: Defined, list: string, signal: AbortSignal): Promise<ListEntry[]> {
  const plan = defined.definition.lists.get(list);
  if (plan === undefined) throw new Error(`The definition has no list ${list}.`);
  const { id, label, active } = plan;
  const entries: ListEntry[] = [];
  for await (const { items } of wholeList(defined, { plan, signal }, 'some of its entries would pass for gone'))
    for (const item of items) {
      if (active !== undefined && (await active(item)) !== true) continue;
      const [key, name] = [idOf(await id(item)), cellText(await label(item))];
      if (key !== undefined && name !== undefined && name !== '') entries.push({ id: key, label: name });
    }
  return entries;
}

/** Open positions, read and written as the definition describes. */
function requisitionsOf(defined: Defined, listing: NonNullable<HttpDefinition['positions']>['listing']): Requisitions {
  const read = async (id: string, signal: AbortSignal): Promise<Requisition[]> => {
    const found = await readEmployee(defined, id, signal);
    return found === undefined || found.former === true ? [] : [positionOf(found)];
  };
  /** A position may be filled between two calls, and most systems allow edits of a filled one. */
  const assertOpen = async (id: string, signal: AbortSignal): Promise<void> => {
    if ((await read(id, signal)).length > 0) return;
    const message = `${defined.definition.name} has no open requisition with this id.`;
    throw rejected('REQUISITION_NOT_FOUND', message);
  };
  return {
    async listOpen(signal) {
      const listed: Requisition[] = [];
      const pages = wholeList(defined, { plan: listing, signal }, 'some would pass for filled');
      for await (const { items, answer } of pages)
        for (const item of items) {
          const position = await toEmployee(defined.definition, item);
          if (position === undefined)
            throw unreadable(listing.what, 'with a record that has no id', '"requisitions.id"', answer.at.requestId);
          if (position.former !== true) listed.push(positionOf(position));
        }
      return listed;
    },
    read: async (ids, signal) => (await Promise.all(ids.map((id) => read(id, signal)))).flat(),
    async update(id, fields, write) {
      await assertOpen(id, write.signal);
      await writeEmployee(defined, defined.definition.updating, { id, fields }, write);
    },
    async amend(id, amendment, write) {
      await assertOpen(id, write.signal);
      await amendEmployee(defined, id, amendment, write);
    },
  };
}

function positionOf({ ref, fields, unreadable }: EmployeeRecord): Requisition {
  return { id: ref.id, fields, ...(unreadable && { unreadable }) };
}

const Described = z.looseObject({
  place: z.string(),
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list', 'other']).catch('other').default('text'),
  required: z.boolean().catch(false).default(false),
  options: z.array(z.coerce.string()).optional(),
  maxLength: z.int().positive().optional(),
});

/** The fields as the system itself describes them; fields of the definition have its names. */
async function describeFields(
  { definition, line }: Defined,
  plan: NonNullable<HttpDefinition['describing']>,
  signal: AbortSignal,
): Promise<DescribedField[]> {
  const { body } = await line.send({ plan, signal });
  const told = await plan.fields(body);
  return [told].flat().flatMap((one): DescribedField[] => {
    const parsed = Described.safeParse(one);
    if (!parsed.success) return [];
    const { place, label = place, type, required, options, maxLength } = parsed.data;
    const field = definition.fields.find(({ at }) => at === place);
    // An empty list of options is dropped: no value would fit it.
    const known = { ...(options?.length && { options }), ...(maxLength && { maxLength }) };
    return [{ key: field?.key ?? place, label, isField: field !== undefined, type, required, ...known }];
  });
}

/** Employees are read one by one, so each costs a call. */
const READ_PAGE = 50;
/** The list has complete employees, so each page costs the list again. */
const LISTED_PAGE = 200;

/** One page of changed employees, ordered by stamp, and by id among equal stamps. */
async function changedEmployees(
  defined: Defined,
  plan: NonNullable<HttpDefinition['changing']>,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const { overlap, beginning, reread } = plan;
  const before = readChangeCursor(cursor);
  const { changes, clock } = await readChanges(defined, plan, before.settled ?? beginning, signal);
  const size = reread ? READ_PAGE : LISTED_PAGE;
  const { page, ...next } = pageOfChanges(before, changes, { size, width: 40, clock, overlapMs: overlap });
  const readOne = async ({ id, gone, raw }: RawChange): Promise<EmployeeRecord | undefined> => {
    if (gone) return undefined;
    return reread ? readEmployee(defined, id, signal) : toEmployee(defined.definition, raw);
  };
  // A change whose record is refused for good would otherwise stop all that follow.
  const read = await readApart(page, readOne, async () => (await probeOf(defined, signal)).ok);
  const ids = page.map(({ id }) => id);
  return { ...sortRead(ids, read), ...next };
}

type RawChange = Change & { raw: unknown };

async function readChanges(
  defined: Defined,
  plan: NonNullable<HttpDefinition['changing']>,
  since: string,
  signal: AbortSignal,
): Promise<{ changes: RawChange[]; clock: number }> {
  const { definition } = defined;
  const changes: RawChange[] = [];
  let clock: number | undefined;
  const call = { plan, values: { since }, signal };
  // A list of ids has no records.
  const read = plan.reread ? undefined : (answer: Answer) => employeesIn(defined, answer, plan);
  for await (const { items, answer } of wholeList(defined, call, 'some who changed would be left out', read)) {
    clock ??= clockOf(answer.headers['date'] as string | undefined);
    for (const raw of items) {
      const [id, stamp, gone] = [idOf(await definition.record.id(raw)), await plan.stamp(raw), await plan.gone?.(raw)];
      const { requestId } = answer.at;
      // Left out, this change would never be seen, and without a stamp it would be left out later.
      if (id === undefined) throw unreadable(plan.what, 'with a record that has no id', '"record.id"', requestId);
      const at = cellText(stamp);
      if (at === '') throw unreadable(plan.what, 'with a record that has no stamp', '"changes.stamp"', requestId);
      changes.push({ id, at, gone: gone === true, raw });
    }
  }
  return { changes, clock: clock ?? Date.now() };
}

type Filing = NonNullable<HttpDefinition['filing']>;

/** Puts a file into the employee's record, unless the same bytes are there under this name. */
async function deliverFile(
  defined: Defined,
  plan: Filing,
  { id, file }: { id: string; file: EmployeeFile },
  { signal, beforeSend }: WriteOptions,
): Promise<'delivered' | 'there'> {
  if (await isThere(defined, plan, { id, file }, signal)) return 'there';
  const values = {
    id,
    file: new File([new Uint8Array(file.bytes)], file.name, { type: file.mediaType }),
    'file.name': file.name,
    'file.mediaType': file.mediaType,
    'file.base64': file.bytes.toString('base64'),
  };
  // Safe to repeat: the next delivery looks first.
  return defined.line.send({ plan: plan.upload, values, signal, beforeSend, makes: true }).then(
    () => 'delivered',
    (error: unknown) =>
      unlessThere(error, async () => ((await isThere(defined, plan, { id, file }, signal)) ? 'there' : undefined)),
  );
}

/** Whether the employee has a file of this name with the same bytes. */
async function isThere(
  defined: Defined,
  { list, same, download }: Filing,
  { id, file }: { id: string; file: EmployeeFile },
  signal: AbortSignal,
): Promise<boolean> {
  const call = { plan: list, values: { id }, signal, priority: 'live' } as const;
  for await (const { items } of wholeList(defined, call, 'a file that is there would be uploaded again'))
    for (const item of items) {
      if (cellText(await list.name(item)) !== file.name) continue;
      for (const [digest, read] of Object.entries(same))
        if (read !== undefined && (await read(item)) === digestOf(file, digest)) return true;
      const fileId = idOf(await list.id?.(item));
      if (download === undefined || fileId === undefined) continue;
      const bytes = { plan: download, values: { id, 'file.id': fileId }, signal, isRaw: true };
      const got = await defined.line.send(bytes).catch((error: unknown) => {
        if (isConnectorError(error) && error.status === 404 && error.action === 'reject') return undefined;
        throw error;
      });
      if (got?.at.body.equals(file.bytes) === true) return true;
    }
  return false;
}

function digestOf({ bytes }: EmployeeFile, digest: string): string {
  return digest === 'base64' ? bytes.toString('base64') : createHash(digest).update(bytes).digest('hex');
}
