import { isConnectorError } from '../../src/errors.ts';
import type { RawPage } from '../../src/partner/client/types.ts';
import { batchesOf } from '../../src/store/batches.ts';
import { forgetConsents } from '../../src/store/consents.ts';
import { clearHintsUntil } from '../../src/store/hints.ts';
import { noteCases } from '../../src/store/privacy-cases.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import {
  addMissing,
  believeMissing,
  dropPages,
  forgetMissing,
  type KeptPage,
  keepPages,
  type Missing,
  readKeptPages,
  readMissing,
  readSeenIds,
  type SeenIds,
} from '../../src/store/stream-missing.ts';
import { completePass } from '../../src/store/stream-states.ts';
import { judgeEmptyList, judgeMissing } from '../../src/streams/change-limits.ts';
import { decodeKnown, encodeKnown, fingerprintOf, isRow, type KnownRecords } from '../../src/streams/known-records.ts';
import { type LandedPage, NOTHING_LANDED, removeRows } from '../../src/streams/land-page.ts';
import {
  fallAt,
  joinPages,
  lastShown,
  outcomesOf,
  quarantineChanges,
  splitLanded,
} from '../../src/streams/page-outcome.ts';
import {
  assertMoved,
  firstPageOf,
  type RecordPage,
  type RowFacts,
  readableIds,
  readRecords,
} from '../../src/streams/read-page.ts';
import { type PullStream, WHOLE_LIST } from '../../src/streams/stream.ts';
import { erasedRecords } from '../../src/streams/without-erased.ts';
import type { Connection } from '../connections.ts';
import { commit, isStillOurs, landWithinLimits, NO_PAGE, type Reading, stopAt, TOO_MUCH_AS_ONE } from './reading.ts';

/** Pages of one part of a list are numbered from here in what is kept for the whole. */
const PAGES_A_SEGMENT = 1_000_000;
/** The same where there may be a part for each of many records; the number has to fit into 31 bits. */
const PAGES_A_PARENT = 10_000;

/** A page, and by which of the run's reads it was asked for. */
export interface Fetched {
  page: RawPage | undefined;
  read: number;
}

/** A page whose rows stand, and what was left out of it. */
interface Settled {
  page: OpenedPage | undefined;
  landed: LandedPage;
}

/** Several pages are landed in the time that the HR system has for one. */
const TOO_SLOW_AS_ONE = ['HRIS_BUSY', 'LANDING_BUSY', 'STOPPED'];

/**
 * Lands pages that follow one another and moves the cursor past them. False when another run took over. Where they
 * would change too much they are landed one by one, so that the same page stops a run whatever came with it; and so are
 * all from now on where the HR system was too slow for several.
 */
export async function settlePages(reading: Reading, pages: readonly Fetched[]): Promise<boolean> {
  if (reading.isSingly) return settleSingly(reading, pages);
  const { tally } = reading;
  try {
    return await settleAsOne(reading, pages);
  } catch (error) {
    // With another tally they have landed, and what failed was not too large.
    const isTooSlow = TOO_SLOW_AS_ONE.some((code) => isConnectorError(error, code)) && reading.tally === tally;
    if (pages.length === 1 || !(isTooSlow || isConnectorError(error, TOO_MUCH_AS_ONE))) throw error;
    reading.isSingly = isTooSlow;
    return settleSingly(reading, pages);
  }
}

async function settleSingly(reading: Reading, pages: readonly Fetched[]): Promise<boolean> {
  for (const page of pages) if (!(await settleAsOne(reading, [page]))) return false;
  return true;
}

async function settleAsOne(reading: Reading, pages: readonly Fetched[]): Promise<boolean> {
  const { run, stream } = reading;
  await assertFilled(reading, pages[0]?.page);
  const settled = await landPages(reading, pages, run.page);
  const { outcomes, committed } = outcomesOf(run, settled, stream.segments?.length);
  for (const [n, outcome] of outcomes.entries())
    await settleQuarantine(reading, { at: run.page + n, outcome, landed: settled[n]?.landed ?? NOTHING_LANDED });
  await keepSettled(reading, settled, run.page);
  if (pages.some(({ page }) => fallAt(run, page) > 0)) reading.tally = { ...reading.tally, isUnsure: true };
  const isOver = committed.state !== 'running';
  const behind = run.page + pages.filter(({ page }) => page !== undefined).length;
  if (isOver || committed.segment !== undefined) await dropBehind(reading, behind);
  const skipped = isOver ? await endPass(reading) : 0;
  const next = committed.segment === undefined ? run.page + pages.length : firstPageOf(stream);
  return commit(reading, { ...committed, next, counts: { ...committed.counts, skipped } });
}

/** A list that held records and now begins with none stops the run. */
async function assertFilled(reading: Reading, page: RawPage | undefined): Promise<void> {
  const { run, stream, state } = reading;
  const isBegin = run.seen === run.seen_before && run.segment === 0 && stream.segments === undefined;
  const empty = isBegin ? judgeEmptyList(page?.raw.length ?? 0, state?.landed ?? null) : undefined;
  if (empty !== undefined) await stopAt(reading, empty, 0);
}

/** Lands pages of the list, from page `at` on. */
export async function landPages(reading: Reading, pages: readonly Fetched[], at: number): Promise<Settled[]> {
  const raw = pages.map(({ page }) => page);
  const opened = await openPages(reading, raw, numberOf(reading, at));
  const shown = opened.flatMap((page, n) => (page === undefined ? [] : [newestOf(reading, page, pages[n]?.read ?? 0)]));
  const own = lastShown(shown);
  const joined = own.length === 0 ? undefined : joinPages(own);
  const landed = await landWithinLimits(reading, joined, own.length);
  const passedOver = count(opened) - count(own);
  const each = splitLanded(own, { ...landed, unchanged: landed.unchanged + passedOver });
  let next = 0;
  return opened.map((page) =>
    page === undefined ? { page, landed: NOTHING_LANDED } : { page, landed: each[next++] ?? NOTHING_LANDED },
  );
}

function count(pages: readonly (RecordPage | undefined)[]): number {
  return pages.reduce((sum, page) => sum + (page === undefined ? 0 : readableIds(page).length), 0);
}

/** Who was read by id since this page was asked for is newer than what the page shows. */
function newestOf(reading: Reading, page: OpenedPage, read: number): OpenedPage {
  const ids = readableIds(page).toSorted().join(' ');
  assertMoved(reading.stream, page.page, ids, reading.before);
  reading.before = ids;
  const isNewest = (id: unknown): boolean => (reading.readById.get(String(id)) ?? 0) < read;
  const items = page.items.filter((item) => isNewest(item['id']));
  const unchanged = page.unchanged?.filter(({ id }) => isNewest(id)) ?? [];
  return { ...page, items, unchanged };
}

/** Keeps what stands on these pages; with `again` those who were on them when they were read before as well. */
export async function keepSettled(
  reading: Reading,
  settled: readonly Settled[],
  at: number,
  again = false,
): Promise<void> {
  const pages = settled.flatMap(({ page, landed }, n) => {
    if (page === undefined) return [];
    const also = again ? { also: page.kept?.ids ?? [] } : {};
    return [{ number: numberOf(reading, at + n), page, rows: landed.rows, ...also }];
  });
  if (pages.some(({ page }) => page.unreadable.some(({ id }) => id === undefined)))
    reading.tally = { ...reading.tally, isUnsure: true };
  await keepOpened(reading, pages);
}

/** The list, or this part of it, ends before this page. */
async function dropBehind({ deps, key, run, stream }: Reading, page: number): Promise<void> {
  const size = pagesOf(stream);
  const first = run.segment * size;
  // Behind the last part there may be pages of one that is gone.
  const isLast = stream.parent !== undefined && run.segment + 1 >= (stream.segments?.length ?? 0);
  await dropPages(deps.store, key, first + page, isLast ? MOST_PAGES : first + size);
}

const MOST_PAGES = 2 ** 31 - 1;

function numberOf({ run, stream }: Reading, page: number): number {
  return run.segment * pagesOf(stream) + page;
}

function pagesOf({ parent }: PullStream): number {
  return parent === undefined ? PAGES_A_SEGMENT : PAGES_A_PARENT;
}

/** Returns how many records are newly in it. */
export async function settleQuarantine(
  reading: Reading,
  { at, outcome, landed }: { at: number; outcome: Parameters<typeof quarantineChanges>[2]; landed: LandedPage },
): Promise<number> {
  const { deps, key, quarantine, run } = reading;
  const page = numberOf(reading, at);
  const ids = landed.rows.map(({ id }) => id);
  const { over, news } = quarantineChanges(quarantine, page, outcome, ids);
  if (over.length + news.length === 0) return 0;
  // Where another run took over, the page that follows finds so too.
  if (!(await changeQuarantine(deps.store, key, run.run_id, { page, over, news }))) return 0;
  reading.quarantine = await readQuarantine(deps.store, key);
  return news.length;
}

const HRIS_MS = 60_000;
/** Ids a read: a million rows at once would be more than all else that a worker holds of them. */
const IDS_A_READ = 10_000;

/**
 * The whole list was read: who was landed and stands on no page is missing, and whom two passes missed is gone. Says
 * how many of those are left alone.
 */
async function endPass(reading: Reading): Promise<number> {
  const { deps, key, run, destination, tally } = reading;
  const seen = await readSeenIds(deps.store, key);
  const { landed, missing } = await compareLanded(reading, seen);
  const gone = tally.isUnsure ? [] : await settleMissing(reading, landed, missing);
  if (!tally.isUnsure) await noteMarked(reading, seen);
  const removed = await removeGone(reading, gone);
  await releaseUnlisted(reading, seen);
  const { stream } = reading;
  const until = Number(run.started_at);
  const about = stream.fetch === undefined ? undefined : [WHOLE_LIST];
  await clearHintsUntil(deps.store, { ...key, until }, about);
  await completePass(deps.store, key, {
    whole_at: until,
    listed: seen.size,
    landed: landed - removed,
    mapping_hash: destination.origin.mappingHash,
  });
  return gone.length - removed;
}

/** Whoever was marked before the policy spoke of them, or in another store: they are compared no more. */
async function noteMarked({ deps, key, connection, destination: { landing } }: Reading, seen: SeenIds): Promise<void> {
  if (!asksAboutGone(connection, key)) return;
  let after: string | undefined;
  do {
    const own = { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS) };
    const ids = await landing.ids(key.stream, { ...own, after, most: IDS_A_READ, withGone: true });
    const unseen = ids.filter((id) => !seen.has(id));
    for (const some of batchesOf(unseen)) {
      const hashes = await landing.hashes(key.stream, some, own);
      const marked = some.filter((id) => hashes.get(id) === '');
      await noteCases(deps.store, { tenantId: key.tenantId, cause: 'gone' }, marked);
    }
    after = ids.length < IDS_A_READ ? undefined : ids.at(-1);
  } while (after !== undefined);
}

function asksAboutGone({ tenant }: Connection, { stream }: Reading['key']): boolean {
  return stream === 'candidates' && tenant.policies.privacy.gone !== 'mark';
}

/** How many rows are landed, and which of them nobody saw. */
async function compareLanded(
  { destination, key }: Reading,
  seen: SeenIds,
): Promise<{ landed: number; missing: string[] }> {
  const missing: string[] = [];
  let landed = 0;
  let after: string | undefined;
  do {
    const some = { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS), after, most: IDS_A_READ };
    const ids = await destination.landing.ids(key.stream, some);
    landed += ids.length;
    missing.push(...ids.filter((id) => !seen.has(id)));
    after = ids.length < IDS_A_READ ? undefined : ids.at(-1);
  } while (after !== undefined);
  return { landed, missing };
}

/** Notes who is missing, and returns who is believed to be gone. */
async function settleMissing(reading: Reading, landed: number, missing: readonly string[]): Promise<string[]> {
  const { deps, key, run } = reading;
  const known = new Map((await readMissing(deps.store, key)).map((one) => [one.recordId, one]));
  const isBelieved = (id: string): boolean => known.get(id)?.isBelieved === true;
  const unbelieved = missing.filter((id) => !isBelieved(id));
  const excess = judgeMissing(unbelieved.length, landed - missing.length + unbelieved.length);
  if (excess !== undefined) await stopAt(reading, excess, unbelieved.length);
  const again = unbelieved.filter((id) => wasMissedBefore(known.get(id), run.run_id));
  const first = unbelieved.filter((id) => !known.has(id));
  await addMissing(deps.store, key, { runId: run.run_id, ids: first, believed: false });
  await believeMissing(deps.store, key, again);
  const stillMissing = new Set(missing);
  await forgetMissing(
    deps.store,
    key,
    [...known.keys()].filter((id) => !stillMissing.has(id)),
  );
  return [...missing.filter(isBelieved), ...again];
}

function wasMissedBefore(missing: Missing | undefined, runId: string): boolean {
  return missing !== undefined && missing.runId !== runId;
}

/** Read by id before, left out, and no longer in the list. */
async function releaseUnlisted({ deps, key, run, quarantine }: Reading, seen: SeenIds): Promise<void> {
  const over = quarantine.filter((row) => row.page === NO_PAGE && !seen.has(row.record_key));
  if (over.length === 0) return;
  const change = { page: NO_PAGE, over: over.map((row) => row.record_key), news: [] };
  await changeQuarantine(deps.store, key, run.run_id, change);
}

const LOOK_MS = 30_000;

/** A page of the list, as far as its records had to be read. */
interface OpenedPage extends RecordPage {
  /** What the readable records came as, by their ids. */
  prints: ReadonlyMap<string, string>;
  /** The page as it was kept before. */
  kept: KeptPage | undefined;
  /** It shows whom it showed then and nobody else, each the same. */
  isAsKept: boolean;
}

/** Reads the records of pages but for those that came the same before and whose rows still stand. */
async function openPages(
  reading: Reading,
  pages: readonly (RawPage | undefined)[],
  first: number,
): Promise<(OpenedPage | undefined)[]> {
  const { deps, key, recognition } = reading;
  const numbers = pages.flatMap((page, n) => (page === undefined ? [] : [first + n]));
  const kept = await readKeptPages(deps.store, key, numbers);
  const printed = pages.map((page, n): PrintedPage | undefined => {
    if (page === undefined) return undefined;
    const before = kept.get(first + n);
    if (recognition === undefined) return { page, kept: before, prints: undefined, known: new Map() };
    const prints = page.raw.map((record) => fingerprintOf(record, recognition));
    return { page, kept: before, prints, known: decodeKnown(recognition, before?.known) };
  });
  const standing = await readStanding(reading, printed);
  return printed.map((page) => (page === undefined ? undefined : openPage(reading, page, standing)));
}

/** A page, and by what its records may be known again. */
interface PrintedPage {
  page: RawPage;
  kept: KeptPage | undefined;
  /** What each record came as; undefined where every record has to be read. */
  prints: string[] | undefined;
  known: KnownRecords;
}

function openPage(
  { stream, run }: Reading,
  { page, kept, prints, known }: PrintedPage,
  standing: ReadonlyMap<string, string>,
): OpenedPage {
  if (prints === undefined) {
    const read = readRecords(stream, page, run.segment);
    const items = stream.toRecords === undefined ? firstOfEach(read.items) : read.items;
    return { ...read, items, prints: new Map(), kept, isAsKept: false };
  }
  const unchanged = new Map<string, RowFacts>();
  const byId = new Map<string, string>();
  const rest: number[] = [];
  for (const [index, print] of prints.entries()) {
    const facts = known.get(print);
    if (facts === undefined || !isRow(facts, standing.get(facts.id))) rest.push(index);
    else {
      unchanged.set(print, facts);
      byId.set(facts.id, print);
    }
  }
  const isAsKept = rest.length === 0 && unchanged.size === known.size && kept?.ids.length === known.size;
  const raw = rest.flatMap((index) => page.raw[index] ?? []);
  const read = readRecords(stream, { ...page, raw }, run.segment);
  const unreadable = read.unreadable.map((one) => ({ ...one, index: rest[one.index] ?? one.index }));
  const left = new Set(unreadable.map(({ index }) => index));
  const readable = rest.filter((index) => !left.has(index));
  const items = read.items.filter(({ id }, n) => {
    const isFirst = !byId.has(String(id));
    if (isFirst) byId.set(String(id), prints[readable[n] ?? -1] ?? '');
    return isFirst;
  });
  return { ...read, items, unreadable, unchanged: [...unchanged.values()], prints: byId, kept, isAsKept };
}

/** Where a record stands on a page twice, the first counts; so it does in `openPage`. */
function firstOfEach(items: RecordPage['items']): RecordPage['items'] {
  return [...new Map(items.toReversed().map((item) => [item['id'], item])).values()].toReversed();
}

/** The hashes of the rows of those records that are known, by their ids. */
async function readStanding(
  { destination, key }: Reading,
  pages: readonly (PrintedPage | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = pages.flatMap((page) => page?.prints?.flatMap((print) => page.known.get(print)?.id ?? []) ?? []);
  if (ids.length === 0 || destination.force) return new Map();
  const options = { tenant: key.tenantId, signal: AbortSignal.timeout(LOOK_MS) };
  return destination.landing.hashes(key.stream, ids, options);
}

/** A page as it is to be kept; `rows` stand there now, `also` were on it when it was read before. */
interface PageToKeep {
  number: number;
  page: OpenedPage;
  rows: readonly RowFacts[];
  also?: readonly string[];
}

/**
 * Keeps who stands on which page, to tell at the end who stands on none, and what they came as. A page that is as it
 * was costs no write.
 */
async function keepOpened({ deps, key, recognition }: Reading, pages: readonly PageToKeep[]): Promise<void> {
  const records = pages.flatMap(({ page }) => readableIds(page).map((id) => ({ id })));
  const erased = await erasedRecords(deps.store, key, records);
  const changed = pages.flatMap(({ number, page, rows, also = [] }): [number, KeptPage][] => {
    if (page.isAsKept && rows.length === page.unchanged?.length) return [];
    const shown = [...readableIds(page), ...page.unreadable.flatMap(({ id }) => id ?? [])];
    const ids = [...new Set([...also, ...shown])].filter((id) => !erased.has(id)).toSorted();
    const known = recognition === undefined ? null : encodeKnown(recognition, knownOf(page, rows));
    return page.kept?.known === known && page.kept.ids.join() === ids.join() ? [] : [[number, { ids, known }]];
  });
  await keepPages(deps.store, key, new Map(changed));
}

function knownOf({ prints }: OpenedPage, rows: readonly RowFacts[]): KnownRecords {
  const known = rows.map((row) => [prints.get(row.id) ?? '', row] as const);
  return new Map(known.filter(([print]) => print !== '').toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Ids a statement. */
const BATCH = 100;

/** Does on the other side what the tenant's policy says. Returns how many rows were taken away or marked. */
export async function removeGone(reading: Reading, ids: readonly string[]): Promise<number> {
  const { deps, key, connection, destination } = reading;
  if (ids.length === 0) return 0;
  // Before a row is marked, and then by `noteMarked` as well.
  if (asksAboutGone(connection, key)) await noteCases(deps.store, { tenantId: key.tenantId, cause: 'gone' }, ids);
  if (key.stream === 'consents') await forgetConsents(deps.store, key.tenantId, ids);
  const { deletion } = connection.tenant.streams[key.stream];
  if (deletion === 'ignore') return 0;
  // A table of before this was the default may have no column for it.
  if (deletion === undefined && !(await canMark(reading))) return 0;
  let removed = 0;
  for (let from = 0; from < ids.length; from += BATCH) {
    const some = ids.slice(from, from + BATCH);
    if (!(await isStillOurs(reading))) break;
    const signal = (): AbortSignal => AbortSignal.timeout(HRIS_MS);
    removed += await removeRows(destination, some, { mark: deletion !== 'delete', signal });
    await forgetMissing(deps.store, key, some);
  }
  if (removed > 0)
    deps.log.info(
      { ...key, removed, deletion: deletion ?? 'mark', mapping: destination.origin.mappingHash },
      'gone records',
    );
  return removed;
}

async function canMark({ destination: { landing }, key }: Reading): Promise<boolean> {
  return (await landing.marks?.(key.stream, { signal: AbortSignal.timeout(LOOK_MS) })) ?? false;
}
