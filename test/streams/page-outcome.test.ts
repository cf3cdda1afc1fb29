import { describe, expect, test } from 'vitest';
import type { QuarantineRow } from '../../src/store/schema.ts';
import type { LandedPage } from '../../src/streams/land-page.ts';
import { advance, lastPageOf, outcomeOf, quarantineChanges, unshownAt } from '../../src/streams/page-outcome.ts';
import type { RecordPage } from '../../src/streams/read-page.ts';
import { runRow } from './run-row.ts';

const RUN = runRow({ page: 2, seen: 200, total: 250, unchanged: 190, created: 5, updated: 5 });
const LANDED: LandedPage = { unchanged: 0, created: 0, updated: 0, rows: [], quarantined: [] };
const bad = (key: string) => ({ key, reason: 'unreadable' });

function page(records: number, total?: number): RecordPage {
  const items = Array.from({ length: records }, (_, id) => ({ id }));
  return { page: 2, items, unreadable: [], ...(total === undefined ? {} : { total }) };
}

describe('after a page its run', () => {
  test.each([
    ['goes on while records are left', RUN, page(20, 250), LANDED, 'running'],
    ['is done with the last record', RUN, page(50, 250), LANDED, 'done'],
    ['is done behind the last page', { ...RUN, total: null }, undefined, LANDED, 'done'],
    [
      'is partial when this page left a record out',
      RUN,
      page(50, 250),
      { ...LANDED, quarantined: [bad('7')] },
      'partial',
    ],
    ['is partial when an earlier page did', { ...RUN, quarantined: 1 }, page(50, 250), LANDED, 'partial'],
    ['is partial when its total still falls', RUN, page(49, 249), LANDED, 'partial'],
    ['is done when an empty page contradicts the total', RUN, undefined, LANDED, 'done'],
    ['goes on where the partner tells no total', { ...RUN, total: null }, page(100), LANDED, 'running'],
  ])('%s', (_what, run, read, landed, state) => {
    expect(outcomeOf(run, read, landed).state).toBe(state);
  });

  test('counts what landed and what was left out', () => {
    const outcome = outcomeOf(RUN, page(20, 250), { ...LANDED, unchanged: 17, created: 2, quarantined: [bad('7')] });
    expect(advance(RUN, { ...outcome, next: 3 })).toMatchObject({
      page: 3,
      seen: 220,
      unchanged: 207,
      created: 7,
      quarantined: 1,
    });
  });

  test('names how many records a list that goes on moving may have hidden', () => {
    const [passed] = outcomeOf(RUN, page(40, 247), LANDED).quarantined;
    expect(passed).toMatchObject({ key: 'page 2, the list' });
    expect(passed?.reason).toContain('fell by 3');
  });
});

test.each([
  ['nothing behind a page with records', RUN, { raw: [1], total: 250 }, 0],
  ['what the total still counts behind an empty page', RUN, undefined, 50],
  ['what an empty page says of the total itself', RUN, { raw: [], total: 210 }, 10],
  ['of this part of the list alone', { ...RUN, seen_before: 120 }, undefined, 170],
  ['nothing where no total is told', { ...RUN, total: null }, undefined, 0],
])('a list leaves unshown %s', (_what, run, read, unshown) => expect(unshownAt(run, read)).toBe(unshown));

test('fetching ahead ends at the last page that is known to hold something', () => {
  expect(lastPageOf(RUN)).toBe(2);
  expect(lastPageOf({ ...RUN, total: 301 })).toBe(3);
  expect(lastPageOf({ ...RUN, total: null })).toBe(2);
});

describe('the quarantine', () => {
  const row = (record_key: string, at: number): QuarantineRow => ({
    tenant_id: 'acme',
    stream: 'jobs',
    record_key,
    page: at,
    reason: 'unreadable',
    since: 0,
  });
  const changes = (known: QuarantineRow[], quarantined: string[], landed: string[], isLast = false) => {
    const outcome = { ...outcomeOf(RUN, page(1), LANDED), quarantined: quarantined.map(bad), isLast };
    const { over, news } = quarantineChanges(known, 2, outcome, landed);
    return { over, news: news.map((one) => one.key) };
  };

  test.each([
    ['takes in a record that cannot land', changes([], ['7'], []), { over: [], news: ['7'] }],
    ['writes nothing for one that stands there already', changes([row('7', 2)], ['7'], []), { over: [], news: [] }],
    ['moves one that is found on another page', changes([row('7', 1)], ['7'], []), { over: [], news: ['7'] }],
    ['releases one that landed, wherever it was', changes([row('7', 5)], [], ['7']), { over: ['7'], news: [] }],
    ['releases one that is no longer on its page', changes([row('7', 2)], [], []), { over: ['7'], news: [] }],
    ['keeps one of another page', changes([row('7', 3)], [], []), { over: [], news: [] }],
    ['releases what stood behind the new end', changes([row('7', 3)], [], [], true), { over: ['7'], news: [] }],
  ])('%s', (_what, actual, expected) => expect(actual).toEqual(expected));
});
