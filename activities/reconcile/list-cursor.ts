/** How far a list has been read, so that another process can continue. */
export interface ListCursor {
  /** first: the first pass. second: a full second pass. again: rereads pages that records may have slipped to. */
  pass: 'first' | 'second' | 'again';
  /** The next page to read. */
  page: number;
  /** Records read in this pass, over all its pages. */
  read: number;
  /** Total number of records, as stated by the page before. */
  total: number | null;
  /** Records may have slipped to pages before this one. */
  slippedTo: number;
}

/** Every list that a reconcile reads numbers its pages from 1. */
const FIRST_PAGE = 1;

export function startOfList(): ListCursor {
  return { pass: 'first', page: FIRST_PAGE, read: 0, total: null, slippedTo: 0 };
}

/** What a page showed; undefined behind the last page. */
type PageSeen = { records: number; total?: number } | undefined;

/**
 * Where the reading continues after this page; undefined when it is done. A list may change while it is read: if its
 * total falls or is not stated, records may have slipped to a page read before. With `readTwice` the whole list is read
 * again, unless it has only one page, which cannot shift: only a record that moved twice is missed by both readings.
 */
export function afterPage(cursor: ListCursor, page: PageSeen, readTwice: boolean): ListCursor | undefined {
  const records = page?.records ?? 0;
  if (cursor.pass === 'again') {
    const isOver = records === 0 || cursor.page + 1 >= cursor.slippedTo;
    return isOver ? undefined : { ...cursor, page: cursor.page + 1 };
  }
  const total = page?.total ?? null;
  const read = cursor.read + records;
  const slippedTo = records > 0 && mayHaveSlipped(cursor, total) ? cursor.page : cursor.slippedTo;
  const isOver = records === 0 || (total !== null && read >= total);
  if (!isOver) return { ...cursor, page: cursor.page + 1, read, total, slippedTo };
  const pages = records === 0 ? cursor.page - 1 : cursor.page;
  if (readTwice && cursor.pass === 'first') return pages > 1 ? { ...startOfList(), pass: 'second' } : undefined;
  return slippedTo > FIRST_PAGE ? { ...startOfList(), pass: 'again', slippedTo } : undefined;
}

/** How many people the total still counts where this page is empty. */
export function unshownAfter(cursor: ListCursor, page: PageSeen): number {
  if (cursor.pass === 'again' || (page?.records ?? 0) > 0) return 0;
  return Math.max(0, (page?.total ?? cursor.total ?? 0) - cursor.read);
}

function mayHaveSlipped({ total: before }: ListCursor, total: number | null): boolean {
  return total === null || (before !== null && total < before);
}
