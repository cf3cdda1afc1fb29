import { isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/hire.ts';
import type { EmployeeRecord, WriteOptions } from '../port.ts';
import { type ReadCell, readCell, readDayAlone, readFields } from '../read-cell.ts';
import { assertFits, foldText, isEmpty, problemOf, refOf } from '../records.ts';
import { dayAs, dayFrom, type PathStep, readPath, type Values, writePath } from './expression.ts';
import { type Defined, type DefinedLine, unlessAbsent, unreadable } from './line.ts';
import type { CallPlan, FieldPlan, HttpDefinition, WritePlan } from './load-definition.ts';

/** A value to put into a record. */
export interface Placed {
  path: readonly PathStep[];
  value: unknown;
  /** The value is empty, and its field should be left out then. */
  isLeftOut?: boolean;
}

/** Converts a record from an answer, as its hook made it, to an employee. */
export function toEmployee(
  { record, fields, nothing }: Pick<HttpDefinition, 'record' | 'fields' | 'nothing'>,
  raw: unknown,
): EmployeeRecord | undefined | Promise<EmployeeRecord | undefined> {
  // What stands in no record below that was read is unknown.
  const shown = fields.filter(({ below }) => below === undefined || readPath(raw, [{ name: below }]) !== undefined);
  const values = shown.map(({ path, read }) => (read === undefined ? readPath(raw, path) : read(raw)));
  return together(
    [record.id(raw), record.number?.(raw), record.former?.(raw), ...values],
    ([id, number, left, ...of]) => {
      const known = idOf(id);
      if (known === undefined) return undefined;
      const former = yesOrNo(left, 'record.former');
      const reference = record.reference === undefined ? undefined : readPath(raw, record.reference);
      return {
        ref: refOf(known, idOf(number)),
        ...readFields(shown.map((field, at) => [field.key, fromTheirs(field, of[at], nothing)])),
        ...(former === undefined ? {} : { former }),
        ...(typeof reference === 'string' && reference !== '' ? { reference } : {}),
      };
    },
  );
}

/**
 * What an expression says; undefined if it says nothing. Taken for no, a text would make everybody who has left pass
 * for somebody at work, and a finished request wait for ever.
 * @throws ConnectorError HRIS_UNREADABLE_ANSWER
 */
export function yesOrNo(value: unknown, key: string): boolean | undefined {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
  throw rejected(
    'HRIS_UNREADABLE_ANSWER',
    `"${key}" of the definition gives neither true nor false of an answer. Write a comparison, such as ` +
      'status = "left" or leftOn != null.',
  );
}

/** Calls `then` with the values. Most expressions are paths, which need no promise: a list has thousands of records. */
export function together<T>(values: unknown[], then: (values: unknown[]) => T): T | Promise<T> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values).then(then) : then(values);
}

const LONGEST_ID = 2_000;

/** Ids and numbers arrive as numbers or as text. A longer number has lost digits, and may be somebody else's. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_ID ? value : undefined;
}

/**
 * Tells whether an item of the lists that these fields are in has this address: people have more addresses than there
 * are fields, and some of no type (RFC 7643, section 2.4).
 */
export function listsAddress({ fields }: HttpDefinition, keys: readonly string[], address: string) {
  const lists = fields.filter(({ key, path }) => keys.includes(key) && path.some((step) => 'where' in step));
  const places = lists.map(({ path }) => path.filter((step) => 'name' in step));
  const wanted = foldText(address);
  return (raw: unknown): boolean =>
    places.flatMap((place) => readPath(raw, place)).some((one) => typeof one === 'string' && foldText(one) === wanted);
}

/** Names every field that does not fit at once, without its value. */
export function assertTakes({ name, fields: known }: HttpDefinition, fields: EmployeeFields, isNew: boolean): void {
  assertFits({ accepts: `${name} does not accept`, requires: `${name} requires`, known }, fields, isNew, wrongIn);
}

function wrongIn(value: FieldValue, field: FieldPlan): string | undefined {
  if (!field.write) return 'is read-only';
  if (isEmpty(value)) return undefined;
  const texts = [value].flat().map(String);
  const common = problemOf(value, field);
  if (common !== undefined) return common;
  if (field.maxLength !== undefined && texts.some((text) => text.length > (field.maxLength as number)))
    return `is longer than ${field.maxLength} characters`;
  if (field.type === 'number' && 'wrong' in readCell('number', value)) return 'is not a number';
  if (field.type === 'boolean' && typeof value !== 'boolean') return 'is neither true nor false';
  if (field.values !== undefined && !texts.every((text) => Object.hasOwn(field.values as object, text)))
    return `is not one of ${Object.keys(field.values).join(', ')}`;
  return undefined;
}

function toTheirs(field: FieldPlan, value: FieldValue): Placed {
  const { path, type, values, date, empty } = field;
  if (isEmpty(value)) return { path, value: empty === 'text' ? '' : null, isLeftOut: empty === 'omit' };
  const one = (item: string): unknown => values?.[item] ?? item;
  if (Array.isArray(value)) return { path, value: value.map(one) };
  if (values !== undefined) return { path, value: one(String(value)) };
  if (type === 'date' && date !== undefined) return { path, value: dayAs(date, String(value)) };
  // Decimals stay text inside; in JSON they become numbers if a number holds them exactly.
  if (type === 'number') return { path, value: typeof value === 'string' ? exactNumber(value) : value };
  return { path, value };
}

function exactNumber(text: string): number | string {
  const number = Number(text);
  return String(number) === text ? number : text;
}

function fromTheirs({ type, values, date }: FieldPlan, given: unknown, nothing: readonly unknown[]): ReadCell {
  const value = type !== 'boolean' && nothing.includes(given) ? null : given;
  if (values !== undefined && !isEmpty(value)) {
    const ours = (item: unknown): string | undefined =>
      Object.entries(values).find(([, theirs]) => String(theirs) === String(item))?.[0];
    const listed = Array.isArray(value) ? value.map((item) => ours(item) ?? String(item)) : undefined;
    return readCell(type, listed ?? ours(value) ?? value);
  }
  if (type !== 'date') return readCell(type, value);
  if (date === undefined || typeof value !== 'string' || value === '') return readDayAlone(value);
  const day = dayFrom(date, value);
  return day === null ? { wrong: 'NOT_A_DAY' } : { value: day };
}

/** What a write is made of; `raw` is the record as it was read. */
interface Written {
  fields: EmployeeFields;
  values: Values;
  raw?: unknown;
  reference?: string;
}

/** The value of `{record}` in a write: the fields in the definition's form. */
export function recordOf(definition: HttpDefinition, plan: WritePlan, written: Written): unknown {
  return definition.hooks.write(formOf(definition, plan, written), plan.purpose);
}

function formOf(definition: HttpDefinition, plan: WritePlan, { fields, values, raw, reference }: Written): unknown {
  const kept = definition.record.reference;
  const elsewhere = new Set(definition.steps.flatMap((step) => step.fields));
  const placed: Placed[] = [
    ...(reference === undefined || kept === undefined ? [] : [{ path: kept, value: reference }]),
    ...saidBy(plan.set, values, undefined),
    ...definition.fields.flatMap((field) => {
      const value = fields[field.key];
      return value === undefined || field.below !== undefined || elsewhere.has(field.key)
        ? []
        : [toTheirs(field, value)];
    }),
  ];
  if (plan.as === 'put') return laidOver(raw, placed, plan.without);
  const sent = placed.filter(({ isLeftOut }) => isLeftOut !== true);
  if (plan.as === 'flat') return Object.fromEntries(sent.map(({ path, value }) => [spelled(path), value]));
  if (plan.as === 'merge') return merged(raw, sent);
  const changes = changesOf(raw, sent);
  if (plan.as === 'json-patch')
    return changes.map(({ path, value }) => ({ op: 'add', path: `/${path.map(pointer).join('/')}`, value }));
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: changes.map(({ path, value }) =>
      value === null ? { op: 'remove', path: scimPath(path) } : { op: 'replace', path: scimPath(path), value },
    ),
  };
}

/** What `set` says to the employee's record, or to one below it; a value that is not there is left out. */
export function saidBy(set: WritePlan['set'], values: Values, kind: string | undefined): Placed[] {
  const said = set.filter(({ below }) => below === kind).map(({ path, value }) => ({ path, value: value(values) }));
  return said.filter(({ value }) => value !== undefined);
}

function laidOver(raw: unknown, placed: readonly Placed[], without: WritePlan['without']): Record<string, unknown> {
  const record = structuredClone(raw ?? {}) as Record<string, unknown>;
  for (const path of without) if (readPath(record, path) !== undefined) place(record, path, undefined);
  for (const { path, value, isLeftOut } of placed) place(record, path, isLeftOut === true ? undefined : value);
  return record;
}

/** Names of the top places below which a list is written: such a place is sent as a whole. */
function listedTops(placed: readonly Placed[]): Set<string> {
  return new Set(
    placed.flatMap(({ path: [top, ...rest] }) =>
      top !== undefined && 'name' in top && rest.some((step) => 'where' in step) ? [top.name] : [],
    ),
  );
}

/** Only the written values; a list with one changed item is included as a whole. */
function merged(raw: unknown, placed: readonly Placed[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  // Before any value is placed: a sibling that is written first must not stand for what the record has.
  for (const name of listedTops(placed)) {
    const held = readPath(raw, [{ name }]);
    if (held !== undefined) record[name] = structuredClone(held);
  }
  for (const { path, value } of placed) place(record, path, value);
  return record;
}

/** One change for each path; a list is replaced as a whole, with all that is written beside it. */
function changesOf(raw: unknown, placed: readonly Placed[]): { path: string[]; value: unknown }[] {
  const tops = listedTops(placed);
  const isListed = ({ path: [top] }: Placed): boolean => top !== undefined && 'name' in top && tops.has(top.name);
  const plain = placed.filter((one) => !isListed(one));
  return [
    ...plain.map(({ path, value }) => ({ path: path.map((step) => ('name' in step ? step.name : '')), value })),
    ...Object.entries(merged(raw, placed.filter(isListed))).map(([name, value]) => ({ path: [name], value })),
  ];
}

/** Removes the item of a list that loses its value. */
function place(record: Record<string, unknown>, path: readonly PathStep[], value: unknown): void {
  const at = path.findLastIndex((step) => 'where' in step);
  const step = path[at];
  if ((value !== null && value !== undefined) || step === undefined || !('where' in step))
    return writePath(record, path, value);
  const list = readPath(record, path.slice(0, at));
  const item = readPath(record, path.slice(0, at + 1));
  if (Array.isArray(list) && item !== undefined) list.splice(list.indexOf(item), 1);
}

function spelled(path: readonly PathStep[]): string {
  return path.map((step) => ('name' in step ? step.name : `[${step.where}="${step.is}"]`)).join('.');
}

/** RFC 6901. */
function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** RFC 7644, section 3.10: an extension's attribute follows its URN and a colon. */
function scimPath([first = '', ...rest]: readonly string[]): string {
  return first.startsWith('urn:')
    ? [first, rest.join('.')].filter((part) => part !== '').join(':')
    : [first, ...rest].join('.');
}

/**
 * Makes or changes the parts of an employee that have records of their own, before the employee itself; returns their
 * ids. Parts made earlier for this reference are found again, so only the last write, the employee, must happen once.
 */
export async function takeSteps(
  { definition, line }: Defined,
  { fields, reference, raw }: { fields: EmployeeFields; reference?: string; raw?: unknown },
  { signal, beforeSend }: Pick<WriteOptions, 'signal' | 'beforeSend'>,
): Promise<Values> {
  const ids: Record<string, unknown> = {};
  for (const { name, fields: keys, from, find, create, update } of definition.steps) {
    const written = keys.filter((key) => fields[key] !== undefined && (raw !== undefined || fields[key] !== null));
    const isNeeded = written.length > 0 || (raw === undefined && keys.length === 0);
    const values = withFields(fields, { ...ids, reference });
    const held = raw === undefined ? undefined : await from?.(raw);
    let id = isNeeded ? partOf(held, definition.reading, `${name}.from`) : idOf(held);
    const change = async (part: string): Promise<unknown> =>
      update && line.send({ plan: update, values: { ...values, id: part }, signal, beforeSend, sent: fields });
    if (isNeeded && id !== undefined && update !== undefined) await change(id);
    else if (isNeeded && (keys.length === 0 || written.some((key) => fields[key] !== null))) {
      // Reuses parts made earlier and parts that others share; without a reference only the latter.
      const look = async (): Promise<string | undefined> => {
        if (find === undefined || (reference === undefined && from !== undefined)) return undefined;
        const part = await findPart(line, find, values, signal);
        // An earlier attempt may have made it with other values.
        if (part !== undefined) await change(part);
        return part;
      };
      id ??= await look();
      // A part that is found again can be repeated after a lost answer: only the employee must be created once.
      const made = { idempotent: find !== undefined, sent: fields, makes: true, signal, beforeSend };
      id ??= await line.send({ plan: create, values, ...made }).then(
        async (answer) => {
          const given = idOf(await create.id(answer));
          if (given !== undefined) return given;
          throw unreadable(create.what, 'without an id', `"${create.purpose}.id"`, answer.at.requestId);
        },
        (error: unknown) => unlessThere(error, look),
      );
    } else if (isNeeded) {
      ids[name] = null;
      continue;
    }
    ids[name] = id;
  }
  return ids;
}

/** A 404 alone proves nothing, as the path may be wrong: only a row of `errors` says that a part is not there. */
async function findPart(
  line: DefinedLine,
  plan: NonNullable<HttpDefinition['steps'][number]['find']>,
  values: Values,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await line.send({ plan, values, signal, isSearch: true }).catch(unlessAbsent);
  return answer === undefined ? undefined : partOf(await plan.id(answer.body), plan, `${plan.purpose}.id`);
}

/** The id of a part; a path through a list gives a list. Undefined if there is none: then the part is made. */
export function partOf(given: unknown, { what }: CallPlan, key: string): string | undefined {
  const [only, ...others] = new Set([given].flat());
  if (others.length > 0)
    throw rejected(
      'HRIS_UNREADABLE_ANSWER',
      `${what} was answered with several parts, and nobody knows which one is meant. Leave one of them there, or ` +
        `name one in "${key}" of the definition, such as the first: departments[0].id.`,
    );
  const id = idOf(only);
  if (id === undefined && typeof only === 'object' && only !== null)
    throw unreadable(what, 'with a part whose id is neither text nor a number', `"${key}"`);
  return id;
}

/**
 * Looks again where the answer is that it exists: an earlier request may have made it, or somebody else at the same
 * moment. What is not found then belongs to another record.
 */
export async function unlessThere<T>(error: unknown, look: () => Promise<T | undefined>): Promise<T> {
  if (!isConnectorError(error, 'ALREADY_EXISTS')) throw error;
  const found = await look();
  if (found !== undefined) return found;
  const message = `${error.message} It was looked for and is not ours: a value that must be unique is taken.`;
  throw error.but({ code: 'INVALID_VALUE', action: 'reject', message });
}

export function withFields(fields: EmployeeFields, values: Values): Values {
  const named = Object.entries(fields).map(([key, value]) => [`fields.${key}`, value]);
  return { ...Object.fromEntries(named), ...values };
}
