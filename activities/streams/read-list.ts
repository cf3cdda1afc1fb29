import type { RawPage } from '../../src/partner/client/types.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import { dropPages } from '../../src/store/stream-missing.ts';
import { judgeEmptyList } from '../../src/streams/change-limits.ts';
import { fetchAhead } from '../../src/streams/fetch-ahead.ts';
import type { LandedPage } from '../../src/streams/land-page.ts';
import { fallAt, lastPageOf, outcomeOf, quarantineChanges } from '../../src/streams/page-outcome.ts';
import { assertMoved, firstPageOf, PAGE_SIZE, readableIds, readRawPage } from '../../src/streams/read-page.ts';
import { drainBetweenPages } from './drain-hints.ts';
import { endPass } from './end-pass.ts';
import type { Beat } from './in-run.ts';
import { landWithinLimits, stopAt } from './land-within-limits.ts';
import { keepOpened, type OpenedPage, openPage } from './open-page.ts';
import { commit, type Reading } from './reading.ts';

/**
 * One activity reads for so long: few events of history, and a deploy need not wait. Not so many pages: each end
 * empties the row of pages asked for ahead, and filling it again costs a round trip.
 */
const BATCH_MS = 30_000;
/** So often a batch reads again what may have slipped; a list that moves on is left to the next run. */
const MOST_REREADS = 5;
/** Pages of one part of a list are numbered from here in what is kept for the whole. */
const PAGES_A_SEGMENT = 1_000_000;

/** A page, and by which of the run's reads it was asked for. */
interface Fetched {
  page: RawPage | undefined;
  read: number;
}

/** Reads and lands some pages from the run's cursor on. */
export async function readList(reading: Reading, beat: Beat): Promise<'over' | 'superseded'> {
  const end = performance.now() + BATCH_MS;
  for (;;) {
    const ended = await readSegment(reading, end, beat);
    if (ended !== 'next') return ended;
  }
}

async function readSegment(reading: Reading, end: number, beat: Beat): Promise<'over' | 'superseded' | 'next'> {
  const { segment } = reading.run;
  const isWanted = (page: number): boolean =>
    reading.run.state === 'running' &&
    reading.run.segment === segment &&
    performance.now() < end &&
    page <= lastPageOf(reading.run);
  for (;;) {
    const ended = await readInto(reading, isWanted, beat);
    if (ended === 'superseded') return 'superseded';
    if (ended === 'over') break;
    // From here on in order: no answer is older than the one before it.
    reading.ahead = 1;
    if (!(await readAgain(reading, ended.pages))) return 'superseded';
  }
  if (reading.run.segment === segment || reading.run.state !== 'running') return 'over';
  return performance.now() < end ? 'next' : 'over';
}

/** Settles pages until none is wanted, or until records may have slipped to so many pages before. */
async function readInto(
  reading: Reading,
  isWanted: (page: number) => boolean,
  beat: Beat,
): Promise<'over' | 'superseded' | { pages: number }> {
  const { segment } = reading.run;
  const pages = fetchAhead(reading.run.page, reading.ahead, isWanted, (at) => fetchPage(reading, at));
  for await (const { page: fetched } of pages) {
    const slipped = reading.rereads < MOST_REREADS ? await slippedOver(reading, fetched.page) : 0;
    if (slipped > 0) return { pages: slipped };
    if (!(await settlePage(reading, fetched))) return 'superseded';
    if (!(await drainBetweenPages(reading))) return 'superseded';
    const { page: next, seen, total } = reading.run;
    beat({ page: next, seen, total });
    if (reading.run.state !== 'running' || reading.run.segment !== segment) break;
  }
  return 'over';
}

async function fetchPage(reading: Reading, page: number): Promise<Fetched> {
  reading.reads += 1;
  const read = reading.reads;
  return { read, page: await readRawPage(reading.connection.partner, reading.stream, page, reading.run.segment) };
}

/** Over how many pages before this one records may have slipped. */
async function slippedOver(reading: Reading, page: RawPage | undefined): Promise<number> {
  const { run } = reading;
  const before = run.page - firstPageOf(reading.stream);
  if (page !== undefined) return Math.min(before, Math.ceil(fallAt(run, page) / PAGE_SIZE));
  if (run.total === null || run.seen - run.seen_before >= run.total) return 0;
  // Nothing here although the total promised more: it is too high, unless it has fallen meanwhile.
  for (let back = 1; back <= before; back += 1) {
    const { page: last } = await fetchPage(reading, run.page - back);
    if (last !== undefined) return Math.min(before, Math.max(back - 1, Math.ceil(fallAt(run, last) / PAGE_SIZE)));
  }
  return 0;
}

/** Lands what has come to the pages before. The cursor stays, and so does the place in the list that it counts. */
async function readAgain(reading: Reading, pages: number): Promise<boolean> {
  reading.rereads += 1;
  reading.before = undefined;
  for (let at = reading.run.page - pages; at < reading.run.page; at += 1) {
    const { page, read } = await fetchPage(reading, at);
    const opened = await openPage(reading, page, numberOf(reading, at));
    const landed = await land(reading, opened, read);
    const outcome = { isLast: false, quarantined: landed.quarantined };
    const quarantined = await settleQuarantine(reading, { page: at, outcome, landed });
    await keep(reading, at, opened, { rows: landed.rows, also: opened?.kept?.ids ?? [] });
    const { run } = reading;
    const { created, updated } = landed;
    const counts = { unchanged: 0, created, updated, quarantined, skipped: 0 };
    const total = page?.total ?? run.total;
    if (!(await commit(reading, { next: run.page, records: 0, total, counts, state: run.state }))) return false;
  }
  return true;
}

/** Lands one page and moves the cursor past it. False when another run took over. */
async function settlePage(reading: Reading, { page, read }: Fetched): Promise<boolean> {
  const { run, stream, state } = reading;
  const isBegin = run.seen === run.seen_before && run.segment === 0 && stream.segments === undefined;
  const empty = isBegin ? judgeEmptyList(page?.raw.length ?? 0, state?.landed ?? null) : undefined;
  if (empty !== undefined) await stopAt(reading, empty, 0);
  const opened = await openPage(reading, page, numberOf(reading, run.page));
  const landed = await land(reading, opened, read);
  const outcome = outcomeOf(run, opened, landed, stream.segments?.length);
  await settleQuarantine(reading, { page: run.page, outcome, landed });
  await keep(reading, run.page, opened, landed);
  if (fallAt(run, page) > 0) reading.tally = { ...reading.tally, isUnsure: true };
  if (outcome.isLast || outcome.segment !== undefined) await dropBehind(reading, page);
  const skipped = outcome.isLast ? await endPass(reading) : 0;
  const counts = { ...outcome.counts, skipped };
  const next = outcome.segment === undefined ? run.page + 1 : firstPageOf(stream);
  const total = outcome.segment === undefined ? outcome.total : null;
  return commit(reading, { ...outcome, counts, next, total });
}

async function land(reading: Reading, page: OpenedPage | undefined, read: number): Promise<LandedPage> {
  if (page === undefined) return landWithinLimits(reading, undefined);
  const ids = readableIds(page).toSorted().join(' ');
  assertMoved(reading.stream, page.page, ids, reading.before);
  reading.before = ids;
  // Who was read by id since this page was asked for is newer than what the page shows.
  const isNewest = (id: unknown): boolean => (reading.readById.get(String(id)) ?? 0) < read;
  const items = page.items.filter((item) => isNewest(item['id']));
  const unchanged = page.unchanged?.filter(({ id }) => isNewest(id)) ?? [];
  const landed = await landWithinLimits(reading, { ...page, items, unchanged });
  const passedOver = readableIds(page).length - items.length - unchanged.length;
  return { ...landed, unchanged: landed.unchanged + passedOver };
}

async function keep(
  reading: Reading,
  at: number,
  page: OpenedPage | undefined,
  landed: Parameters<typeof keepOpened>[3],
): Promise<void> {
  if (page === undefined) return;
  if (page.unreadable.some(({ id }) => id === undefined)) reading.tally = { ...reading.tally, isUnsure: true };
  await keepOpened(reading, numberOf(reading, at), page, landed);
}

/** The list, or this part of it, ends with this page. */
async function dropBehind({ deps, key, run }: Reading, page: RawPage | undefined): Promise<void> {
  const first = run.segment * PAGES_A_SEGMENT;
  await dropPages(deps.store, key, first + run.page + (page === undefined ? 0 : 1), first + PAGES_A_SEGMENT);
}

function numberOf({ run }: Reading, page: number): number {
  return run.segment * PAGES_A_SEGMENT + page;
}

/** Returns how many records are newly in it. */
async function settleQuarantine(
  reading: Reading,
  { page, outcome, landed }: { page: number; outcome: Parameters<typeof quarantineChanges>[2]; landed: LandedPage },
): Promise<number> {
  const { deps, key, quarantine, run } = reading;
  const at = numberOf(reading, page);
  const ids = landed.rows.map(({ id }) => id);
  const { over, news } = quarantineChanges(quarantine, at, outcome, ids);
  if (over.length + news.length === 0) return 0;
  // Where another run took over, the page that follows finds so too.
  if (!(await changeQuarantine(deps.store, key, run.run_id, { page: at, over, news }))) return 0;
  reading.quarantine = await readQuarantine(deps.store, key);
  return news.length;
}
