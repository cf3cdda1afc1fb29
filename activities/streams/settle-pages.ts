import { isConnectorError } from '../../src/errors.ts';
import type { RawPage } from '../../src/partner/client/types.ts';
import { forgetConsents } from '../../src/store/consents.ts';
import { addHints, clearHintsUntil } from '../../src/store/hints.ts';
import { batchesOf } from '../../src/store/open-store.ts';
import { noteCases } from '../../src/store/privacy-cases.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import {
  addMissing,
  believeMissing,
  dropPages,
  forgetMissing,
  type KeptPage,
  keepPages,
  readKeptPages,
  readMissing,
  readSeenIds,
  type SeenIds,
} from '../../src/store/stream-missing.ts';
import { completePass, forgetAllowed } from '../../src/store/streams.ts';
import { judgeEmptyList, judgeMissing } from '../../src/streams/change-limits.ts';
import { decodeKnown, encodeKnown, fingerprintOf, isRow, type KnownRecords } from '../../src/streams/known-records.ts';
import { type LandedPage, NOTHING_LANDED, removeRows } from '../../src/streams/land-page.ts';
import {
  endedShort,
  fallAt,
  joinPages,
  lastShown,
  outcomesOf,
  quarantineChanges,
  repeatedOn,
  riseAt,
  splitLanded,
  unshownAt,
} from '../../src/streams/page-outcome.ts';
import {
  areDenied,
  assertMoved,
  firstPageOf,
  type RecordPage,
  type RowFacts,
  readableIds,
  readRecords,
  unshownById,
} from '../../src/streams/read-page.ts';
import { type PullStream, WHOLE_LIST } from '../../src/streams/stream.ts';
import { erasedRecords } from '../../src/streams/without-erased.ts';
import type { Connection } from '../connections.ts';
import { commit, isStillOurs, landWithinLimits, NO_PAGE, type Reading, stopAt, TOO_MUCH_AS_ONE } from './reading.ts';

/** In the store, the pages of one part of a list are numbered from a multiple of this. */
const PAGES_A_SEGMENT = 1_000_000;
/** The same for lists with one part per record of many; the number must fit into 31 bits. */
const PAGES_A_PARENT = 10_000;

/** A page, and the number of the run's read that asked for it. */
export interface Fetched {
  page: RawPage | undefined;
  read: number;
}

/** A page whose rows are written, and its left-out records. */
interface Settled {
  page: OpenedPage | undefined;
  landed: LandedPage;
}

/** Errors that may mean that several pages took longer than the HR system's time for one. */
const TOO_SLOW_AS_ONE = ['HRIS_BUSY', 'LANDING_BUSY', 'STOPPED'];

/**
 * Lands consecutive pages and moves the cursor past them. Returns false if another run took over. If the pages together
 * would change too much, they are landed one by one, so that always the same page stops a run. If the HR system was too
 * slow for several pages, all later ones are landed one by one too.
 */
export async function settlePages(reading: Reading, pages: readonly Fetched[]): Promise<boolean> {
  if (reading.isSingly) return settleSingly(reading, pages);
  const { tally } = reading;
  try {
    return await settleAsOne(reading, pages);
  } catch (error) {
    // If the tally changed, the pages have landed, and the failure was not their size.
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
  // An empty page is always settled alone.
  const unshown = (reading.tally.unshown ?? 0) + unshownAt(run, pages[0]?.page);
  const grown = (reading.tally.grown ?? 0) + riseAt(run, pages[0]?.page);
  const isLoose = reading.tally.isLoose === true || pages.some(({ page }) => page !== undefined && !page.total);
  reading.tally = { ...reading.tally, unshown, grown, isLoose };
  const isOver = committed.state !== 'running';
  const behind = run.page + pages.filter(({ page }) => page !== undefined).length;
  if (isOver || committed.segment !== undefined) await dropBehind(reading, behind);
  const next = committed.segment === undefined ? run.page + pages.length : firstPageOf(stream);
  const ended = isOver ? await endPass(reading) : { skipped: 0, isShort: false, repeated: 0 };
  const counts = { ...committed.counts, skipped: ended.skipped };
  const told = [
    ...(ended.isShort ? [endedShort(run.page, unshown)] : []),
    ...(ended.repeated > 0 ? [repeatedOn(run.page, ended.repeated)] : []),
  ];
  if (told.length === 0) return commit(reading, { ...committed, next, counts });
  const outcome = { isLast: true, quarantined: told };
  await settleQuarantine(reading, { at: behind, outcome, landed: NOTHING_LANDED });
  const quarantined = counts.quarantined + told.length;
  return commit(reading, { ...committed, next, state: 'partial', counts: { ...counts, quarantined } });
}

/** Stops the run if a list that held records is empty now. */
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

/** Drops records that were read by id after this page was asked for, because those are newer. */
function newestOf(reading: Reading, page: OpenedPage, read: number): OpenedPage {
  const ids = readableIds(page).toSorted().join(' ');
  assertMoved(reading.stream, page.page, ids, reading.before);
  reading.before = ids;
  const isNewest = (id: unknown): boolean => (reading.readById.get(String(id)) ?? 0) < read;
  const items = page.items.filter((item) => isNewest(item['id']));
  const unchanged = page.unchanged?.filter(({ id }) => isNewest(id)) ?? [];
  return { ...page, items, unchanged };
}

/** Stores what is on these pages; with `again`, keeps the ids of the earlier reading as well. */
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

/** Drops stored pages from this page on, because the list, or this part of it, ends before it. */
async function dropBehind({ deps, key, run, stream }: Reading, page: number): Promise<void> {
  const size = pagesOf(stream);
  const first = run.segment * size;
  // Behind the last part there may be pages of a part that is gone.
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

/** Updates the quarantine. Returns how many records are new in it. */
export async function settleQuarantine(
  reading: Reading,
  { at, outcome, landed }: { at: number; outcome: Parameters<typeof quarantineChanges>[2]; landed: LandedPage },
): Promise<number> {
  const { deps, key, quarantine, run } = reading;
  const page = numberOf(reading, at);
  const ids = landed.rows.map(({ id }) => id);
  const { over, news } = quarantineChanges(quarantine, page, outcome, ids);
  if (over.length + news.length === 0) return 0;
  // If another run took over, the next page notices that too.
  if (!(await changeQuarantine(deps.store, key, run.run_id, { page, over, news }))) return 0;
  reading.quarantine = await readQuarantine(deps.store, key);
  return news.length;
}

const HRIS_MS = 60_000;
/** Ids per read: a million rows at once would need more memory than everything else a worker holds of them. */
const IDS_A_READ = 10_000;

/**
 * The whole list was read: a landed record that is on no page is missing, and one that two passes missed is gone.
 * `skipped`: how many of the gone ones are left alone. `isShort`: the list ended further before its total than is usual
 * for it. `repeated`: how many records stand on two pages though the list did not grow: as many may be on no page.
 */
async function endPass(reading: Reading): Promise<{ skipped: number; isShort: boolean; repeated: number }> {
  const { deps, key, run, destination, tally, state } = reading;
  const seen = await readSeenIds(deps.store, key, pagesOf(reading.stream));
  const repeated = tally.isLoose === true ? 0 : Math.max(0, seen.repeated - (tally.grown ?? 0));
  const { landed, missing } = await compareLanded(reading, seen);
  const unshown = tally.unshown ?? 0;
  const usual = state?.unshown ?? 0;
  const isShort = unshown > usual;
  const isUnsure =
    tally.isUnsure ||
    (repeated > 0 && reading.stream.fetch === undefined) ||
    (isShort && !(await areDenied(reading.connection.partner, reading.stream, missing)));
  const gone = isUnsure ? [] : await settleMissing(reading, landed, missing);
  if (!isUnsure) await noteMarked(reading, seen);
  const removed = await removeGone(reading, gone);
  const { stream, quarantine } = reading;
  // Records that were read by id, quarantined, and are no longer in the list.
  const unlisted = quarantine.filter((row) => row.page === NO_PAGE && !seen.has(row.record_key));
  const over = unlisted.map((row) => row.record_key);
  if (over.length > 0) await changeQuarantine(deps.store, key, run.run_id, { page: NO_PAGE, over, news: [] });
  const until = Number(run.started_at);
  const about = stream.fetch === undefined ? undefined : [WHOLE_LIST];
  await clearHintsUntil(deps.store, { ...key, until }, about);
  if (tally.mapping !== destination.origin.mappingHash) {
    deps.log.info(key, 'the mapping was changed during the pass: the next run reads the whole list again');
    await addHints(deps.store, key.tenantId, key.stream, [WHOLE_LIST]);
    await forgetAllowed(deps.store, key);
    return { skipped: gone.length - removed, isShort, repeated };
  }
  await completePass(deps.store, key, {
    whole_at: until,
    listed: seen.size,
    landed: landed - removed,
    mapping_hash: destination.origin.mappingHash,
    unshown: isUnsure ? Math.min(usual, unshown) : unshown,
  });
  return { skipped: gone.length - removed, isShort, repeated };
}

/**
 * Opens cases for rows marked before the policy covered them, or marked by another store: they are no longer compared.
 */
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

/** Counts the landed rows and returns those that no page showed. */
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

/**
 * Stores who is missing, and returns who is believed to be gone. A list may leave out a record in each pass: one that
 * the partner still shows by its id is read by it in the next run.
 */
async function settleMissing(reading: Reading, landed: number, missing: readonly string[]): Promise<string[]> {
  const { deps, key, run } = reading;
  const known = new Map((await readMissing(deps.store, key)).map((one) => [one.recordId, one]));
  const isBelieved = (id: string): boolean => known.get(id)?.isBelieved === true;
  const unbelieved = missing.filter((id) => !isBelieved(id));
  const excess = judgeMissing(unbelieved.length, landed - missing.length + unbelieved.length);
  if (excess !== undefined) await stopAt(reading, excess, unbelieved.length);
  // Missed by an earlier pass. A run that takes up a dead worker's pass has its own id and the beginning of that pass.
  const twice = unbelieved.filter((id) => {
    const before = known.get(id);
    return before !== undefined && before.runId !== run.run_id && before.since <= Number(run.started_at);
  });
  const again = await unshownById(reading.connection.partner, reading.stream, twice);
  const there = [...new Set(twice).difference(new Set(again))];
  await addHints(deps.store, key.tenantId, key.stream, there);
  const first = unbelieved.filter((id) => !known.has(id));
  await addMissing(deps.store, key, { runId: run.run_id, ids: first, believed: false });
  await believeMissing(deps.store, key, again);
  const back = [...new Set(known.keys()).difference(new Set(missing))];
  await forgetMissing(deps.store, key, [...back, ...there]);
  return [...missing.filter(isBelieved), ...again];
}

const LOOK_MS = 30_000;

/** A page of the list; its records were read only as far as needed. */
interface OpenedPage extends RecordPage {
  /** Fingerprints of the readable records, by id. */
  prints: ReadonlyMap<string, string>;
  /** The page as stored before. */
  kept: KeptPage | undefined;
  /** The page shows exactly the same records as before, unchanged. */
  isAsKept: boolean;
}

/** Reads the records of pages, except those with the same fingerprint as before whose rows still exist. */
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

/** A page with the fingerprints that may recognise its records. */
interface PrintedPage {
  page: RawPage;
  kept: KeptPage | undefined;
  /** Fingerprint of each record; undefined if every record must be read. */
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
    // If a page shows a record twice, the first one counts, as below.
    const first = new Map(read.items.toReversed().map((item) => [item['id'], item]));
    const items = stream.toRecords === undefined ? [...first.values()].toReversed() : read.items;
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

/** Row hashes of the known records, by id. */
async function readStanding(
  { destination, key }: Reading,
  pages: readonly (PrintedPage | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = pages.flatMap((page) => page?.prints?.flatMap((print) => page.known.get(print)?.id ?? []) ?? []);
  if (ids.length === 0 || destination.force) return new Map();
  const options = { tenant: key.tenantId, signal: AbortSignal.timeout(LOOK_MS) };
  return destination.landing.hashes(key.stream, ids, options);
}

/** A page to store. `rows` are on it now; `also` were on it at an earlier reading. */
interface PageToKeep {
  number: number;
  page: OpenedPage;
  rows: readonly RowFacts[];
  also?: readonly string[];
}

/**
 * Stores which records are on which page, to tell at the end which are on none, with their fingerprints. A page that
 * has not changed costs no write.
 */
async function keepOpened({ deps, key, recognition }: Reading, pages: readonly PageToKeep[]): Promise<void> {
  const records = pages.flatMap(({ page }) => readableIds(page).map((id) => ({ id })));
  const erased = await erasedRecords(deps.store, key, records);
  const changed = pages.flatMap(({ number, page, rows, also = [] }): [number, KeptPage][] => {
    if (page.isAsKept && rows.length === page.unchanged?.length) return [];
    const shown = [...readableIds(page), ...page.unreadable.flatMap(({ id }) => id ?? [])];
    const ids = [...new Set([...also, ...shown])].filter((id) => !erased.has(id)).toSorted();
    const printed = rows.map((row) => [page.prints.get(row.id) ?? '', row] as const).filter(([print]) => print !== '');
    const sorted = printed.toSorted(([one], [other]) => (one < other ? -1 : 1));
    const known = recognition === undefined ? null : encodeKnown(recognition, new Map(sorted));
    return page.kept?.known === known && page.kept.ids.join() === ids.join() ? [] : [[number, { ids, known }]];
  });
  await keepPages(deps.store, key, new Map(changed));
}

/** Ids per statement. */
const BATCH = 100;

/** Handles gone records at the landing side by the tenant's policy. Returns how many rows were removed or marked. */
export async function removeGone(reading: Reading, ids: readonly string[]): Promise<number> {
  const { deps, key, connection, destination } = reading;
  if (ids.length === 0) return 0;
  // Open the case before marking the row; otherwise only `noteMarked` would open it.
  if (asksAboutGone(connection, key)) await noteCases(deps.store, { tenantId: key.tenantId, cause: 'gone' }, ids);
  if (key.stream === 'consents') await forgetConsents(deps.store, key.tenantId, ids);
  const { deletion } = connection.tenant.streams[key.stream];
  if (deletion === 'ignore') return 0;
  // A table created before marking became the default may lack the column.
  const marks = async () => destination.landing.marks?.(key.stream, { signal: AbortSignal.timeout(LOOK_MS) });
  if (deletion === undefined && (await marks()) !== true) return 0;
  let removed = 0;
  for (const some of batchesOf(ids, BATCH)) {
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
