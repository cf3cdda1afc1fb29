import type { Quarantined } from '../store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../store/schema.ts';
import type { CommittedPage, PageCounts } from '../store/streams.ts';
import { type LandedPage, leftOutOf } from './land-page.ts';
import { countRecords, PAGE_SIZE, type RecordPage, readableIds } from './read-page.ts';
import type { StreamCounts, StreamStep } from './stream-activities.ts';

/** The changes of one page in its run. */
interface PageOutcome {
  /** Records on the page, readable or not. */
  records: number;
  /** Total number of records, if the partner states it. */
  total: number | undefined;
  /** Whether this is the last page of the whole list. */
  isLast: boolean;
  /** Set if the next page begins this part of the list. */
  segment?: { number: number; seenBefore: number };
  counts: PageCounts;
  quarantined: Quarantined[];
  state: StreamRow['state'];
}

/** `segments`: number of parts that the list has. */
export function outcomeOf(run: StreamRow, page: RecordPage | undefined, landed: LandedPage, segments = 1): PageOutcome {
  const records = countRecords(page);
  const total = page?.total ?? run.total ?? undefined;
  const isOver = records === 0 || (total !== undefined && run.seen - run.seen_before + records >= total);
  const isLast = isOver && run.segment + 1 >= segments;
  const next = { number: run.segment + 1, seenBefore: run.seen + records };
  const quarantined = [...landed.quarantined, ...passedBy(run, page)];
  const { unchanged, created, updated } = landed;
  const counts = { unchanged, created, updated, quarantined: quarantined.length };
  const ended = run.quarantined + quarantined.length > 0 ? 'partial' : 'done';
  const outcome = { records, total, isLast, counts, quarantined, state: isLast ? ended : 'running' } as const;
  return isOver && !isLast ? { ...outcome, segment: next } : outcome;
}

/** The run after that page, as the store holds it once the page is committed. */
export function advance(
  run: StreamRow,
  { next, records, total, counts, state, segment, tally }: CommittedPage,
): StreamRow {
  return {
    ...run,
    page: next,
    seen: run.seen + records,
    total: total === undefined ? run.total : total,
    ...(segment === undefined ? {} : { segment: segment.number, seen_before: segment.seenBefore }),
    ...(tally === undefined ? {} : { tally }),
    skipped: run.skipped + (counts.skipped ?? 0),
    unchanged: run.unchanged + counts.unchanged,
    created: run.created + counts.created,
    updated: run.updated + counts.updated,
    quarantined: run.quarantined + counts.quarantined,
    state,
  };
}

/** The last page known to hold records; at least the next page, which ends the run if it is empty. */
export function lastPageOf({ page, seen, seen_before: before, total }: StreamRow): number {
  return total === null ? page : Math.max(page, page - 1 + Math.ceil((total - seen + before) / PAGE_SIZE));
}

/**
 * How far the total fell from the page before to this one. Either records were deleted in between, or this page was
 * answered before that one while the list grew: both ways, that many records may be on neither page. An addition and a
 * deletion at the same moment cannot be noticed.
 */
export function fallAt(run: Pick<StreamRow, 'total'>, page: Pick<RecordPage, 'total'> | undefined): number {
  return Math.max(0, (run.total ?? 0) - (page?.total ?? run.total ?? 0));
}

/** How far the total rose from the page before to this one: so many records may stand on both pages. */
export function riseAt(run: Pick<StreamRow, 'total'>, page: Pick<RecordPage, 'total'> | undefined): number {
  return Math.max(0, (page?.total ?? 0) - (run.total ?? page?.total ?? 0));
}

/** How many records the total of this part of the list still counts where the list ends with an empty page. */
export function unshownAt(
  run: Pick<StreamRow, 'total' | 'seen' | 'seen_before'>,
  page: { total?: number; raw: readonly unknown[] } | undefined,
): number {
  if (page !== undefined && page.raw.length > 0) return 0;
  return Math.max(0, (page?.total ?? run.total ?? 0) - (run.seen - run.seen_before));
}

/** A list that ended before its total. */
export function endedShort(page: number, unshown: number): Quarantined {
  const reason =
    `the list ended with an empty page, ${unshown} records before its total. Records that are on no page are not ` +
    'taken for deleted unless the partner denies them by id too. The next pass reads the list again; if it ends in ' +
    'the same place and no landed record is missing from it, the total is taken to count more than the list shows';
  return { key: `page ${page}, the end of the list`, reason };
}

/** A list in no lasting order: while one record stands on two pages, another one stands on none. */
export function repeatedOn(page: number, repeated: number): Quarantined {
  const [records, others] = repeated === 1 ? ['1 record stands', '1'] : [`${repeated} records stand`, `${repeated}`];
  const reason =
    `${records} on two pages of the list, although the list did not grow so much: its order changed while it was ` +
    `read, or is none, so ${others} may stand on no page. A webhook or a later pass brings them; ask the hiring ` +
    'platform for an order by id if this stays';
  return { key: `page ${page}, the order of the list`, reason };
}

/** Rereading did not help, because the list kept moving. Nobody can tell which records were skipped. */
function passedBy(run: StreamRow, page: RecordPage | undefined): Quarantined[] {
  const fall = fallAt(run, page);
  if (fall === 0) return [];
  const reason =
    `the list kept changing while it was read: its total fell by ${fall} from the page before to this one, so ` +
    'that many records may be on neither page; the next run reads them';
  return [{ key: `page ${run.page}, the list`, reason }];
}

/** Changes to the quarantine. Returns only differences, because most pages change nothing there. */
export function quarantineChanges(
  known: readonly QuarantineRow[],
  page: number,
  { isLast, quarantined }: Pick<PageOutcome, 'isLast' | 'quarantined'>,
  landed: readonly string[],
): { over: string[]; news: Quarantined[] } {
  const bad = new Set(quarantined.map((one) => one.key));
  const good = new Set(landed);
  // Released if the record is readable now, is no longer on its page, or was behind the end of the list.
  const isOver = (row: QuarantineRow): boolean =>
    !bad.has(row.record_key) && (good.has(row.record_key) || row.page === page || (isLast && row.page > page));
  const standing = new Set(known.map((row) => `${row.record_key} ${row.page} ${row.reason}`));
  return {
    over: known.filter(isOver).map((row) => row.record_key),
    news: quarantined.filter((one) => !standing.has(`${one.key} ${page} ${one.reason}`)),
  };
}

export function stepOf(run: StreamRow): StreamStep {
  return {
    state: run.state,
    counts: countsOf(run),
    ...(run.refused_code === null ? {} : { code: run.refused_code }),
  };
}

export function countsOf(run: StreamRow): StreamCounts {
  const { seen: read, unchanged, created, updated, skipped, quarantined, held } = run;
  return { read, unchanged, created, updated, skipped, quarantined, held };
}

// Consecutive pages are settled as one, with the same result as one by one.

/** How many of these pages can be settled together: up to the end of the list, as long as the total stays the same. */
export function countJoinable(
  run: Pick<StreamRow, 'seen' | 'seen_before'>,
  pages: readonly ({ total?: number; raw: readonly unknown[] } | undefined)[],
): number {
  const total = pages[0]?.total;
  if (total === undefined) return 1;
  let seen = run.seen - run.seen_before;
  for (const [n, page] of pages.entries()) {
    if (page === undefined || page.total !== total || page.raw.length === 0) return Math.max(n, 1);
    seen += page.raw.length;
    if (seen >= total) return n + 1;
  }
  return pages.length;
}

/**
 * Keeps each record only on the last page that shows it: a list that moved shows some records twice, and the last
 * counts.
 */
export function lastShown(pages: readonly RecordPage[]): RecordPage[] {
  if (pages.length === 1) return [...pages];
  const later = new Set<string>();
  const shown = pages.toReversed().map((page) => {
    const items = page.items.filter((item) => !later.has(String(item['id'])));
    const unchanged = (page.unchanged ?? []).filter(({ id }) => !later.has(id));
    for (const id of readableIds(page)) later.add(id);
    return { ...page, items, unchanged };
  });
  return shown.toReversed();
}

/** Joins the pages' readable records; unreadable ones stay with their page. */
export function joinPages(pages: readonly RecordPage[]): RecordPage {
  return {
    page: pages[0]?.page ?? 0,
    items: pages.flatMap(({ items }) => items),
    unchanged: pages.flatMap(({ unchanged = [] }) => unchanged),
    unreadable: [],
  };
}

/** Splits the result by page. Counts cannot be split, so the first page gets them all. */
export function splitLanded(pages: readonly RecordPage[], landed: LandedPage): LandedPage[] {
  const rows = new Map(landed.rows.map((row) => [row.id, row]));
  const bad = Map.groupBy(landed.quarantined, ({ key }) => key);
  return pages.map((page, n) => {
    const ids = [...new Set(readableIds(page))];
    const { created, updated, unchanged } = n === 0 ? landed : { created: 0, updated: 0, unchanged: 0 };
    const quarantined = [...leftOutOf(page), ...ids.flatMap((id) => bad.get(id) ?? [])];
    return { created, updated, unchanged, rows: ids.flatMap((id) => rows.get(id) ?? []), quarantined };
  });
}

/** The changes of each page in its run, and the changes of all of them together. */
export function outcomesOf(
  run: StreamRow,
  pages: readonly { page: RecordPage | undefined; landed: LandedPage }[],
  segments?: number,
): { outcomes: PageOutcome[]; committed: Omit<CommittedPage, 'next'> } {
  let after = run;
  const outcomes = pages.map(({ page, landed }) => {
    const outcome = outcomeOf(after, page, landed, segments);
    after = advance(after, { ...outcome, next: after.page + 1 });
    return outcome;
  });
  const last = outcomes.at(-1);
  const counts = {
    unchanged: after.unchanged - run.unchanged,
    created: after.created - run.created,
    updated: after.updated - run.updated,
    quarantined: after.quarantined - run.quarantined,
  };
  const end = last?.segment === undefined ? { total: last?.total } : { total: null, segment: last.segment };
  return { outcomes, committed: { records: after.seen - run.seen, counts, state: after.state, ...end } };
}
