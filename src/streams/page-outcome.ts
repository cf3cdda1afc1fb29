import type { Quarantined } from '../store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../store/schema.ts';
import type { CommittedPage, PageCounts } from '../store/streams.ts';
import { type LandedPage, leftOutOf } from './land-page.ts';
import { countRecords, PAGE_SIZE, type RecordPage, readableIds } from './read-page.ts';
import type { StreamCounts, StreamStep } from './stream-activities.ts';

/** What one page does to its run. */
interface PageOutcome {
  /** Records on the page, readable or not. */
  records: number;
  /** Of all records, where the partner says. */
  total: number | undefined;
  /** Of the whole list. */
  isLast: boolean;
  /** The next page begins this part of the list. */
  segment?: { number: number; seenBefore: number };
  counts: PageCounts;
  quarantined: Quarantined[];
  state: StreamRow['state'];
}

/** `segments`: in how many parts the list comes. */
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

/** The run after that page, as the store has it once the page is committed. */
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

/** The last page that is known to hold something; at least the next one, which ends the run where it is empty. */
export function lastPageOf({ page, seen, seen_before: before, total }: StreamRow): number {
  return total === null ? page : Math.max(page, page - 1 + Math.ceil((total - seen + before) / PAGE_SIZE));
}

/**
 * How far the total fell from the page before to this one. Either records were deleted in between, or this page was
 * answered before that one while the list grew: both ways as many records may stand on neither. An addition and a
 * deletion at the same moment hide it from everybody.
 */
export function fallAt(run: Pick<StreamRow, 'total'>, page: Pick<RecordPage, 'total'> | undefined): number {
  return Math.max(0, (run.total ?? 0) - (page?.total ?? run.total ?? 0));
}

/** Reading again did not help, because the list went on moving. Which records those are, nobody can tell. */
function passedBy(run: StreamRow, page: RecordPage | undefined): Quarantined[] {
  const fall = fallAt(run, page);
  if (fall === 0) return [];
  const reason =
    `the list went on moving while it was read: from the page before to this one its total fell by ${fall}, so as ` +
    'many records may stand on neither; the next run reads them';
  return [{ key: `page ${run.page}, the list`, reason }];
}

/** What to write to the quarantine and what to release: only what differs, because most pages change nothing there. */
export function quarantineChanges(
  known: readonly QuarantineRow[],
  page: number,
  { isLast, quarantined }: Pick<PageOutcome, 'isLast' | 'quarantined'>,
  landed: readonly string[],
): { over: string[]; news: Quarantined[] } {
  const bad = new Set(quarantined.map((one) => one.key));
  const good = new Set(landed);
  // Readable by now, or no longer where it was, or behind the end of the list.
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

// Pages that follow one another are settled as one; what comes of it is as if each had been settled by itself.

/** How many of these can be: up to the end of the list, and none after one whose total is another. */
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

/** Of each page the records that no later one shows again: a list that moved shows some twice, and the last counts. */
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

/** Their readable records; what cannot be read stays with its page. */
export function joinPages(pages: readonly RecordPage[]): RecordPage {
  return {
    page: pages[0]?.page ?? 0,
    items: pages.flatMap(({ items }) => items),
    unchanged: pages.flatMap(({ unchanged = [] }) => unchanged),
    unreadable: [],
  };
}

/** What became of each page; counts tell nothing of pages, so they stand with the first. */
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

/** What each page does to its run, and what all of them do to it. */
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
