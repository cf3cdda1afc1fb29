import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LandedPage } from '../../src/streams/land-page.ts';
import {
  advance,
  countJoinable,
  joinPages,
  lastShown,
  outcomeOf,
  outcomesOf,
  splitLanded,
} from '../../src/streams/page-outcome.ts';
import type { RecordPage } from '../../src/streams/read-page.ts';
import { runRow } from './run-row.ts';

const rawPage = (records: number, total: number | undefined) => ({
  raw: Array.from({ length: records }),
  ...(total === undefined ? {} : { total }),
});

test.each([
  ['all of one total, before the end', 0, [rawPage(100, 900), rawPage(100, 900), rawPage(100, 900)], 3],
  ['up to the end of the list', 700, [rawPage(100, 900), rawPage(100, 900), rawPage(100, 900)], 2],
  ['none after one whose total is another', 0, [rawPage(100, 900), rawPage(100, 901)], 1],
  ['no empty page', 0, [rawPage(100, 900), rawPage(0, 900)], 1],
  ['nothing behind the list', 0, [rawPage(100, 900), undefined], 1],
  ['an empty page by itself', 0, [rawPage(0, 900), rawPage(100, 900)], 1],
  ['no two where no total is told', 0, [rawPage(100, undefined), rawPage(100, undefined)], 1],
  ['nothing by itself', 0, [undefined, undefined], 1],
])('settled as one: %s', (_what, seen, pages, joined) => {
  expect(countJoinable({ seen: seen + 50, seen_before: 50 }, pages)).toBe(joined);
});

function pageOf(page: number, ids: readonly string[], unchanged: readonly string[] = []): RecordPage {
  return {
    page,
    total: 1000,
    items: ids.map((id) => ({ id, from: page })),
    unchanged: unchanged.map((id) => ({ id, hash: `${page}`, filled: [] })),
    unreadable: [{ index: 7, reason: 'x' }],
  };
}

test('of a record that several pages show, what the last one shows lands', () => {
  const pages = [pageOf(1, ['a', 'b'], ['c', 'd']), pageOf(2, ['c', 'e'], ['a']), pageOf(3, ['e'])];
  const shown = lastShown(pages);
  expect(shown.map(({ items }) => items.map(({ id }) => id))).toEqual([['b'], ['c'], ['e']]);
  expect(shown.map(({ unchanged }) => unchanged?.map(({ id }) => id))).toEqual([['d'], ['a'], []]);
  const joined = joinPages(shown);
  expect(joined.items).toEqual([
    { id: 'b', from: 1 },
    { id: 'c', from: 2 },
    { id: 'e', from: 3 },
  ]);
  expect(joined.unchanged?.map(({ id, hash }) => [id, hash])).toEqual([
    ['d', '1'],
    ['a', '2'],
  ]);
});

test('each page is told of its own rows and of what was left out of it', () => {
  const pages = [pageOf(4, ['a', 'b']), pageOf(5, ['c'])];
  const row = (id: string) => ({ id, hash: id, filled: [] });
  const landed = {
    created: 1,
    updated: 1,
    unchanged: 3,
    rows: [row('a'), row('c')],
    quarantined: [{ key: 'b', reason: 'y' }],
  };
  const [first, second] = splitLanded(pages, landed);
  expect(first).toMatchObject({ created: 1, updated: 1, unchanged: 3, rows: [{ id: 'a' }] });
  expect(first?.quarantined.map(({ key }) => key)).toEqual(['page 4, record 8', 'b']);
  expect(second).toMatchObject({ created: 0, updated: 0, unchanged: 0, rows: [{ id: 'c' }] });
  expect(second?.quarantined.map(({ key }) => key)).toEqual(['page 5, record 8']);
});

const landedPage = fc.record({
  records: fc.integer({ min: 1, max: 100 }),
  created: fc.nat(100),
  left: fc.nat(3),
});

test('a run is after pages settled as one where it would be after each by itself', () => {
  fc.assert(
    fc.property(
      fc.array(landedPage, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: -1, max: 200 }),
      (all, beyond) => {
        const total = all.reduce((sum, { records }) => sum + records, 0) + beyond;
        const pages = all.map(({ records, created, left }, n) => {
          const items = Array.from({ length: records }, (_, m) => ({ id: `${n} ${m}` }));
          const quarantined = Array.from({ length: left }, (_, m) => ({ key: `${n} ${m}`, reason: 'z' }));
          const landed: LandedPage = { created, updated: 1, unchanged: 2, rows: [], quarantined };
          return { page: { page: n, total, items, unreadable: [] }, landed };
        });
        let after = runRow({ total });
        const each = pages.map(({ page, landed }) => {
          const outcome = outcomeOf(after, page, landed);
          after = advance(after, { ...outcome, next: after.page + 1 });
          return outcome;
        });
        const { outcomes, committed } = outcomesOf(runRow({ total }), pages);
        expect(outcomes).toEqual(each);
        expect(advance(runRow({ total }), { ...committed, next: all.length })).toEqual(after);
      },
    ),
  );
});
