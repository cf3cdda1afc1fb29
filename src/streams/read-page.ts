import { isConnectorError, rejected, unlessRefused } from '../errors.ts';
import type { EmployeeFields } from '../hire/hire.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import { readRawRecords } from '../partner/client/pages.ts';
import { isNotShown, isRefusedByPartner } from '../partner/client/read-answer.ts';
import type { ListEndpoint, Page, RawPage } from '../partner/client/types.ts';
import { batchesOf } from '../store/open-store.ts';
import type { PullStream } from './stream.ts';

export interface RecordPage extends Page<Record<string, unknown>> {
  /** Records that were not read, because their rows are up to date. */
  unchanged?: readonly RowFacts[];
  /** Current rows of records that were read by id, if only the list shows some of their fields. */
  rowsBefore?: ReadonlyMap<string, EmployeeFields>;
}

/** Records per page, the most that section 8 allows. */
export const PAGE_SIZE = 100;
const MOST_TRIES = 5;

export function firstPageOf({ list }: PullStream): number {
  return list.list.paging?.firstPage ?? 0;
}

/** One page of the partner's list with every record read; undefined behind the last page. */
export async function readPage(
  partner: PartnerClient,
  stream: PullStream,
  page: number,
  segment = 0,
): Promise<RecordPage | undefined> {
  const raw = await readRawPage(partner, stream, page, segment);
  return raw === undefined ? undefined : readRecords(stream, raw, segment);
}

/**
 * One page with its raw records; undefined behind the last page. A page refused with 429 is requested again when the
 * rate limit allows; if that takes too long, the error is thrown and the activity is retried later.
 */
export async function readRawPage(
  partner: PartnerClient,
  stream: PullStream,
  page: number,
  segment: number,
): Promise<RawPage | undefined> {
  const { list, parent, segments = [{}] } = stream;
  if (parent !== undefined && segment >= segments.length) return undefined;
  // A list without paging has a single page.
  if (list.list.paging === undefined && page > firstPageOf(stream)) return undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const part = segments[segment] ?? {};
      const input = parent === undefined ? { query: part } : { params: part };
      return await partner.rawPage(list, input, { page, size: PAGE_SIZE, priority: 'bulk' });
    } catch (error) {
      // The record that this part of the list belongs to was deleted meanwhile.
      if (parent !== undefined && isConnectorError(error, 'NOT_FOUND')) return undefined;
      // Ending the activity would discard the pages fetched ahead, and they would have to be paid for again.
      if (!isConnectorError(error) || error.status !== 429 || attempt === MOST_TRIES) throw error;
    }
  }
}

/**
 * The parts of a list that exists once per record of another list, and whether some of those records cannot be named.
 */
export interface Parts {
  segments: Record<string, unknown>[];
  isUnsure: boolean;
}

/** Reads the records that have such a list; those known to have an empty one cost no call. */
export async function readParts(
  partner: PartnerClient,
  { list, param, isEmpty }: NonNullable<PullStream['parent']>,
): Promise<Parts> {
  const { items, unreadable } = await partner.readAll(list, {}, { priority: 'bulk', size: PAGE_SIZE });
  const records = items as Record<string, unknown>[];
  const shown = records.filter((record) => isEmpty?.(record) !== true).map((record) => record[list.list.idKey]);
  const named = unreadable.flatMap(({ id }) => id ?? []);
  return {
    segments: [...shown, ...named].map((id) => ({ [param]: id })),
    isUnsure: named.length < unreadable.length,
  };
}

/** Reads at most 100 records by id. Leaves out records that the partner does not show. */
export async function readByIds(
  partner: PartnerClient,
  stream: PullStream & { fetch: ListEndpoint },
  ids: readonly string[],
): Promise<RecordPage> {
  try {
    return await fetchTogether(partner, stream, ids);
  } catch (error) {
    if (!isConnectorError(error) || !isRefusedByPartner(error)) throw error;
    // A record that may not be read says nothing about the others: it is not shown, or its id is none that the partner
    // takes.
    if (ids.length === 1) {
      if (!isNotShown(error.code) && error.status !== 400 && error.status !== 422) throw error;
      return { items: [], unreadable: [], page: 0 };
    }
    const half = Math.ceil(ids.length / 2);
    const left = await readByIds(partner, stream, ids.slice(0, half));
    const right = await readByIds(partner, stream, ids.slice(half));
    return { page: 0, items: [...left.items, ...right.items], unreadable: [...left.unreadable, ...right.unreadable] };
  }
}

/** Those of these records that the partner does not show by id either; all of them if it has no such call. */
export async function unshownById(
  partner: PartnerClient,
  stream: PullStream,
  ids: readonly string[],
): Promise<string[]> {
  const { fetch } = stream;
  if (fetch === undefined) return [...ids];
  const unshown: string[] = [];
  for (const some of batchesOf(ids, BY_ID)) {
    const page = await readByIds(partner, { ...stream, fetch }, some).catch(unlessRefused);
    // A record without a readable id may be any of them.
    if (page === undefined || page.unreadable.some(({ id }) => id === undefined)) continue;
    const shown = new Set([...readableIds(page), ...page.unreadable.map(({ id }) => id)]);
    unshown.push(...some.filter((id) => !shown.has(id)));
  }
  return unshown;
}

/** More records than this are not asked for by id; a list that misses so many is broken. */
const MOST_ASKED = 1_000;
const BY_ID = 100;

/** Whether the partner shows none of these records by id. A record that it refuses to show may exist. */
export async function areDenied(partner: PartnerClient, stream: PullStream, ids: readonly string[]): Promise<boolean> {
  const { fetch } = stream;
  if (ids.length === 0) return true;
  if (fetch === undefined || ids.length > MOST_ASKED) return false;
  try {
    for (let from = 0; from < ids.length; from += BY_ID)
      if (countRecords(await fetchTogether(partner, { ...stream, fetch }, ids.slice(from, from + BY_ID))) > 0)
        return false;
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') return false;
    throw error;
  }
  return true;
}

async function fetchTogether(
  partner: PartnerClient,
  stream: PullStream & { fetch: ListEndpoint },
  ids: readonly string[],
): Promise<RecordPage> {
  const { fetch } = stream;
  const body = { [fetch.chunk?.key ?? 'ids']: [...ids] };
  // The contract's types are lost here, as in every list that is handled as data.
  const found = await partner.readAll(fetch, { body } as object, { priority: 'bulk' });
  const { items, unreadable } = found as Omit<RecordPage, 'page'>;
  return asRecords(stream, { items, unreadable, page: 0 }, {});
}

/** Reads the records of a page by the contract. */
export function readRecords(stream: PullStream, page: RawPage, segment = 0): RecordPage {
  const query = stream.segments?.[segment] ?? {};
  const { raw: _texts, ...rest } = page;
  return asRecords(stream, { ...rest, ...readRawRecords(stream.list, page) } as RecordPage, query);
}

/** Ids of the readable records. */
export function readableIds({ items, unchanged = [] }: RecordPage): string[] {
  return [...items.map((item) => String(item['id'])), ...unchanged.map(({ id }) => id)];
}

/** Number of records on the page, readable or not. */
export function countRecords(page: RecordPage | undefined): number {
  return page === undefined ? 0 : page.items.length + page.unreadable.length + (page.unchanged?.length ?? 0);
}

function asRecords({ toRecords }: PullStream, page: RecordPage, query: Readonly<Record<string, unknown>>): RecordPage {
  return toRecords === undefined ? page : { ...page, items: page.items.flatMap((item) => toRecords(item, query)) };
}

/** Stops at a partner that ignores the page number, which would otherwise be read forever. */
export function assertMoved(
  { list }: { list: Pick<PullStream['list'], 'id' | 'section'> },
  page: number,
  ids: string,
  before: string | undefined,
): void {
  if (ids === '' || ids !== before) return;
  throw rejected(
    'PAGE_REPEATED',
    `${list.id} gave the same records for page ${page} as for the page before. ` +
      `Check the tenant's partner.overrides against section ${list.section}.`,
  );
}

/** How many pages to fetch ahead, and how many fetched pages to hand out together. */
interface Fetching {
  ahead: number;
  together: number;
}

/**
 * Yields pages in order, requesting up to `ahead` pages before they are needed; pages that have arrived are yielded
 * together. The next pages are fetched while these are settled, but never more than `ahead` + 1 are requested and
 * unsettled, because a crash loses those and they are requested again. `isWanted` is asked before each fetch; once it
 * says no and nothing is under way, the generator ends. A failed page ends it too, after the pages before it were
 * yielded.
 */
export async function* fetchAhead<Page>(
  first: number,
  { ahead, together }: Fetching,
  isWanted: (page: number) => boolean,
  fetch: (page: number) => Promise<Page>,
): AsyncGenerator<Page[], void, undefined> {
  const asked: { page: Promise<Page>; hasCome: boolean }[] = [];
  let next = first;
  const fill = (settling: number): void => {
    while (asked.length < ahead && asked.length + settling <= ahead && isWanted(next)) {
      const one = { page: fetch(next), hasCome: false };
      // A failure is thrown when its page is due, and dropped if an earlier page failed.
      one.page.then(
        () => (one.hasCome = true),
        () => undefined,
      );
      asked.push(one);
      next += 1;
    }
  };
  for (;;) {
    fill(0);
    if (asked.length === 0) return;
    await asked[0]?.page;
    const waiting = asked.findIndex(({ hasCome }) => !hasCome);
    const due = asked.splice(0, Math.min(waiting === -1 ? asked.length : waiting, together));
    fill(due.length);
    yield await Promise.all(due.map(({ page }) => page));
  }
}

/** Facts that a run needs about a row that it need not write. */
export interface RowFacts {
  id: string;
  /** The row's hash, or the start of it. */
  hash: string;
  /** Names of the fields with a value. */
  filled: readonly string[];
}

export function filledIn(fields: EmployeeFields): string[] {
  return Object.keys(fields).filter((name) => !isEmpty(fields[name]));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
