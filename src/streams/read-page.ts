import { ConnectorError, isConnectorError } from '../errors.ts';
import type { EmployeeFields } from '../hire/employee.ts';
import type { LandingRow } from '../hris/port.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import { readRawRecords } from '../partner/client/pages.ts';
import type { ListEndpoint, Page, RawPage } from '../partner/client/types.ts';
import type { PullStream } from './stream.ts';

export interface RecordPage extends Page<Record<string, unknown>> {
  /** Records that were not read, because their rows are as they should be. */
  unchanged?: readonly RowFacts[];
  /** What stands in the rows of records that were read by their ids, where only the list tells some of it. */
  rowsBefore?: ReadonlyMap<string, EmployeeFields>;
}

/** Records a page: the most that section 8 allows. */
export const PAGE_SIZE = 100;
const MOST_TRIES = 5;

export function firstPageOf({ list }: PullStream): number {
  return list.list.paging?.firstPage ?? 0;
}

/** One page of the partner's list, every record read; undefined behind the last. */
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
 * One page, its records as they came; undefined behind the last. A page refused with 429 is asked for again: the rate
 * limit says when. A wait too long for that is thrown, and the activity goes back.
 */
export async function readRawPage(
  partner: PartnerClient,
  stream: PullStream,
  page: number,
  segment: number,
): Promise<RawPage | undefined> {
  const { list, parent, segments = [{}] } = stream;
  if (parent !== undefined && segment >= segments.length) return undefined;
  // A list without pages is one.
  if (list.list.paging === undefined && page > firstPageOf(stream)) return undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const part = segments[segment] ?? {};
      const input = parent === undefined ? { query: part } : { params: part };
      return await partner.rawPage(list, input, { page, size: PAGE_SIZE, priority: 'bulk' });
    } catch (error) {
      // The record whose list it is was deleted meanwhile.
      if (parent !== undefined && isConnectorError(error, 'NOT_FOUND')) return undefined;
      // Giving the activity back would throw away the pages fetched ahead, and they would be paid for twice.
      if (!isConnectorError(error) || error.status !== 429 || attempt === MOST_TRIES) throw error;
    }
  }
}

/** The parts of a list that comes once for each record of another, and whether any of those cannot be named. */
export interface Parts {
  segments: Record<string, unknown>[];
  isUnsure: boolean;
}

/** Reads of which records the list comes; those that are known to have none cost no call. */
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

/** Records by their ids, at most 100 of them. What the partner does not show is left out. */
export async function readByIds(
  partner: PartnerClient,
  stream: PullStream & { fetch: ListEndpoint },
  ids: readonly string[],
): Promise<RecordPage> {
  try {
    return await fetchTogether(partner, stream, ids);
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject' || (error.status ?? 0) < 400) throw error;
    // One that may not be read says nothing about the others.
    if (ids.length === 1) return { items: [], unreadable: [], page: 0 };
    const half = Math.ceil(ids.length / 2);
    const left = await readByIds(partner, stream, ids.slice(0, half));
    const right = await readByIds(partner, stream, ids.slice(half));
    return { page: 0, items: [...left.items, ...right.items], unreadable: [...left.unreadable, ...right.unreadable] };
  }
}

async function fetchTogether(
  partner: PartnerClient,
  stream: PullStream & { fetch: ListEndpoint },
  ids: readonly string[],
): Promise<RecordPage> {
  const { fetch } = stream;
  const body = { [fetch.chunk?.key ?? 'ids']: [...ids] };
  // The types of the contract are forgotten here as in every list that is data.
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

/** Ids of the records that can be read. */
export function readableIds({ items, unchanged = [] }: RecordPage): string[] {
  return [...items.map((item) => String(item['id'])), ...unchanged.map(({ id }) => id)];
}

/** Records on the page, readable or not. */
export function countRecords(page: RecordPage | undefined): number {
  return page === undefined ? 0 : page.items.length + page.unreadable.length + (page.unchanged?.length ?? 0);
}

function asRecords({ toRecords }: PullStream, page: RecordPage, query: Readonly<Record<string, unknown>>): RecordPage {
  return toRecords === undefined ? page : { ...page, items: page.items.flatMap((item) => toRecords(item, query)) };
}

/** A partner that ignores the page number would be read for ever. */
export function assertMoved(
  { list }: { list: Pick<PullStream['list'], 'id' | 'section'> },
  page: number,
  ids: string,
  before: string | undefined,
): void {
  if (ids === '' || ids !== before) return;
  throw new ConnectorError({
    code: 'PAGE_REPEATED',
    action: 'reject',
    message:
      `${list.id} gave the same records for page ${page} as for the page before. ` +
      `Check the tenant's partner.overrides against section ${list.section}.`,
  });
}

/** How many pages are under way at once, and how many that have come by then are handed out as one. */
interface Fetching {
  ahead: number;
  together: number;
}

/**
 * Pages in their order, `ahead` of them asked for before they are needed; those that are there when they are due come
 * together. While they are settled the next are fetched, and never are more than `ahead` + 1 asked for and not settled:
 * what is lost with a process is asked for again. `isWanted` is asked anew before each fetch; when it says no and
 * nothing is under way, the pages are over. A page that fails ends it; what came before was handed out.
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
      // Its failure is thrown when its page is due, and dropped when an earlier page failed.
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

/** What a run has to know of a row that it need not write. */
export interface RowFacts {
  id: string;
  /** The row's hash, or the beginning of it. */
  hash: string;
  /** Names of the fields that hold something. */
  filled: readonly string[];
}

export function factsOf({ id, hash, fields }: LandingRow): RowFacts {
  return { id, hash, filled: filledIn(fields) };
}

export function filledIn(fields: EmployeeFields): string[] {
  return Object.keys(fields).filter((name) => !isEmpty(fields[name]));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
