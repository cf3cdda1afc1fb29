/** How far a list is read, so that another process can go on with it. */
export interface ListCursor {
  /** first: from the first page on. second: once more. again: the pages that records may have slipped to. */
  pass: 'first' | 'second' | 'again';
  /** The next page to be read. */
  page: number;
  /** Records read in this pass, each page's counted. */
  read: number;
  /** Of all records, as told by the page before. */
  total: number | null;
  /** Records may have slipped to pages before this one. */
  slippedTo: number;
}

/** Every list that a reconcile reads counts its pages from 1. */
const FIRST_PAGE = 1;

export function startOfList(): ListCursor {
  return { pass: 'first', page: FIRST_PAGE, read: 0, total: null, slippedTo: 0 };
}

/** What a page showed; undefined behind the last one. */
type PageSeen = { records: number; total?: number } | undefined;

/**
 * Where the reading goes on after this page; undefined when it is over. A list may move while it is read: where its
 * total falls, or is not told, records may have slipped to a page that was read before. A list that is read twice is
 * read once more as a whole, unless it was one page, which cannot shift: who is passed over by both readings must have
 * moved twice.
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

function mayHaveSlipped({ total: before }: ListCursor, total: number | null): boolean {
  return total === null || (before !== null && total < before);
}
