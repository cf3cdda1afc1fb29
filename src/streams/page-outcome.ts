import type { Quarantined } from '../store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../store/schema.ts';
import type { CommittedPage, PageCounts } from '../store/streams.ts';
import type { LandedPage } from './land-page.ts';
import { countRecords, PAGE_SIZE, type RecordPage } from './read-page.ts';
import type { StreamCounts, StreamStep } from './stream-activities.ts';

/** What one page does to its run. */
export interface PageOutcome {
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
