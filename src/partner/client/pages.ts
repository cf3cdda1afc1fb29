import { ConnectorError } from '../../errors.ts';
import type { ListShape } from '../contract/endpoint.ts';
import { valueAt } from '../contract/envelopes.ts';
import { invalidInput } from './build-request.ts';
import type { CallEndpoint } from './call.ts';
import { idOf, rawItems, readItems } from './read-items.ts';
import type { ListEndpoint, LooseInput, Page, PageOptions, ReadItems } from './types.ts';

type Paging = NonNullable<ListShape['paging']>;

/**
 * Reads a list page by page, in its own way of paging. A list without pages is one page. Ends by what the answers say:
 * the total, the flag, a short page, and in any case an empty page, which is believed more than a total.
 *
 * A list may move while it is read. Where it grows, records come again and are given once. Where its total falls,
 * or is not told, records may have slipped to a page that was read before: those pages are read again at the end. A
 * server that ignores the page number is refused instead of read for ever.
 */
export async function* readPages(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  options: PageOptions,
): AsyncGenerator<Page<unknown>, void, undefined> {
  const { paging } = endpoint.list;
  if (paging === undefined) {
    yield { page: 0, ...readItems(endpoint.list, rawItems(endpoint.list, await call(endpoint, input, options))) };
    return;
  }
  const size = pageSize(endpoint, paging, options.size);
  const fetch = (page: number): Promise<unknown> =>
    call(endpoint, { ...input, query: pageQuery(paging, input, page, size) }, options);
  const first = options.from ?? paging.firstPage;
  const reading: Reading = { endpoint, paging, ids: new Set(), seen: (first - paging.firstPage) * size };
  let last: string | undefined;
  for (let page = first; ; page += 1) {
    const body = await fetch(page);
    const raw = rawItems(endpoint.list, body);
    if (raw.length === 0 && page > paging.firstPage) break;
    last = assertNewPage(endpoint, raw, page, last);
    yield takePage(reading, page, body);
    if (raw.length === 0 || isLast(paging, body, reading.seen, raw.length < size)) break;
  }
  for (let page = first; page < (reading.slippedTo ?? first); page += 1) {
    const again = takePage(reading, page, await fetch(page));
    if (again.items.length + again.unreadable.length > 0) yield again;
  }
}

interface Reading {
  endpoint: ListEndpoint;
  paging: Paging;
  /** Ids that were given already. */
  ids: Set<string>;
  /** Records read, each counted once. */
  seen: number;
  total?: number | undefined;
  /** The total fell at this page: a record of it may have moved to one before. */
  slippedTo?: number;
}

/** The records of a page that were not given before. */
function takePage(reading: Reading, page: number, body: unknown): Page<unknown> {
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
  if (total !== undefined && reading.total !== undefined && total < reading.total) reading.slippedTo = page;
  // Nothing tells whether it fell.
  if (total === undefined && hasTotal(reading.paging)) reading.slippedTo = Math.max(reading.slippedTo ?? 0, page);
  reading.total = total;
  return { page, ...(total === undefined ? {} : { total }), ...readItems(list, fresh) };
}

/** Every record of a list, all pages. For lists known to be small; a large one is read by pages. */
export async function readAll(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  options: PageOptions,
): Promise<ReadItems<unknown>> {
  const all: ReadItems<unknown> = { items: [], unreadable: [] };
  for await (const page of readPages(call, endpoint, input, options)) {
    const before = all.items.length + all.unreadable.length;
    all.items.push(...page.items);
    all.unreadable.push(...page.unreadable.map((item) => ({ ...item, index: item.index + before })));
  }
  return all;
}

/** The query that asks for one page. */
export function pageQuery(paging: Paging, { query }: LooseInput, page: number, size: number): object {
  return { ...(query as object | undefined), [paging.pageParam]: page, [paging.sizeParam]: size };
}

export function pageSize(endpoint: ListEndpoint, paging: Paging, wanted: number | undefined): number {
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

export function totalOf(paging: Paging, body: unknown): number | undefined {
  if (!hasTotal(paging)) return undefined;
  const total = valueAt(body, paging.end.totalAt);
  return typeof total === 'number' ? total : undefined;
}

/**
 * By the records seen, each once, not by page times size: with a server that shortens pages (G9) or a list that moves,
 * the reading would end too soon. Where the total or the flag is missing, only an empty page ends the list.
 */
function isLast(paging: Paging, body: unknown, seen: number, short: boolean): boolean {
  if (paging.end === 'short-page') return short;
  if ('hasNextAt' in paging.end) return valueAt(body, paging.end.hasNextAt) === false;
  const total = totalOf(paging, body);
  return total !== undefined && seen >= total;
}

/** The ids of a page as one text; refused when they are those of the page before. */
function assertNewPage(
  endpoint: ListEndpoint,
  raw: readonly unknown[],
  page: number,
  last: string | undefined,
): string | undefined {
  const ids = raw.map((item) => idOf(endpoint.list, item).id);
  if (ids.length === 0 || ids.includes(undefined)) return undefined;
  const text = ids.join(' ');
  if (text !== last) return text;
  throw new ConnectorError({
    code: 'PAGE_REPEATED',
    action: 'reject',
    message:
      `${endpoint.id} gave the same records for page ${page} as for the page before: it does not read ` +
      `"${endpoint.list.paging?.pageParam}". Check the tenant's overrides of section ${endpoint.section}.`,
    details: { operation: endpoint.id, page },
  });
}
