import { type ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { EmployeeRecord, WriteOptions } from '../port.ts';
import { cellText, readDayAlone } from '../read-cell.ts';
import { isSame } from '../records.ts';
import { readPath, type Values } from './expression.ts';
import { type Defined, unreadable } from './line.ts';
import type { FieldPlan, HttpDefinition, WritePlan } from './load-definition.ts';
import { wholeList } from './look-through.ts';
import { type Placed, partOf, recordOf, saidBy, toEmployee } from './record.ts';

/** A kind of record below an employee. */
type BelowPlan = HttpDefinition['below'][number];

/** Records below an employee by their name in the definition, in the system's form. */
export type Below = Readonly<Record<string, readonly unknown[]>>;

export async function readBelow(defined: Defined, id: string, signal: AbortSignal): Promise<Below> {
  const below: Record<string, unknown[]> = {};
  for (const { name, find } of defined.definition.below) {
    const listed: unknown[] = [];
    const call = { plan: find, values: { id }, signal, priority: 'live', accepts: find.absent } as const;
    for await (const { items } of wholeList(defined, call, 'the one that counts may be missing')) listed.push(...items);
    below[name] = listed;
  }
  return below;
}

/**
 * A record as its expressions read it: the record below that counts today stands under its name, or that of the first
 * day of somebody who begins later. If there are several, or none, its values are not known.
 */
export function withBelow({ definition, today }: Defined, raw: unknown, below: Below): unknown {
  const shown = definition.below.map((plan) => {
    const [one, ...others] = counting(plan, below[plan.name] ?? [], { day: today(), today: today() });
    return [plan.name, others.length === 0 ? one : undefined];
  });
  return shown.length === 0 ? raw : { ...(raw as object), ...Object.fromEntries(shown) };
}

interface When {
  day: string;
  today: string;
}

/** Those that count on a day: the latest of dated ones, the first of those to come, or else all. */
function counting(plan: BelowPlan, held: readonly unknown[], { day, today }: When): readonly unknown[] {
  if (plan.dated === undefined) return held;
  const [first = '', ...days] = daysIn(plan, held);
  const latest = first > today ? first : days.findLast((one) => one <= day);
  return held.filter((one) => dayIn(plan, one) === (latest ?? first));
}

function daysIn(plan: BelowPlan, held: readonly unknown[]): string[] {
  return held.map((one) => dayIn(plan, one) ?? '').toSorted();
}

/** The day from which it counts; undefined if the definition names none. */
function dayIn({ name, dated, find }: BelowPlan, record: unknown): string | undefined {
  if (dated === undefined) return undefined;
  const read = readDayAlone(cellText(readPath(record, dated)).trim());
  if ('value' in read) return cellText(read.value);
  // Compared as text, the wrong one would be the latest.
  throw unreadable(find.what, 'with a record whose day is not written as YYYY-MM-DD', `"below.${name}.dated"`);
}

/** The record below that counts on a day, and its id; undefined if there is none. @throws if there are several */
async function countingOn(
  plan: BelowPlan,
  below: Below,
  when: When,
): Promise<{ id: string; record: unknown } | undefined> {
  const { name, find } = plan;
  const found = counting(plan, below[name] ?? [], when);
  const id = partOf(await Promise.all(found.map((one) => find.id(one))), find, `${find.purpose}.items`);
  if (found.length > 0 && id === undefined)
    throw unreadable(find.what, 'with a record that has no id', `"${find.purpose}.id"`);
  return id === undefined ? undefined : { id, record: found[0] };
}

/** A write of an employee, as it was read before. */
interface Written {
  plan: WritePlan;
  fields: EmployeeFields;
  /** With {id} and {from}, the day from which the write counts; an end has {lastDay}. */
  values: Values;
  held: { seen: unknown; record: EmployeeRecord; below: Below };
}

/** Those of the fields that stand in a record below the employee, or in the employee's own. */
export function fieldsIn(known: readonly FieldPlan[], fields: EmployeeFields, kind: string | undefined) {
  const keys = known.flatMap(({ key, below }) => (below === kind ? [key] : []));
  return Object.fromEntries(Object.entries(fields).filter(([key]) => keys.includes(key)));
}

/** @throws ConnectorError HRIS_UNREADABLE_ANSWER if nobody knows which record below has one of these fields */
export async function assertOneBelow(
  { definition, today }: Defined,
  fields: EmployeeFields,
  held: Below,
): Promise<void> {
  for (const below of definition.below)
    if (below.fields.some(({ key }) => key in fields)) await countingOn(below, held, { day: today(), today: today() });
}

/**
 * Changes the record below the employee that counts, or makes one. What is there already is not written again, so that
 * a repeat after a lost answer changes nothing: a record that it made is found by its values and its day. Returns the
 * ids for the employee's own request: {below.NAME}; undefined if an end has happened already, and left none.
 */
export async function writeBelow(defined: Defined, written: Written, write: WriteOptions): Promise<Values | undefined> {
  const { plan, held, fields, values } = written;
  const ids: Record<string, unknown> = {};
  /** None is written before each of them is known to be allowed. */
  const writes: One[] = [];
  const [from, isEnd] = [cellText(values['from']), 'lastDay' in values];
  const today = isEnd ? from : defined.today();
  for (const below of defined.definition.below) {
    const own = fieldsIn(defined.definition.fields, fields, below.name);
    const set = saidBy(plan.set, values, below.name);
    const isNamed = plan.names.includes(below.name);
    if (!isNamed && set.length + Object.keys(own).length === 0) continue;
    const now = await countingOn(below, held.below, { day: from, today });
    ids[`below.${below.name}`] = now?.id;
    const isMissing = now === undefined && (isNamed || isEnd || below.dated === undefined);
    if (isMissing && isEnd && held.record.former === true) return undefined;
    if (isMissing && (isNamed || !mayBegin(defined, written))) throw refused(below);
    if (await holds(defined, held, below, now?.record, { own, set })) continue;
    const days = daysIn(below, held.below[below.name] ?? []);
    if (isEnd && days.some((day) => day > from)) throw refused(below, 'with a record that begins after the end');
    // Who begins later has one record of the first day, which a new start moves.
    const [first = ''] = days;
    const isFirst = first > today;
    // After a rehire that is to come, a new start may mean that one, or one of its own.
    if ('startDate' in own && !isFirst && days.some((one) => one > today && one !== from))
      throw refused(below, 'with a record that is still to begin');
    const isChange = now !== undefined && (isFirst || [undefined, from].includes(dayIn(below, now.record)));
    const day = isFirst && !('startDate' in fields) ? first : from;
    const by = isChange ? below.update : below.create;
    // Of two records of one day nobody knows which one counts.
    const unchanged = `with a record that "below.${below.name}.update" does not say how to change`;
    if (by === undefined) throw refused(below, isChange ? unchanged : undefined);
    writes.push({ below, plan: by, own, set, now, isChange, values: { ...values, ...ids, from: day } });
  }
  for (const one of writes) await writeOne(defined, one, write);
  return ids;
}

interface One {
  below: BelowPlan;
  plan: WritePlan;
  own: EmployeeFields;
  set: readonly Placed[];
  now: { id: string; record: unknown } | undefined;
  /** The record is changed, instead of another one made. */
  isChange: boolean;
  values: Values;
}

async function writeOne(
  { definition, line, readLagMs }: Defined,
  { below, plan, own, set, now, isChange, values }: One,
  write: WriteOptions,
): Promise<void> {
  const dated = below.dated === undefined ? [] : [{ path: below.dated, value: values['from'] }];
  const more = [...set, ...dated].map(({ path, value }) => ({ below: undefined, path: [...path], value: () => value }));
  const of = { ...definition, fields: below.fields, steps: [] };
  const record = recordOf(of, { ...plan, set: [...plan.set, ...more] }, { fields: own, values, raw: now?.record });
  const call = { plan, values: { ...values, record }, sent: own, idempotent: isChange, ...write };
  await line.send(call).catch((error: unknown) => {
    if (!isConnectorError(error)) throw error;
    // Before that, a list may not show the record that was made, and another one would be.
    if (error.action === 'unknown') throw error.but({ retryAfterMs: readLagMs });
    if (!isChange || error.code !== 'EMPLOYEE_NOT_FOUND') throw error;
    const message =
      `${plan.what} was answered ${error.status}: the record is gone since it was listed. It is read again; if that ` +
      `goes on, check "${plan.purpose}" of the definition.`;
    throw error.but({ code: 'STALE', action: 'retry', message });
  });
}

/** Whether a record below has these values already. Where there is none, it has only empty ones. */
async function holds(
  { definition }: Defined,
  { seen }: Written['held'],
  { name }: BelowPlan,
  record: unknown,
  { own, set }: Pick<One, 'own' | 'set'>,
): Promise<boolean> {
  const shown = await toEmployee(definition, { ...(seen as object), [name]: record });
  return (
    set.every(({ path, value }) => cellText(readPath(record, path)) === cellText(value)) &&
    Object.entries(own).every(([key, value]) => !shown?.unreadable?.[key] && isSame(shown?.fields[key], value))
  );
}

/** An update must not employ somebody who has left, and an end nobody at all. */
function mayBegin({ definition }: Defined, { plan, values, held }: Written): boolean {
  if (plan === definition.creating || plan === definition.rehiring) return true;
  return !('lastDay' in values) && held.record.former !== true;
}

function refused({ name, find }: BelowPlan, how = 'without a record that counts'): ConnectorError {
  return rejected(
    'HRIS_UNREADABLE_ANSWER',
    `${find.what} was answered ${how}, so nothing was written. Correct the employee in the HR system, or ` +
      `"${find.purpose}.items" of the definition; "below.${name}.create" says how to make one for somebody who is ` +
      'employed.',
  );
}
