import type { Quarantined } from '../store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../store/schema.ts';
import type { PageCounts } from '../store/streams.ts';
import type { LandedPage } from './land-page.ts';
import { PAGE_SIZE, type RecordPage } from './read-page.ts';
import type { StreamCounts, StreamStep } from './stream-activities.ts';

/** What one page does to its run. */
export interface PageOutcome {
  /** Records on the page, readable or not. */
  records: number;
  /** Of all records, where the partner says. */
  total: number | undefined;
  isLast: boolean;
  counts: PageCounts;
  quarantined: Quarantined[];
  state: StreamRow['state'];
}

export function outcomeOf(run: StreamRow, page: RecordPage | undefined, landed: LandedPage): PageOutcome {
  const records = page === undefined ? 0 : page.items.length + page.unreadable.length;
  const total = page?.total ?? run.total ?? undefined;
  const isLast = records === 0 || (total !== undefined && run.seen + records >= total);
  const quarantined = [...landed.quarantined, ...passedBy(run, page)];
  const { unchanged, created, updated } = landed;
  const counts = { unchanged, created, updated, quarantined: quarantined.length };
  const ended = run.quarantined + quarantined.length > 0 ? 'partial' : 'done';
  return { records, total, isLast, counts, quarantined, state: isLast ? ended : 'running' };
}

/** The run after that page, as the store has it once the page is committed. */
export function advance(run: StreamRow, { records, total, counts, state }: PageOutcome): StreamRow {
  return {
    ...run,
    page: run.page + 1,
    seen: run.seen + records,
    total: total ?? null,
    unchanged: run.unchanged + counts.unchanged,
    created: run.created + counts.created,
    updated: run.updated + counts.updated,
    quarantined: run.quarantined + counts.quarantined,
    state,
  };
}

/** The last page that is known to hold something; the next one, where the partner tells no total. */
export function lastPageOf({ page, seen, total }: StreamRow): number {
  return total === null ? page : page - 1 + Math.ceil((total - seen) / PAGE_SIZE);
}

/**
 * Somebody deleted records while the list was read, so that others moved from this page to one that was read before:
 * they cannot be named, but the run has left something out. The next one finds them. An addition at the same moment
 * hides it from everybody.
 */
function passedBy(run: StreamRow, page: RecordPage | undefined): Quarantined[] {
  if (run.total === null) return [];
  const fewer = page === undefined ? run.total - run.seen : run.total - (page.total ?? run.total);
  if (fewer <= 0) return [];
  const reason =
    `the list became shorter by ${fewer} while it was read: ` +
    'as many records may have been skipped, and the next run reads them';
  return [{ key: `page ${run.page}, the list`, reason }];
}

/** What to write to the quarantine and what to release: only what differs, because most pages change nothing there. */
export function quarantineChanges(
  known: readonly QuarantineRow[],
  page: number,
  { isLast, quarantined }: PageOutcome,
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

export function countsOf({ seen: read, unchanged, created, updated, quarantined }: StreamRow): StreamCounts {
  return { read, unchanged, created, updated, quarantined };
}
