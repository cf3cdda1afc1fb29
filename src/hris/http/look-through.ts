import { ConnectorError, isConnectorError, rejected, unlessRefused } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../hire/hire.ts';
import type { EmployeeRecord } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { inRounds, isLate } from '../read-many.ts';
import { asIfRead } from '../records.ts';
import { type Expression, hasPlace, type Values } from './expression.ts';
import {
  type Answer,
  type Call,
  type Defined,
  nextTarget,
  pathFrom,
  tooSlow,
  unbelievable,
  unreadable,
} from './line.ts';
import type { CallPlan, HttpDefinition } from './load-definition.ts';
import { idOf, toEmployee, together } from './record.ts';

/** At most this many employees are read to prove that somebody does not exist. */
const MOST_SCANNED = 5_000;
/** At most this many hits of a search are read one by one: a filter that works gives few. */
const MOST_READ = 20;
/** So many of everybody tell whether the list leaves out what their records have. */
const SAMPLE = 3;

/** An id, and any other value, that no system has. */
export const NOBODY = 'hirebridge-nobody';

/** How the records of a list are compared. */
export interface Comparison {
  /** Fields that are read of each record. */
  compared: readonly string[];
  /** The values that are looked for; none for a search that proves nothing. */
  wanted: { reference?: string; number?: string; fields?: EmployeeFields };
  fits: (record: EmployeeRecord, raw?: unknown) => boolean;
}

type ListCall = Omit<Call, 'plan'> & { plan: CallPlan & { items: Expression } };

type Read = (id: string) => Promise<{ seen: unknown; record: EmployeeRecord } | undefined>;

export interface Hits {
  refs: EmployeeRef[];
  /** Nobody who may match was left out. */
  isWhole: boolean;
}

/**
 * Searches by a value. A hit may be a summary: its record is read if it may match by places that the hit does not show.
 * A place with null or an empty text is shown, and does not match. A record that shows some of the places lacks the
 * others because they are empty; one that shows none of them, or is not found, stays unclear.
 * @throws ConnectorError HRIS_UNREADABLE_ANSWER if a trusted search finds nobody but such hits, or ignores its filter
 */
export async function searchByValue(
  defined: Defined,
  call: ListCall,
  comparison: Comparison,
  { isTrusted, read }: { isTrusted: boolean; read: Read },
): Promise<Hits> {
  const { places, hits, others, isWhole } = await lookForOne(defined, call, comparison);
  const { fits, wanted } = comparison;
  const { plan } = call;
  const vague = others.filter(({ record, missing }) => fits(missing.reduce((one, { assume }) => assume(one), record)));
  let isUnclear = vague.length > MOST_READ;
  for (const { record } of isUnclear ? [] : vague) {
    const held = await read(record.ref.id);
    if (held !== undefined && fits(held.record, held.seen)) hits.set(held.record.ref.id, held.record.ref);
    else if (held === undefined || fits(asIfRead(held.record, wanted.fields))) isUnclear = true;
    else isUnclear ||= (await missingIn(held.seen, places)).length === places.length;
  }
  if (isUnclear && isTrusted && hits.size === 0) throw unshown(plan, places);
  const strangers = others.length - vague.length;
  if (isTrusted && isOfOne(wanted) && hits.size === 0 && plan.paging === undefined && strangers > 1) {
    const ofNobody = { ...call, values: { value: NOBODY } };
    const found = await lookForOne(defined, ofNobody, comparison).catch(unlessRefused);
    if (found !== undefined && found.others.length > 0) throw unbelievable(plan, strangers);
  }
  return { refs: [...hits.values()], isWhole: isWhole && !isUnclear };
}

/** Many may share a name or a birthday, but not an address, a number or our reference. */
function isOfOne({ reference, number, fields = {} }: Comparison['wanted']): boolean {
  const isByField = Object.keys(fields).length > 0 && fields['birthDate'] === undefined;
  return reference !== undefined || number !== undefined || isByField;
}

/**
 * Searches a list of everybody. Many people lack an e-mail address, and systems leave out what is empty: if the list
 * shows a place of anybody, the others have nothing there. If it shows a place of nobody, a few records tell whether
 * only the list leaves it out. Searches at the same time share a reading: otherwise many hires take each other's calls
 * until the time of each is over, and none ends.
 * @throws ConnectorError HRIS_UNREADABLE_ANSWER if it finds nobody in a list that does so; HRIS_LIST_SLOW
 */
export async function searchEverybody(
  defined: Defined,
  { plan, signal }: ListCall,
  comparison: Comparison,
  read: Read,
): Promise<Hits> {
  const reading = readings.get(defined) ?? readingOf(defined, plan);
  readings.set(defined, reading);
  const { places, hits, others, isWhole } = await reading.look(comparison, signal).catch((error: unknown) => {
    throw isLate(signal) && reading.seen > 0 ? tooSlow(plan, reading.seen) : error;
  });
  const unseen = places.filter((place) => others.every(({ missing }) => missing.includes(place)));
  const isProof = isWhole && hits.size === 0;
  if (isProof && others.some(({ record }) => comparison.fits(record))) throw unshown(plan, places);
  for (const { record } of isProof && unseen.length > 0 ? others.slice(-SAMPLE) : []) {
    const held = await read(record.ref.id);
    if (held !== undefined && (await missingIn(held.seen, unseen)).length < unseen.length) throw unshown(plan, unseen);
  }
  return { refs: [...hits.values()], isWhole };
}

/** The readings of everybody of a connection; `seen`: how many people the latest has seen so far. */
interface Reading {
  look: (comparison: Comparison, signal: AbortSignal) => Promise<Looked>;
  seen: number;
}

const readings = new WeakMap<Defined, Reading>();

function readingOf(defined: Defined, plan: ListCall['plan']): Reading {
  const reading: Reading = {
    seen: 0,
    look: inRounds((wanted: readonly Comparison[], signal) =>
      lookThrough(defined, { plan, signal }, wanted, (seen) => (reading.seen = seen)),
    ),
  };
  return reading;
}

/** A place of a value that is looked for. */
interface Place {
  /** As in the definition: `record.reference`. */
  name: string;
  /** Gives undefined if a record does not have the place, which may be empty there. */
  shownIn: Expression;
  /** The record as if it had that value there. */
  assume: (record: EmployeeRecord) => EmployeeRecord;
}

/** What a list has of one who is looked for. */
interface Looked {
  places: readonly Place[];
  hits: Map<string, EmployeeRef>;
  /** Those that do not match, with the places that they do not show, and as if what cannot be read would match. */
  others: { record: EmployeeRecord; missing: readonly Place[] }[];
  isWhole: boolean;
}

async function lookForOne(defined: Defined, call: ListCall, comparison: Comparison): Promise<Looked> {
  const [looked] = await lookThrough(defined, call, [comparison]);
  return looked as Looked;
}

/** Compares the records of a list; reads only the `compared` fields of each: a list may have thousands. */
async function lookThrough(
  defined: Defined,
  call: ListCall,
  comparisons: readonly Comparison[],
  tell?: (seen: number) => void,
): Promise<Looked[]> {
  const { record: at, fields, nothing } = defined.definition;
  const known = fields.filter(({ key }) => comparisons.some(({ compared }) => compared.includes(key)));
  const parts = { record: { ...at, former: undefined }, fields: known, nothing };
  const searches = comparisons.map(({ fits, wanted }) => {
    const places = placesOf(defined.definition, wanted);
    const looked: Looked = { places, hits: new Map(), others: [], isWhole: false };
    return { fits, wanted, looked };
  });
  let count = 0;
  let isWhole = false;
  tell?.(0);
  const read = (answer: Answer) => employeesIn(defined, answer, call.plan);
  try {
    for await (const { items, answer, end } of readPages(defined, { ...call, isSearch: true }, read)) {
      for (const item of items) {
        const made = toEmployee(parts, item);
        const record = made instanceof Promise ? await made : made;
        if (record === undefined)
          throw unreadable(call.plan.what, 'with a record that has no id', '"record.id"', answer.at.requestId);
        for (const { fits, wanted, looked } of searches) {
          const shown = missingIn(item, looked.places);
          const missing = shown instanceof Promise ? await shown : shown;
          if (fits(record, item)) looked.hits.set(record.ref.id, record.ref);
          else looked.others.push({ record: asIfRead(record, wanted.fields), missing });
        }
      }
      isWhole = end === 'whole';
      count += items.length;
      tell?.(count);
      if (count >= MOST_SCANNED) break;
    }
  } catch (error) {
    // A row of "errors" says so, of any call: nobody is found, and that proves nothing. Only "absent" of a search does.
    if (!isConnectorError(error, 'EMPLOYEE_NOT_FOUND')) throw error;
    isWhole = false;
  }
  return searches.map(({ looked }) => ({ ...looked, isWhole }));
}

function placesOf({ record, fields }: HttpDefinition, { reference, number, fields: values }: Comparison['wanted']) {
  const places: Place[] = [];
  const { reference: at, number: read } = record;
  if (reference !== undefined && at !== undefined)
    places.push({
      name: 'record.reference',
      shownIn: (raw) => hasPlace(raw, at) || undefined,
      assume: (one) => ({ ...one, reference }),
    });
  if (number !== undefined && read !== undefined)
    places.push({
      name: 'record.number',
      shownIn: read,
      assume: (one) => ({ ...one, ref: { ...one.ref, number } }),
    });
  for (const { key, path, read: readsAt } of fields) {
    const value = values?.[key];
    if (value !== undefined)
      places.push({
        name: `fields.${key}`,
        shownIn: (raw) => (readsAt === undefined ? hasPlace(raw, path) || undefined : readsAt(raw)),
        assume: (one) => ({ ...one, fields: { ...one.fields, [key]: value } }),
      });
  }
  return places;
}

function missingIn(raw: unknown, places: readonly Place[]): Place[] | Promise<Place[]> {
  const shown = places.map(({ shownIn }) => shownIn(raw));
  return together(shown, (values) => places.filter((_place, at) => values[at] === undefined));
}

function unshown({ what, purpose }: CallPlan, places: readonly Place[]): ConnectorError {
  const keys = [purpose, ...places.map(({ name }) => name)].map((key) => `"${key}"`).join(', ');
  return rejected(
    'HRIS_UNREADABLE_ANSWER',
    `${what} was answered with records that do not show what was searched for, or not in a form that can be read, ` +
      `so that nobody knows whether it is there. Check ${keys} of the definition.`,
  );
}

/** Records of employees, as the hook makes them. */
export async function employeesIn(
  { definition: { hooks } }: Defined,
  ...listed: Parameters<typeof recordsIn>
): Promise<unknown[]> {
  return (await recordsIn(...listed)).map((given) => hooks.record(given));
}

/** The records in an answer, as a list or a single record. An answer without a list does not count as an empty list. */
async function recordsIn(
  { status, body, at }: Answer,
  plan: CallPlan & { items: Expression; absent?: readonly number[] },
): Promise<unknown[]> {
  if (plan.absent?.includes(status) === true) return [];
  const value = await plan.items(body);
  if (Array.isArray(value)) return value;
  if (typeof value === 'object' && value !== null) return [value];
  throw unreadable(plan.what, 'without the list of records', `"${plan.purpose}.items"`, at.requestId);
}

/** The pages of a list that counts only as a whole. @throws ConnectorError HRIS_UNREADABLE_ANSWER after the last one */
export async function* wholeList(
  defined: Defined,
  { plan, priority = 'bulk', ...call }: ListCall,
  whose: string,
  read: (answer: Answer) => Promise<unknown[]> = (answer) => recordsIn(answer, plan),
): AsyncGenerator<Page> {
  let end: PageEnd | undefined;
  for await (const page of readPages(defined, { ...call, plan, priority }, read)) {
    end = page.end;
    yield page;
  }
  if (end === 'whole') return;
  if (end === 'moved')
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'retry',
      message:
        `The list of ${plan.what} changed while it was read, so it is read again. If that goes on, it has the same ` +
        `record twice, or its total counts something else: remove "${plan.purpose}.paging.total" from the definition.`,
    });
  const [how, next] = PARTIAL[end ?? 'long'];
  throw rejected(
    'HRIS_UNREADABLE_ANSWER',
    `${plan.what} ${how}, so ${whose}. Check "${plan.purpose}.paging" of the definition: ${next}.`,
  );
}

/** Why a list is not whole, and what to set. */
const PARTIAL = {
  repeated: ['gave the same page again', 'the request must name the page as the HR system expects it'],
  short: [
    'ended before its total',
    '"first" may be wrong; if the total counts records that the list leaves out, remove "total"',
  ],
  first: ['names a further page, or a higher total', 'it must say how further pages are asked for'],
  skipped: ['shows others on the page before the first one', 'set "first" to 0'],
  unproven: [
    'names no next page, and none when it is asked for pages of one record',
    'look for the place of the next page in an answer; name "total" or "size", or use {page.size} in the request',
  ],
  counted: [
    'has a total that counts only its page',
    'name the place of the number of all records as "total", or remove "total"',
  ],
  long: ['has more pages than are read', 'set a larger "size" if the HR system accepts one'],
} as const;

/** The call of a list; `id` is where an item has its id, if it is not an employee, and `stamp` the time of a change. */
type PagedCall = Call & { plan: CallPlan & Partial<Record<'id' | 'stamp', Expression | undefined>> };

interface Page {
  items: unknown[];
  answer: Answer;
  /** Why no page follows; undefined if one does, or if there are more than are read. */
  end: PageEnd | undefined;
}

/** `whole`: nothing was left out. `moved`: records were deleted or sorted anew meanwhile. */
type PageEnd = 'whole' | 'moved' | keyof Omit<typeof PARTIAL, 'long'>;

const MOST_PAGES = 200;

/** Yields each page's answer up to the last. */
async function* readPages(
  { definition, line }: Defined,
  call: PagedCall,
  read: (answer: Answer) => Promise<unknown[]>,
): AsyncGenerator<Page> {
  const { paging } = call.plan;
  let plan: CallPlan = call.plan;
  let place: Values = { 'page.offset': paging?.first, 'page.number': paging?.first, 'page.size': paging?.size };
  const count = { seen: 0, longest: 0, total: 0 };
  const { id = definition.record.id, stamp } = call.plan;
  const idsBefore = new Set<string>();
  let isMoved = false;
  let before = '';
  const idsIn = async (list: unknown[]): Promise<string[]> =>
    (await Promise.all(list.map(id))).flatMap((one) => idOf(one) ?? []);
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    // A page that the one before it names is there: a status that means "nobody" must not end the list.
    const named = number > 1 && /^(cursor|link)$/.test(paging?.by ?? '') ? { accepts: [] } : {};
    const ask = (size?: Values): Promise<Answer> =>
      line.send({ ...call, ...named, plan, values: { ...call.values, ...place, ...size } });
    const answer = await ask().catch((error: unknown) => {
      // The cursor of a further page may end before it is used: the list is read anew.
      const isExpired = number > 1 && isConnectorError(error) && error.status === 410;
      throw isExpired ? error.but({ code: 'HRIS_BUSY', action: 'retry' }) : error;
    });
    const items = await read(answer);
    let next: NextPage | PageEnd =
      paging === undefined ? endOf(answer, items) : await nextPlace(answer, plan, { paging, items, count, number });
    if ((next === 'unproven' || next === 'counted') && paging !== undefined) {
      // Asked for pages of one record, a system shows where it names the next one, and what its total counts.
      const short = await ask({ 'page.size': 1 }).catch(unlessRefused);
      const isProof =
        next === 'unproven'
          ? short !== undefined && typeof (await toldNext(short, plan, paging)) === 'object'
          : short === undefined || ((await toldTotal(short, paging)) ?? items.length) >= items.length;
      if (isProof) next = 'whole';
    }
    // Nothing else tells that the HR system counts from 0, so that a page was never asked for.
    const mayBeSkipped =
      next === 'whole' && paging?.first === 1 && /^(page|offset)$/.test(paging.by) && !paging.totalIn;
    if (number === 1 && typeof next === 'string' && !mayBeSkipped) {
      yield { items, answer, end: next };
      return;
    }
    // A record on a second page was pushed over the border by one that is on no page now, or those after it moved up.
    const ids = await idsIn(items);
    isMoved ||= stamp === undefined && ids.some((one) => idsBefore.has(one));
    for (const one of ids) idsBefore.add(one);
    if (mayBeSkipped) {
      const zeroth = ask({ 'page.offset': 0, 'page.number': 0 }).then(read);
      const earlier = await zeroth.then(idsIn, () => []);
      if (earlier.some((one) => !idsBefore.has(one))) next = 'skipped';
    }
    if (isMoved && next === 'whole') next = 'moved';
    const shown = JSON.stringify(await markOf(items, id, stamp));
    const isRepeated = items.length > 0 && shown === before;
    before = shown;
    const end = isRepeated ? 'repeated' : typeof next === 'string' ? next : undefined;
    yield { items, answer, end };
    if (typeof next === 'string' || isRepeated) return;
    place = { ...place, ...next.values };
    const { path } = next;
    if (path !== undefined) plan = { ...plan, path: () => path, query: {} };
  }
}

/**
 * A server that does not know this paging repeats its first page, which its first id tells, or all of it. A log of
 * changes may name one employee first on two pages, so there all ids and stamps tell it.
 */
async function markOf(items: readonly unknown[], id: Expression, stamp: Expression | undefined): Promise<unknown> {
  if (stamp === undefined) return (await id(items[0])) ?? items;
  return Promise.all(items.map(async (item) => [await id(item), await stamp(item)]));
}

interface NextPage {
  values: Values;
  path?: string;
}

type Paging = NonNullable<CallPlan['paging']>;

interface PageRead {
  paging: Paging;
  items: readonly unknown[];
  /** Of all pages so far: records, those of the longest page, and the highest total. */
  count: { seen: number; longest: number; total: number };
  number: number;
}

async function nextPlace(
  answer: Answer,
  plan: CallPlan,
  { paging, items, count, number }: PageRead,
): Promise<NextPage | PageEnd> {
  const total = await toldTotal(answer, paging);
  const isShorter = items.length < count.longest;
  count.seen += items.length;
  count.longest = Math.max(count.longest, items.length);
  count.total = Math.max(count.total, total ?? 0);
  if (paging.by === 'link' || paging.by === 'cursor') {
    const next = await toldNext(answer, plan, paging);
    if (typeof next === 'object') return next;
    const isShort = items.length < (paging.fixed ?? 2);
    // A list of one page has no Link header (RFC 8288), unless the answer names its next page elsewhere.
    const isStandard = paging.by === 'link' && (paging.next ?? paging.header) === undefined;
    const isOnlyPage = isStandard && endOf(answer, items) === 'whole';
    if (next === undefined && total === undefined && number === 1 && !isShort && !isOnlyPage) return 'unproven';
  } else {
    // A server may return fewer records than requested, so only an empty page is the end, or one that the total fits. A
    // list that goes on past its total ends with a page that is shorter than another.
    const isPast = total !== undefined && total < count.seen && isShorter;
    if (items.length > 0 && total !== count.seen && !isPast)
      return { values: { 'page.offset': paging.first + count.seen, 'page.number': paging.first + number } };
  }
  if (number === 1 && total === count.seen && total >= Math.max(2, paging.size)) return 'counted';
  if (count.total <= count.seen) return 'whole';
  // Pages were counted from a wrong first one, or the total counts others; unless it fell meanwhile.
  return total !== undefined && total < count.total ? 'moved' : 'short';
}

async function toldTotal(answer: Answer, paging: Paging): Promise<number | undefined> {
  const told = String(await paging.totalIn?.(answer));
  return /^\d+$/.test(told) ? Number(told) : undefined;
}

/** `nextCursor`, `@odata.nextLink`, `has_more`: how HR systems say that there is another page, in lower case. */
const NEXT = /^(next(page|cursor|link|url|href|token|recordsurl|pagetoken)?|(has)?more(records)?|hasnext(page)?)$/;
const TOTAL = /^(x?total(count|results|items|elements|records)?|count)$/;

/** Whether an answer that is read as the whole list is only its first page: it names another, or a higher total. */
function endOf({ headers, body }: Answer, items: readonly unknown[]): PageEnd {
  const around = membersAround({ body }, items);
  const longest = Math.max(items.length, ...around.map(([, value]) => (Array.isArray(value) ? value.length : 0)));
  const isFirst = [...around, ...Object.entries(headers)].some(([key, value]) => {
    const letters = key.toLowerCase().replaceAll(/odata|[^a-z]/g, '');
    return TOTAL.test(letters) ? Number(value) > longest : NEXT.test(letters) && value;
  });
  return isFirst || nextTarget(headers['link'] ?? '') !== undefined ? 'first' : 'whole';
}

/** What stands around the records of an answer, at most as deep as in GraphQL: `data.staff.pageInfo.hasNextPage`. */
function membersAround(part: unknown, items: readonly unknown[], depth = 5): [string, unknown][] {
  const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
  if (!isObject || items.includes(part) || depth === 0) return [];
  return Object.entries(part).flatMap((one) => [one, ...membersAround(one[1], items, depth - 1)]);
}

/** The next page that an answer names, by a cursor or an address; or that it names the end; undefined if neither. */
async function toldNext(answer: Answer, plan: CallPlan, paging: Paging): Promise<NextPage | 'end' | undefined> {
  const given = await paging.nextIn?.(answer);
  const wrong = (how: string, key: string): ConnectorError =>
    unreadable(plan.what, how, `"${plan.purpose}.${key}"`, answer.at.requestId);
  if (given === undefined) return undefined;
  if (given === null || given === '' || given === false) return 'end';
  if (paging.by === 'link') {
    const first = cellText([given].flat()[0]).trim();
    const target = first.startsWith('<') ? nextTarget(given) : first;
    if (target === undefined || target === '') return undefined;
    const { asked, base } = answer;
    const path = pathFrom(`${base}${asked}`, target);
    if (path === undefined) throw wrong('with a link to the next page that is no address', 'paging');
    // The line adds the path of `hris.url`.
    return { values: {}, path: path.startsWith(`${base}/`) ? path.slice(base.length) : path };
  }
  if (typeof given === 'string' || typeof given === 'number') return { values: { 'page.cursor': given } };
  // Taken for the end, the rest of the list would pass for people who are not there.
  throw wrong('with a next cursor that is neither text nor a number', 'paging.next');
}
