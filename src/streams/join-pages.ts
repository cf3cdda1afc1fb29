// Pages that follow one another are settled as one; what comes of it is as if each had been settled by itself.
import type { StreamRow } from '../store/schema.ts';
import type { CommittedPage } from '../store/streams.ts';
import { type LandedPage, leftOutOf } from './land-page.ts';
import { advance, outcomeOf, type PageOutcome } from './page-outcome.ts';
import { type RecordPage, readableIds } from './read-page.ts';

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
