import { describe, expect, test } from 'vitest';
import { afterPage, type ListCursor, startOfList } from '../../../activities/reconcile/run.ts';

const PAGE = 2;
const SIX = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Reading {
  readTwice?: boolean;
  /** Whether the partner tells the total. */
  isTold?: boolean;
  /** Whether an empty page tells it. */
  isToldAtEnd?: boolean;
  /** What happens to the list before this call, counted from 1. */
  moves?: Record<number, (list: string[]) => void>;
}

/** Reads a list to its end, two records a page; the pages asked for, and whom they showed. */
function read(
  records: readonly string[],
  { readTwice = false, isTold = true, isToldAtEnd = false, moves = {} }: Reading = {},
) {
  const list = [...records];
  const pages: number[] = [];
  const seen = new Set<string>();
  for (let cursor: ListCursor | undefined = startOfList(); cursor !== undefined; ) {
    moves[pages.length + 1]?.(list);
    pages.push(cursor.page);
    const shown = list.slice((cursor.page - 1) * PAGE, cursor.page * PAGE);
    for (const one of shown) seen.add(one);
    const isBehind = shown.length === 0 && cursor.page > 1;
    const page = { records: shown.length, ...(isTold ? { total: list.length } : {}) };
    cursor = afterPage(cursor, isBehind && !isToldAtEnd ? undefined : page, readTwice);
  }
  return { pages, seen: [...seen].toSorted().join('') };
}

describe('a list at rest', () => {
  const five = SIX.slice(0, 5);
  test.each<[string, string[], Reading, number[]]>([
    ['is read page by page up to its total', five, {}, [1, 2, 3]],
    ['of one page is read once', ['a'], { readTwice: true }, [1]],
    ['without anybody is read once', [], { readTwice: true }, [1]],
    ['that must miss nobody is read twice', five, { readTwice: true }, [1, 2, 3, 1, 2, 3]],
    ['whose total is not told is read up to an empty page, and again', five, { isTold: false }, [1, 2, 3, 4, 1, 2]],
    ['of one page whose total is not told is not read again', ['a'], { isTold: false }, [1, 2]],
  ])('%s', (_what, records, reading, pages) => {
    expect(read(records, reading).pages).toEqual(pages);
  });
});

describe('a list that moves while it is read', () => {
  test('shows everybody, where records slip to a page that was read', () => {
    const { seen, pages } = read(SIX, { moves: { 2: (list) => list.splice(0, 1) } });
    expect(pages).toEqual([1, 2, 3, 1]);
    expect(seen).toBe('abcdef');
  });

  test.each([true, false])(
    'shows everybody, where the last one slips to the page before, with a total: %s',
    (isTold) => {
      const five = SIX.slice(0, 5);
      const { seen } = read(five, { isTold: true, isToldAtEnd: isTold, moves: { 3: (list) => list.splice(0, 1) } });
      expect(seen).toBe('abcde');
    },
  );

  test('shows everybody, where it grows at its begin', () => {
    expect(read(SIX, { moves: { 2: (list) => list.unshift('z') } }).seen).toBe('abcdef');
  });

  test('shows everybody by the second reading, where it falls and grows between two pages', () => {
    const swap = (list: string[]): void => {
      list.splice(0, 1);
      list.push('z');
    };
    expect(read(SIX, { moves: { 2: swap } }).seen).not.toContain('c');
    expect(read(SIX, { moves: { 2: swap }, readTwice: true }).seen).toBe('abcdefz');
  });
});
