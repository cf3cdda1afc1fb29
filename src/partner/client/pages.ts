import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { HttpAnswer } from '../../http/http-error.ts';
import { type ListShape, valueAt } from '../contract/endpoint.ts';
import { type CallEndpoint, invalidInput } from './call.ts';
import {
  afterBlanks,
  beforeBlanks,
  CLOSE_BRACKET,
  COMMA,
  endOfText,
  endOfValue,
  OPEN_BRACKET,
  parseJson,
  walkObject,
} from './json-text.ts';
import { type AskedCall, idOf, rawItems, readAnswer, readItems, underOurNames } from './read-answer.ts';
import type {
  CallOptions,
  ListEndpoint,
  LooseInput,
  Page,
  PageOptions,
  RawPage,
  RawPageOptions,
  ReadItems,
} from './types.ts';

type Paging = NonNullable<ListShape['paging']>;

/** A page whose records are not read yet, and were not on a page before. */
interface UnreadPage {
  page: number;
  total?: number;
  fresh: unknown[];
}

/** Reads a list page by page; see `walkPages`. */
export async function* readPages(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  options: PageOptions,
): AsyncGenerator<Page<unknown>, void, undefined> {
  for await (const { fresh, ...page } of walkPages(call, endpoint, input, options))
    yield { ...page, ...readItems(endpoint.list, fresh) };
}

/**
 * Walks through a list page by page, in its own way of paging. A list without pages is one page, unless its answer
 * counts more records. The answers decide the end: the total, the flag, a short page, and in any case an empty page,
 * which counts more than a total.
 *
 * A list may move while it is read. If it grows, records come again and are returned once. If its total falls or is
 * missing, records may have slipped to an earlier page: those pages are read again at the end. A server that ignores
 * the page number is refused instead of read for ever.
 */
async function* walkPages(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  options: PageOptions,
): AsyncGenerator<UnreadPage, void, undefined> {
  const { paging } = endpoint.list;
  if (paging === undefined) {
    const body = await call(endpoint, input, options);
    const fresh = rawItems(endpoint.list, body);
    const paged = inPagesAfterAll(endpoint, body, fresh.length);
    if (paged === undefined) yield { page: 0, fresh };
    else yield* walkPages(call, paged, input, options);
    return;
  }
  const size = pageSize(endpoint, paging, options.size ?? askedFor(input, paging.sizeParam));
  const asked: AskedList = { call, endpoint, paging, input, options, size };
  const fetch = (page: number): Promise<unknown> => call(endpoint, pageInput(asked, page), options);
  const next = (page: number): Promise<unknown> => pageOrEnd(asked, page, fetch, (body) => body);
  const first = options.from ?? askedFor(input, paging.pageParam) ?? paging.firstPage;
  const reading: Reading = { endpoint, paging, ids: new Set(), seen: (first - paging.firstPage) * size, rereads: 0 };
  let last: string | undefined;
  for (let page = first; ; page += 1) {
    const body = await next(page);
    const raw = body === undefined ? [] : rawItems(endpoint.list, body);
    if (raw.length === 0 && body !== undefined) await assertFirstPage(asked, page, body);
    if (raw.length === 0 && (body === undefined || page > paging.firstPage)) {
      noteEnd(reading, page, body);
      break;
    }
    last = assertNewPage(endpoint, raw, page, last);
    yield takePage(reading, page, body);
    if (raw.length === 0) break;
    if (!isLast(paging, body, reading.seen, raw.length < size)) continue;
    // Only a total says how many records the pages before hold.
    if (!hasTotal(paging)) await assertFirstPage(asked, page + 1, body);
    break;
  }
  // The list may move again while its pages are read again.
  while (reading.slippedTo !== undefined && reading.rereads < MOST_REREADS) {
    const end: number = reading.slippedTo;
    delete reading.slippedTo;
    reading.rereads += 1;
    for (let page = first; page < end; page += 1) {
      const body = await next(page);
      if (body === undefined) break;
      const again = takePage(reading, page, body);
      if (again.fresh.length > 0) yield again;
    }
  }
}

/**
 * A page; undefined if the partner answers 404 for a page after the last one (G11). It must still answer the page
 * before: the 404 may be about what the list belongs to.
 */
async function pageOrEnd<Answer>(
  asked: AskedList,
  page: number,
  fetch: (page: number) => Promise<Answer>,
  bodyOf: (answer: Answer) => unknown,
): Promise<Answer | undefined> {
  try {
    return await fetch(page);
  } catch (error) {
    if (page <= asked.paging.firstPage || !isConnectorError(error, 'NOT_FOUND') || error.status !== 404) throw error;
    await assertFirstPage(asked, page, bodyOf(await fetch(page - 1)));
    return undefined;
  }
}

/** How often the pages that records may have slipped to are read again. */
const MOST_REREADS = 5;

interface Reading {
  endpoint: ListEndpoint;
  paging: Paging;
  /** Ids that were returned already. */
  ids: Set<string>;
  /** Records read, each counted once. */
  seen: number;
  total?: number | undefined;
  /** The total fell at this page: a record of it may have moved to one before. */
  slippedTo?: number;
  rereads: number;
}

/** The records of a page that were not returned before. */
function takePage(reading: Reading, page: number, body: unknown): UnreadPage {
  const { list } = reading.endpoint;
  const fresh = rawItems(list, body).filter((item) => {
    const { id } = idOf(list, item);
    if (id === undefined) return true;
    const isNew = !reading.ids.has(id);
    reading.ids.add(id);
    return isNew;
  });
  reading.seen += fresh.length;
  const total = totalOf(reading.paging, body);
  // Without a total nobody can tell whether it fell; the pages are then read again once.
  const mayHaveFallen =
    total === undefined
      ? hasTotal(reading.paging) && reading.rereads === 0
      : reading.total !== undefined && total < reading.total;
  if (mayHaveFallen) reading.slippedTo = Math.max(reading.slippedTo ?? 0, page);
  reading.total = total;
  return { page, ...(total === undefined ? {} : { total }), fresh };
}

/**
 * The list ends with an empty page, or a 404 in its place. If its total fell, or still counts more than was read,
 * records that would be here may have moved to the page before.
 */
function noteEnd(reading: Reading, page: number, body: unknown): void {
  const total = body === undefined ? undefined : totalOf(reading.paging, body);
  const { total: before, seen } = reading;
  if (before === undefined) return;
  if (total === undefined ? before > seen : total < before) reading.slippedTo = page;
  reading.total = total ?? before;
}

/** Where a list without pages may say that it has some after all. */
const PLACES = ['pagination', 'data.pagination', 'data'] as const;

/**
 * The endpoint with pages, if its list has none in the specification and this answer counts more records than it shows:
 * the pagination of some lists is not shown (G12). The names are those of the answer's family, unless the tenant's
 * `queryNames` has others.
 */
function inPagesAfterAll(endpoint: ListEndpoint, body: unknown, shown: number): ListEndpoint | undefined {
  const place = PLACES.find((path) => {
    const said = (valueAt(body, path) ?? {}) as Record<string, unknown>;
    return Number(said['total']) > shown || Number(said['totalPages']) > 1 || said['hasNextPage'] === true;
  });
  if (endpoint.method !== 'GET' || place === undefined) return undefined;
  const paging: Paging = {
    pageParam: 'page',
    firstPage: 1,
    sizeParam: valueAt(body, `${place}.limit`) === undefined ? 'perPage' : 'limit',
    sizes: { max: 100 },
    end: { totalAt: `${place}.total` },
  };
  // The first call checked the input, and the contract knows no pages here.
  return { ...endpoint, query: z.looseObject({}), list: { ...endpoint.list, paging } };
}

/** Every record of a list, all pages. For lists known to be small; a large one is read by pages. */
export async function readAll(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  options: PageOptions,
): Promise<ReadItems<unknown>> {
  const all: ReadItems<unknown> = { items: [], unreadable: [] };
  let total = 0;
  for await (const page of readPages(call, endpoint, input, options)) {
    total = page.total ?? total;
    const before = all.items.length + all.unreadable.length;
    all.items.push(...page.items);
    all.unreadable.push(...page.unreadable.map((item) => ({ ...item, index: item.index + before })));
  }
  const { paging } = endpoint.list;
  const isWhole = (options.from ?? (paging && askedFor(input, paging.pageParam))) === undefined;
  const unshown = total - all.items.length - all.unreadable.length;
  return isWhole && unshown > 0 ? { ...all, unshown } : all;
}

function pageInput({ paging, input, size }: AskedList, page: number): LooseInput {
  const query = { [paging.pageParam]: page, [paging.sizeParam]: size };
  return { ...input, query: { ...(input.query as object | undefined), ...query } };
}

/** The size or page that the caller named in the query, which goes before ours. */
function askedFor({ query }: LooseInput, name: string): number | undefined {
  const value = (query as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'number' ? value : undefined;
}

function pageSize(endpoint: ListEndpoint, paging: Paging, wanted: number | undefined): number {
  const { sizes } = paging;
  if ('max' in sizes) {
    if (wanted === undefined || (Number.isInteger(wanted) && wanted >= 1 && wanted <= sizes.max))
      return wanted ?? sizes.max;
    throw invalidInput(endpoint, `query.${paging.sizeParam}: from 1 to ${sizes.max}`);
  }
  const size = wanted ?? Math.max(...sizes);
  if (sizes.includes(size)) return size;
  throw invalidInput(endpoint, `query.${paging.sizeParam}: one of ${sizes.join(', ')}`);
}

function hasTotal(paging: Paging): paging is Paging & { end: { totalAt: string } } {
  return typeof paging.end === 'object' && 'totalAt' in paging.end;
}

function totalOf(paging: Paging, body: unknown): number | undefined {
  if (!hasTotal(paging)) return undefined;
  const total = valueAt(body, paging.end.totalAt);
  return typeof total === 'number' ? total : undefined;
}

/**
 * Counts the records seen, each once, not page times size: with a server that shortens pages (G9) or a list that moves,
 * the reading would end too soon. If the total or the flag is missing, only an empty page ends the list.
 */
function isLast(paging: Paging, body: unknown, seen: number, short: boolean): boolean {
  if (paging.end === 'short-page') return short;
  if ('hasNextAt' in paging.end) return valueAt(body, paging.end.hasNextAt) === false;
  const total = totalOf(paging, body);
  return total !== undefined && seen >= total;
}

/** The ids of a page as one text, its records where they show none; refused if the page before had the same. */
function assertNewPage(
  endpoint: ListEndpoint,
  raw: readonly unknown[],
  page: number,
  last: string | undefined,
): string | undefined {
  if (raw.length === 0) return undefined;
  const text = raw.map((item) => idOf(endpoint.list, item).id ?? JSON.stringify(item)).join(' ');
  if (text !== last) return text;
  throw rejected(
    'PAGE_REPEATED',
    `${endpoint.id} gave the same records for page ${page} as for the page before: it ignores ` +
      `"${endpoint.list.paging?.pageParam}". Check the tenant's overrides of section ${endpoint.section}.`,
    { details: { operation: endpoint.id, page } },
  );
}

interface AskedList {
  call: CallEndpoint;
  endpoint: ListEndpoint;
  paging: Paging;
  input: LooseInput;
  options: CallOptions;
  size: number;
}

/** Lists of each client whose pages are known to be counted as in the contract. */
const countedAsSaid = new WeakMap<CallEndpoint, Set<string>>();

/** How often to compare a list that moves meanwhile. */
const LOOKS = 3;

/**
 * Most lists do not show how their pages are counted. A partner may call the first page 0: our first page is then its
 * second, and nobody on the first is ever read. Such a list ends with an empty page, or by its flag, while its total,
 * if it shows one, counts more records than the pages before can hold. Then the page that would be hidden is requested
 * and compared, by its first record, with our first page. Only a list that returns the same first record for both, or
 * refuses the hidden page, is not checked again: an empty page proves nothing.
 */
async function assertFirstPage(asked: AskedList, page: number, body: unknown): Promise<void> {
  const { call, endpoint, paging, options, size } = asked;
  const total = totalOf(paging, body);
  const fits = total !== undefined && total <= (page - paging.firstPage) * size;
  if (fits || countedAsSaid.get(call)?.has(endpoint.id) === true) return;
  const isFromZero = paging.firstPage === 0;
  // Starting with page 0 also reads every page of a partner that counts from 1, unless page 0 is empty there.
  if (isFromZero && page > 0) return;
  const pageShift = isFromZero ? 1 : -1;
  const firstOf = async (shift: number): Promise<string | undefined> =>
    firstRecord(endpoint, await call(endpoint, { ...pageInput(asked, paging.firstPage), pageShift: shift }, options));
  const remember = (): unknown => countedAsSaid.set(call, (countedAsSaid.get(call) ?? new Set()).add(endpoint.id));
  let hidden = await firstOf(pageShift).catch(ifNoPage);
  for (let look = 0; look < LOOKS; look += 1) {
    if (hidden === NO_PAGE) return void remember();
    if (hidden === undefined) return;
    const first = await firstOf(0);
    if (first === hidden) return void remember();
    if (isFromZero && first !== undefined) return;
    // Unless the list moved in between.
    const again = await firstOf(pageShift).catch(ifNoPage);
    if (again === hidden) throw countedOtherwise(endpoint, paging);
    hidden = again;
  }
}

const NO_PAGE = Symbol('no page');

/** A partner that refuses the page has no page of that number; a failure proves nothing. */
function ifNoPage(error: unknown): typeof NO_PAGE | undefined {
  if (!isConnectorError(error)) throw error;
  if (error.action === 'reject' && error.status === 400) return NO_PAGE;
  if (error.action === 'reject' || error.status === 500) return undefined;
  throw error;
}

/** Identifies a page's first record; without an id, by the whole record. */
function firstRecord({ list }: ListEndpoint, body: unknown): string | undefined {
  const [first] = rawItems(list, body);
  return first === undefined ? undefined : (idOf(list, first).id ?? JSON.stringify(first));
}

function countedOtherwise({ id }: ListEndpoint, { firstPage }: Paging): ConnectorError {
  const from = 1 - firstPage;
  return rejected(
    'PAGES_COUNTED_OTHERWISE',
    `This partner seems to count the pages of this list from ${from}. People on its first page would be missed. ` +
      `Set partner.overrides.firstPages: { ${id}: ${from} } in the tenant file.`,
    { details: { operation: id } },
  );
}

/**
 * One page of a list with unparsed records, for callers that know most of them already; undefined after the last page.
 * A list without pages has only a first one.
 */
export async function readRawPage(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  { page, size, ...options }: RawPageOptions,
): Promise<RawPage | undefined> {
  const { paging } = endpoint.list;
  const asked = paging && { call, endpoint, paging, input, options, size: pageSize(endpoint, paging, size) };
  const fetch = async (at: number): Promise<RawList> => {
    const own = asked === undefined ? input : pageInput(asked, at);
    return (await call(endpoint, own, options, readList)) as RawList;
  };
  const answer = asked === undefined ? await fetch(page) : await pageOrEnd(asked, page, fetch, (list) => list.body);
  if (answer === undefined) return undefined;
  const { body, raw, names } = answer;
  const paged = asked === undefined ? inPagesAfterAll(endpoint, body, raw.length) : undefined;
  if (paged !== undefined) return readAsOnePage(call, paged, input, { page, ...options });
  if (raw.length === 0 && asked !== undefined) await assertFirstPage(asked, page, body);
  if (raw.length === 0 && page > (paging?.firstPage ?? 0)) return undefined;
  const total = paging === undefined ? undefined : totalOf(paging, body);
  return { page, ...(total === undefined ? {} : { total }), raw, ...(names === undefined ? {} : { names }) };
}

/** A list that is in pages after all, as the one page that it should be. */
async function readAsOnePage(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  { page, ...options }: { page: number } & CallOptions,
): Promise<RawPage> {
  const records: unknown[] = [];
  for await (const { fresh } of walkPages(call, endpoint, input, options)) records.push(...fresh);
  return { page, raw: asTexts(records) };
}

function asTexts(records: readonly unknown[]): Buffer[] {
  return records.map((record) => Buffer.from(JSON.stringify(record)));
}

interface RawList {
  /** The answer without its records. */
  body: unknown;
  raw: Buffer[];
  names: RawPage['names'];
}

function readList(call: AskedCall, answer: HttpAnswer): RawList {
  const { list } = call.endpoint as ListEndpoint;
  const names = call.overrides.fieldNames[call.endpoint.id];
  const cut = cutList(answer.body, list.itemsAt);
  if (cut !== undefined) return { body: readAnswer(call, { ...answer, body: cut.short }), raw: cut.records, names };
  const body = readAnswer(call, answer);
  return { body, raw: asTexts(rawItems(list, body)), names };
}

const [OPEN, SEPARATOR, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/**
 * Reads the records of a raw page one by one.
 * @throws ConnectorError UNEXPECTED_ANSWER if a record is not JSON, because then the whole answer is not
 */
export function readRawRecords(endpoint: ListEndpoint, { page, raw, names }: RawPage): ReadItems<unknown> {
  // All as one text: the shape of one record tells the parser the likely shape of the next.
  const records = parseJson(
    Buffer.concat([OPEN, ...raw.flatMap((text, n) => (n === 0 ? [text] : [SEPARATOR, text])), CLOSE]),
  );
  if (Array.isArray(records) && records.length === raw.length)
    return readItems(endpoint.list, underOurNames(records, names));
  throw new ConnectorError({
    code: 'UNEXPECTED_ANSWER',
    action: 'retry',
    message: `${endpoint.id} answered page ${page} with a record that is not JSON. It is asked for again.`,
  });
}

interface CutList {
  /** The text of each record. */
  records: Buffer[];
  /** The whole text with only the first two records, which show the form of a list. */
  short: Buffer;
}

const SHOWN = 2;

/**
 * Cuts the records out of a list's text without parsing them. Undefined if there is no list at this dotted path, or the
 * scanned text is not JSON; a record may still turn out not to be JSON.
 */
export function cutList(text: Buffer, itemsAt: string): CutList | undefined {
  const found = cutObject(text, afterBlanks(text, 0), itemsAt.split('.'));
  if (found === undefined || afterBlanks(text, found.end) < text.length) return undefined;
  const { records, ends, to } = found;
  const shownTo = ends[Math.min(SHOWN, ends.length) - 1] ?? to;
  return { records, short: Buffer.concat([text.subarray(0, shownTo), text.subarray(to)]) };
}

interface Found {
  records: Buffer[];
  /** Where each record ends, and the list: at its bracket. */
  ends: number[];
  to: number;
  /** After the scanned value. */
  end: number;
}

/** Searches an object for the list at this path. A duplicate name is left to the full parser. */
function cutObject(text: Buffer, start: number, [name, ...path]: readonly string[]): Found | undefined {
  const found: (Found | undefined)[] = [];
  const end = walkObject(text, start, (nameAt, value) => {
    if (parseJson(text.subarray(nameAt, endOfText(text, nameAt) + 1)) !== name) return undefined;
    const list = path.length === 0 ? cutItems(text, value) : cutObject(text, value, path);
    found.push(list);
    return list?.end;
  });
  const [list] = found;
  return end === undefined || list === undefined || found.length > 1 ? undefined : { ...list, end };
}

function cutItems(text: Buffer, start: number): Found | undefined {
  if (text[start] !== OPEN_BRACKET) return undefined;
  const [records, ends]: [Buffer[], number[]] = [[], []];
  let at = afterBlanks(text, start + 1);
  if (text[at] === CLOSE_BRACKET) return { records, ends, to: at, end: at + 1 };
  for (;;) {
    const end = endOfValue(text, at);
    records.push(text.subarray(at, beforeBlanks(text, end)));
    ends.push(end);
    if (text[end] === CLOSE_BRACKET) return { records, ends, to: end, end: end + 1 };
    if (text[end] !== COMMA) return undefined;
    at = afterBlanks(text, end + 1);
  }
}
