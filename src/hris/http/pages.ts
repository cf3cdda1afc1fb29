import { ConnectorError, isConnectorError } from '../../errors.ts';
import { cellText } from '../read-cell.ts';
import type { Expression } from './expression.ts';
import type { Answer, Call, Defined } from './line.ts';
import type { CallPlan } from './load-definition.ts';
import type { Values } from './template.ts';
import { unlessRefused, unreadable } from './unreadable.ts';

/** The call of a list; `id` is where an item has its id, if it is not an employee, and `stamp` the time of a change. */
export type ListCall = Call & { plan: CallPlan & Partial<Record<'id' | 'stamp', Expression | undefined>> };

export interface Page {
  items: unknown[];
  answer: Answer;
  /** Why no page follows; undefined if one does, or if there are more than are read. */
  end: PageEnd | undefined;
}

/**
 * `whole`: nothing was left out. `moved`: records were deleted meanwhile, so others may have been left out. `unproven`:
 * no page of the list names a next one, perhaps because the definition looks in the wrong place. `counted`: a total
 * counts only its page. `first`: the list has pages, and the definition does not say so.
 */
export type PageEnd = 'whole' | 'repeated' | 'short' | 'moved' | 'unproven' | 'counted' | 'first';

const MOST_PAGES = 200;

/** Yields each page's answer up to the last. */
export async function* readPages(
  { definition, line }: Defined,
  call: ListCall,
  read: (answer: Answer) => Promise<unknown[]>,
): AsyncGenerator<Page> {
  const { paging } = call.plan;
  let plan: CallPlan = call.plan;
  let place: Values = { 'page.offset': paging?.first, 'page.number': paging?.first, 'page.size': paging?.size };
  const count = { seen: 0, longest: 0, total: 0 };
  let before = '';
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const ask = (size?: Values): Promise<Answer> =>
      line.send({ ...call, plan, values: { ...call.values, ...place, ...size } });
    const answer = await ask().catch((error: unknown) => {
      throw number > 1 && isConnectorError(error) && error.status === 410 ? expired(error) : error;
    });
    const items = await read(answer);
    let next: NextPage | PageEnd =
      paging === undefined ? endOf(answer) : await nextPlace(answer, plan, { paging, items, count, number });
    if ((next === 'unproven' || next === 'counted') && paging !== undefined) {
      // Asked for pages of one record, a system shows where it names the next one, and what its total counts.
      const short = await ask({ 'page.size': 1 }).catch(unlessRefused);
      const isProof =
        next === 'unproven'
          ? short !== undefined && typeof (await toldNext(short, plan, paging)) === 'object'
          : short === undefined || ((await toldTotal(short, paging)) ?? items.length) >= items.length;
      if (isProof) next = 'whole';
    }
    const shown = JSON.stringify(await markOf(items, call.plan.id ?? definition.record.id, call.plan.stamp));
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

/** The cursor of a further page may end before it is used: the list is read anew. */
function expired(cause: ConnectorError): ConnectorError {
  const { message, status, requestId } = cause;
  return new ConnectorError({ code: 'HRIS_BUSY', action: 'retry', message, status, requestId, cause });
}

interface NextPage {
  values: Values;
  path?: string;
}

type Paging = NonNullable<CallPlan['paging']>;

interface Read {
  paging: Paging;
  items: readonly unknown[];
  /** Of all pages so far: records, those of the longest page, and the highest total. */
  count: { seen: number; longest: number; total: number };
  number: number;
}

async function nextPlace(
  answer: Answer,
  plan: CallPlan,
  { paging, items, count, number }: Read,
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
    const isOnlyPage = isStandard && endOf(answer) === 'whole';
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

/** Whether an answer that is read as the whole list is only its first page. */
function endOf({ headers, body }: Answer): PageEnd {
  const parts = Array.isArray(body) ? [] : [body, ...Object.values(body ?? {}).filter((part) => !Array.isArray(part))];
  const named = parts.flatMap((part) => Object.entries(typeof part === 'object' && part !== null ? part : {}));
  const isNamed = named.some(([key, value]) => NEXT.test(key.toLowerCase().replaceAll(/odata|[^a-z]/g, '')) && value);
  return isNamed || nextTarget(headers['link'] ?? '') !== undefined ? 'first' : 'whole';
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

/** One link of RFC 8288, section 3: `<target>; name=value; name="value, with anything; inside"`. */
const LINK = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([^\s=;]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?/g;

/** The targets of all links with the relation `next`, in a header that may stand in an answer more than once. */
function nextTarget(header: unknown): string | undefined {
  const text = [header].flat().join(', ');
  for (const [, target = '', parameters = ''] of text.matchAll(LINK)) {
    // Only the first "rel" counts.
    const rel = parameters.matchAll(PARAMETER).find(([, name = '']) => name.toLowerCase() === 'rel');
    const words = (rel?.[2] ?? rel?.[3] ?? '').toLowerCase().split(/\s+/);
    if (words.includes('next')) return target;
  }
  return undefined;
}

/**
 * The path and query that a link leads to from the path that was asked: RFC 8288, section 3.1. Leaves out the host, so
 * that no answer leads to another one. Undefined if it is no address.
 */
function pathFrom(asked: string, target: string): string | undefined {
  const base = `http://same.invalid${asked}`;
  if (!URL.canParse(target, base)) return undefined;
  const { pathname, search } = new URL(target, base);
  return `${pathname}${search}`;
}
