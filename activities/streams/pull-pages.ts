import type { ConnectorError } from '../../src/errors.ts';
import type { RawPage } from '../../src/partner/client/types.ts';
import { addHints, clearHints, type Hint, hintOfRecord, readHints, recordHinted } from '../../src/store/hints.ts';
import { readClock } from '../../src/store/open-store.ts';
import { changeQuarantine, type Quarantined, readQuarantine } from '../../src/store/quarantine.ts';
import { addMissing, forgetMissing } from '../../src/store/stream-missing.ts';
import type { StreamMode } from '../../src/store/stream-tables.ts';
import { holdStream, type StreamState } from '../../src/store/streams.ts';
import { type LandedPage, listOnlyTargets, NOTHING_LANDED } from '../../src/streams/land-page.ts';
import { countJoinable, countsOf, fallAt, lastPageOf, stepOf, unshownAt } from '../../src/streams/page-outcome.ts';
import {
  assertMoved,
  countRecords,
  fetchAhead,
  firstPageOf,
  PAGE_SIZE,
  type RecordPage,
  readableIds,
  readByIds,
  readPage,
  readParts,
  readRawPage,
} from '../../src/streams/read-page.ts';
import { followsHints, WHOLE_LIST } from '../../src/streams/stream.ts';
import type { PullInput, StreamInput, StreamStep } from '../../src/streams/stream-activities.ts';
import { pullStreams } from '../../src/streams/streams.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { createHeapRoom } from '../heap-growth.ts';
import { type Beat, commit, inRun, landWithinLimits, NO_PAGE, openReading, type Reading } from './reading.ts';
import { type Fetched, keepSettled, landPages, removeGone, settlePages, settleQuarantine } from './settle-pages.ts';

/**
 * One activity of a run: reads and lands the records of the run's mode, from the stored cursor on. The cursor moves
 * after a page is written, so a repeat finds the page's hashes in the store and writes nothing twice.
 */
export function pullPages(deps: ActivityDeps, input: PullInput, beat: Beat = () => undefined): Promise<StreamStep> {
  const { tenantId, stream, rewrite = false } = input;
  const key = { tenantId, stream };
  return inRun<StreamStep>(deps, input, {
    async begins(connection, state) {
      const mode = input.begun ? input.mode : await resolveMode(deps, connection, input, state);
      return { full: rewrite, firstPage: firstPageOf(pullStreams[stream]), mode };
    },
    stepOf,
    work: async (connection, run) => readOn({ ...(await openReading(deps, connection, key, run)), beat }, input),
    refuses: (error, state) => refusalOf(deps, key, error, state),
  });
}

async function resolveMode(
  { store }: ActivityDeps,
  { tenant }: Connection,
  { mode, tenantId, stream }: PullInput,
  state: StreamState | undefined,
): Promise<StreamMode> {
  if (mode !== 'incremental') return mode;
  const { every, wholeWithin } = tenant.streams[stream];
  const hasHints = followsHints(pullStreams[stream]) && tenant.partner.webhooks === 'on';
  const wholeAt = state?.whole_at ?? null;
  if (isWholeDue({ now: await readClock(store), wholeAt, every, wholeWithin, hasHints })) return 'full';
  const hints = await readHints(store, tenantId, stream);
  return hints.some(({ recordId }) => recordId === WHOLE_LIST) ? 'full' : 'incremental';
}

async function readOn(reading: Reading, { recordId }: PullInput): Promise<StreamStep> {
  const { deps, key } = reading;
  const mode = reading.run.mode ?? 'full';
  if (!(await readMode(reading, mode, recordId))) return { state: 'superseded' };
  const { run } = reading;
  if (run.state === 'running') return stepOf(run);
  deps.log.info({ ...key, mode, state: run.state, ...countsOf(run) }, 'stream synced');
  const isLeft = followsHints(reading.stream) && (await nextHints(reading, 0)).length > 0;
  return { ...stepOf(run), ...(isLeft && { againInMs: deps.limits.partnerLagMs }) };
}

/** Returns false if another run took over. */
async function readMode(reading: Reading, mode: StreamMode, recordId: string | undefined): Promise<boolean> {
  if (mode === 'one' && recordId !== undefined) {
    if (!(await readOne(reading, recordId))) return false;
  } else if (mode !== 'full' || followsHints(reading.stream)) {
    const drained = await drainHints(reading);
    if (drained !== 'over') return drained === 'more';
  }
  if (mode === 'full') return (await readList(reading)) === 'over';
  const { page, total, quarantined } = reading.run;
  const counts = { unchanged: 0, created: 0, updated: 0, quarantined: 0 };
  return commit(reading, { next: page, records: 0, total, counts, state: quarantined > 0 ? 'partial' : 'done' });
}

/** A stream that was read before and may not be read any more waits for a person. */
async function refusalOf(
  { store }: ActivityDeps,
  key: Reading['key'],
  error: ConnectorError,
  state: StreamState | undefined,
): Promise<{ code: string; message: string }> {
  const wasRead = (state?.whole_at ?? null) !== null;
  if (error.status !== 403 || !wasRead) return error;
  const message =
    `The key may no longer read ${key.stream}: ${error.message} [${error.code}] Landed records stay as they are. ` +
    `Give the key its permission back, then: hirebridge resume ${key.tenantId} ${key.stream}`;
  const lost = { code: 'PERMISSION_LOST', message };
  await holdStream(store, key, lost);
  return lost;
}

/**
 * How long one activity reads: short enough that a deploy need not wait, long enough to keep the history small. Not a
 * number of pages, because each end drops the pages requested ahead, and filling them again costs a round trip.
 */
const BATCH_MS = 30_000;
/** How often a batch rereads pages that records may have slipped to; after that the next run reads them. */
const MOST_REREADS = 5;
/** Most fetched pages that are settled together, with the statements of one page. */
const TOGETHER = 4;
/** A pass over more records is long and gets room for its garbage; most tenants at rest have fewer. */
const LONG_PASS = 2_000;

/** Reads and lands some pages from the run's cursor on. */
async function readList(reading: Reading): Promise<'over' | 'superseded'> {
  const end = performance.now() + BATCH_MS;
  const room = createHeapRoom();
  const isSettled = (): void => {
    if (reading.run.seen >= LONG_PASS) room.take();
  };
  try {
    for (;;) {
      const ended = await readSegment(reading, end, isSettled);
      if (ended !== 'next') return ended;
    }
  } finally {
    room.giveBack();
  }
}

async function readSegment(
  reading: Reading,
  end: number,
  isSettled: () => void,
): Promise<'over' | 'superseded' | 'next'> {
  const { segment } = reading.run;
  const isWanted = (page: number): boolean =>
    reading.run.state === 'running' &&
    reading.run.segment === segment &&
    performance.now() < end &&
    page <= lastPageOf(reading.run);
  for (;;) {
    const ended = await readInto(reading, isWanted, isSettled);
    if (ended === 'superseded') return 'superseded';
    if (ended === 'over') break;
    // From here on, one page at a time, so that no answer is older than the one before it.
    reading.ahead = 1;
    if (!(await readAgain(reading, ended.pages))) return 'superseded';
  }
  if (reading.run.segment === segment || reading.run.state !== 'running') return 'over';
  return performance.now() < end ? 'next' : 'over';
}

/**
 * Settles pages until no more are wanted, or until records may have slipped to `pages` earlier pages. A page that ends
 * the list unusually far before its total is read once more.
 */
async function readInto(
  reading: Reading,
  isWanted: (page: number) => boolean,
  isSettled: () => void,
): Promise<'over' | 'superseded' | { pages: number }> {
  const { segment } = reading.run;
  const isOn = (): boolean => reading.run.state === 'running' && reading.run.segment === segment;
  const fetching = { ahead: reading.ahead, together: TOGETHER };
  for await (const due of fetchAhead(reading.run.page, fetching, isWanted, (at) => fetchPage(reading, at))) {
    for (let rest = due; rest.length > 0 && isOn(); ) {
      const unshown = (reading.tally.unshown ?? 0) + unshownAt(reading.run, rest[0]?.page);
      if (unshown > (reading.state?.unshown ?? 0))
        rest = [await fetchPage(reading, reading.run.page), ...rest.slice(1)];
      const slipped = reading.rereads < MOST_REREADS ? await slippedOver(reading, rest[0]?.page) : 0;
      if (slipped > 0) return { pages: slipped };
      const pages = rest.map(({ page }) => page);
      // If an entry of the list may become several records, only a page that was read tells whether it is the last.
      const some = rest.slice(0, reading.stream.toRecords === undefined ? countJoinable(reading.run, pages) : 1);
      if (!(await settlePages(reading, some)) || !(await drainBetweenPages(reading))) return 'superseded';
      const { page: next, seen, total } = reading.run;
      isSettled();
      reading.beat({ page: next, seen, total });
      rest = rest.slice(some.length);
    }
    if (!isOn()) break;
  }
  return 'over';
}

async function fetchPage(reading: Reading, page: number): Promise<Fetched> {
  reading.reads += 1;
  const read = reading.reads;
  return { read, page: await readRawPage(reading.connection.partner, reading.stream, page, reading.run.segment) };
}

/** How many pages before this one records may have slipped to. */
async function slippedOver(reading: Reading, page: RawPage | undefined): Promise<number> {
  const { run } = reading;
  const before = run.page - firstPageOf(reading.stream);
  if (page !== undefined) return Math.min(before, Math.ceil(fallAt(run, page) / PAGE_SIZE));
  if (run.total === null || run.seen - run.seen_before >= run.total) return 0;
  // The page is empty although the total promised more: the total is too high, unless it fell in the meantime.
  for (let back = 1; back <= before; back += 1) {
    const { page: last } = await fetchPage(reading, run.page - back);
    if (last !== undefined) return Math.min(before, Math.max(back - 1, Math.ceil(fallAt(run, last) / PAGE_SIZE)));
  }
  return 0;
}

/** Lands records that moved to the pages before. The cursor and the list position that it counts stay. */
async function readAgain(reading: Reading, pages: number): Promise<boolean> {
  reading.rereads += 1;
  reading.tally = { ...reading.tally, isLoose: true };
  reading.before = undefined;
  for (let at = reading.run.page - pages; at < reading.run.page; at += 1) {
    const fetched = await fetchPage(reading, at);
    const settled = await landPages(reading, [fetched], at);
    const landed = settled[0]?.landed ?? NOTHING_LANDED;
    const outcome = { isLast: false, quarantined: landed.quarantined };
    const quarantined = await settleQuarantine(reading, { at, outcome, landed });
    await keepSettled(reading, settled, at, true);
    const { run } = reading;
    const { created, updated } = landed;
    const counts = { unchanged: 0, created, updated, quarantined, skipped: 0 };
    const total = fetched.page?.total ?? run.total;
    if (!(await commit(reading, { next: run.page, records: 0, total, counts, state: run.state }))) return false;
  }
  return true;
}

/** Lands a single record. Searches the list if the partner has no call by id. */
async function readOne(reading: Reading, id: string): Promise<boolean> {
  if (reading.stream.fetch !== undefined) return landByIds(reading, [id]);
  const found = await findInList(reading, id);
  const { unchanged, created, updated, quarantined } = await landWithinLimits(reading, found);
  const counts = { unchanged, created, updated, quarantined: quarantined.length, skipped: found === undefined ? 1 : 0 };
  const { page, total } = reading.run;
  return commit(reading, { next: page, records: found === undefined ? 0 : 1, total, counts, state: 'running' });
}

async function findInList({ connection, stream }: Reading, id: string): Promise<RecordPage | undefined> {
  const { segments = [{}] } = stream;
  for (const segment of segments.keys())
    for (let at = firstPageOf(stream); ; at += 1) {
      const page = await readPage(connection.partner, stream, at, segment);
      if (page === undefined) break;
      const items = page.items.filter((item) => String(item['id']) === id);
      const unreadable = page.unreadable.filter((item) => item.id === id);
      if (items.length + unreadable.length > 0) return { ...page, items, unreadable };
    }
  return undefined;
}

/** Most ids per call (section 4.3). */
const BATCH = 100;
const HRIS_MS = 30_000;

/** Reads all records with hints by their ids. `more`: the rest is left to the run's next activity. */
async function drainHints(reading: Reading): Promise<'over' | 'superseded' | 'more'> {
  const end = performance.now() + BATCH_MS;
  for (;;) {
    const hints = await nextHints(reading);
    if (hints.length === 0) return 'over';
    if (performance.now() >= end) return 'more';
    if (!(await landHinted(reading, hints, end))) return 'superseded';
  }
}

/** The same during a long pass, once a whole call's worth of hints is waiting. */
async function drainBetweenPages(reading: Reading): Promise<boolean> {
  if (!followsHints(reading.stream)) return true;
  const hints = await nextHints(reading);
  return hints.length < BATCH || landHinted(reading, hints, performance.now() + BATCH_MS);
}

/** A webhook may come before the partner surely shows what it tells of: such hints are left, and read again soon. */
async function nextHints({ deps, key }: Reading, agedMs = deps.limits.partnerLagMs): Promise<Hint[]> {
  const hints = await readHints(deps.store, key.tenantId, key.stream, BATCH + 1, agedMs);
  return hints.filter(({ recordId }) => recordId !== WHOLE_LIST).slice(0, BATCH);
}

/**
 * Lands records with hints, then clears their hints; parts of a list are cleared one by one, and none is begun after
 * `end`.
 */
async function landHinted(reading: Reading, hints: readonly Hint[], end: number): Promise<boolean> {
  const { deps, key } = reading;
  const ids = hints.map(({ recordId }) => recordId);
  const gone = new Set(hints.filter((hint) => hint.gone).map((hint) => hint.recordId));
  const { parent } = reading.stream;
  if (parent === undefined) {
    if (!(await landByIds(reading, ids, gone))) return false;
    await clearHints(deps.store, key.tenantId, key.stream, hints);
    return true;
  }
  const ofRecords = hints.filter(({ recordId }) => recordHinted(recordId) !== undefined);
  const parts = await partsOf(reading, parent.param, ofRecords);
  for (const [id, about] of Map.groupBy(hints, ({ recordId }) => parts.get(recordId) ?? recordId)) {
    if (recordHinted(id) !== undefined) continue;
    if (!(await landPart(reading, { [parent.param]: id }))) return false;
    await clearHints(deps.store, key.tenantId, key.stream, about);
    if (performance.now() >= end) return true;
  }
  const sought = ofRecords.filter(({ recordId }) => !parts.has(recordId));
  return sought.length === 0 || seekRecords(reading, parent, sought, end);
}

/** For each hint, the part of the list that the record was in when it landed, according to its row. */
async function partsOf(
  { destination: { landing }, key }: Reading,
  param: string,
  hints: readonly Hint[],
): Promise<Map<string, string>> {
  if (hints.length === 0) return new Map();
  const ids = hints.map(({ recordId }) => recordHinted(recordId) ?? recordId);
  const rows = await landing.read(key.stream, ids, { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS) });
  const known = rows.flatMap(({ id, fields: { [param]: part } }) => {
    const isNamed = (typeof part === 'string' && part !== '') || typeof part === 'number';
    return isNamed ? [[hintOfRecord(id), String(part)] as const] : [];
  });
  return new Map(known);
}

/**
 * Searches for records that never landed: reads the parts, those that our own rules invite to first, until all were
 * found. A record in no part does not exist yet: another event reports it, or the next whole pass finds it.
 */
async function seekRecords(
  reading: Reading,
  parent: NonNullable<Reading['stream']['parent']>,
  hints: readonly Hint[],
  end: number,
): Promise<boolean> {
  const { deps, key, connection } = reading;
  const { rules = [] } = connection.tenant.invitations ?? {};
  const ours = new Set(rules.map((rule) => String(rule.flow ?? rule.assessment)));
  const { segments } = await readParts(connection.partner, parent);
  const isOurs = (part: Record<string, unknown>): boolean => ours.has(String(part[parent.param]));
  const left = new Map(hints.map((hint) => [recordHinted(hint.recordId) ?? '', hint]));
  for (const part of [...segments.filter(isOurs), ...segments.filter((one) => !isOurs(one))]) {
    if (!(await landPart(reading, part))) return false;
    const shown = [...left].filter(([id]) => reading.readById.has(id));
    const over = shown.map(([, hint]) => hint);
    await clearHints(deps.store, key.tenantId, key.stream, over);
    for (const [id] of shown) left.delete(id);
    if (left.size === 0) return true;
    if (performance.now() < end) continue;
    // A pass over the whole list can continue where it stopped; this search would start again.
    await addHints(deps.store, key.tenantId, key.stream, [WHOLE_LIST]);
    break;
  }
  await clearHints(deps.store, key.tenantId, key.stream, [...left.values()]);
  return true;
}

/** Lands one whole part of the list, named by the record that the part belongs to. */
async function landPart(reading: Reading, part: Record<string, unknown>): Promise<boolean> {
  const stream = { ...reading.stream, segments: [part] };
  let before: string | undefined;
  for (let [at, read] = [firstPageOf(stream), 0]; ; at += 1) {
    reading.reads += 1;
    const page = await readPage(reading.connection.partner, stream, at);
    const records = countRecords(page);
    if (page === undefined || records === 0) return true;
    const ids = readableIds(page).toSorted().join(' ');
    assertMoved(stream, at, ids, before);
    before = ids;
    for (const { id } of page.items) reading.readById.set(String(id), reading.reads);
    const landed = await landWithinLimits(reading, page);
    await forgetMissing(reading.deps.store, reading.key, readableIds(page));
    const { seen, total } = reading.run;
    if (!(await commitBeside(reading, landed, { records }))) return false;
    reading.beat({ page: at, seen, total });
    read += records;
    if (page.total !== undefined && read >= page.total) return true;
  }
}

/** Lands records by id. `gone`: an event says that they were deleted; a read without them confirms it. */
async function landByIds(
  reading: Reading,
  ids: readonly string[],
  gone: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const { connection, stream } = reading;
  const { fetch } = stream;
  if (fetch === undefined) return true;
  reading.reads += 1;
  for (const id of ids) reading.readById.set(id, reading.reads);
  const read = await readByIds(connection.partner, { ...stream, fetch }, ids);
  const page = { ...read, ...(await readStanding(reading, ids)) };
  const landed = await landWithinLimits(reading, page);
  const readable = page.items.map((item) => String(item['id']));
  const shown = new Set([...readable, ...page.unreadable.flatMap(({ id }) => id ?? [])]);
  const absent = ids.filter((id) => !shown.has(id));
  await noteAbsent(reading, { shown: [...shown], absent, gone });
  const records = page.items.length + page.unreadable.length;
  return commitBeside(reading, landed, { records, skipped: absent.length });
}

/** Commits records landed outside the pass over the list; the pass keeps its position and its record count. */
async function commitBeside(
  reading: Reading,
  landed: LandedPage,
  { records, ...more }: { records: number; skipped?: number },
): Promise<boolean> {
  const quarantined = await quarantineByIds(reading, landed);
  const { unchanged, created, updated } = landed;
  const counts = { unchanged, created, updated, quarantined, ...more };
  const { page: next, total, segment: number, seen_before: before } = reading.run;
  const segment = { number, seenBefore: before + records };
  return commit(reading, { next, records, total, counts, state: 'running', segment });
}

/** Reads the current rows if some of their fields come only from the list. */
async function readStanding(
  { destination: { landing, mapping }, key }: Reading,
  ids: readonly string[],
): Promise<Pick<RecordPage, 'rowsBefore'>> {
  if (listOnlyTargets(mapping, key.stream).length === 0) return {};
  const rows = await landing.read(key.stream, ids, { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS) });
  return { rowsBefore: new Map(rows.map(({ id, fields }) => [id, fields])) };
}

async function noteAbsent(
  reading: Reading,
  { shown, absent, gone }: { shown: string[]; absent: string[]; gone: ReadonlySet<string> },
): Promise<void> {
  const { deps, key, run } = reading;
  await forgetMissing(deps.store, key, shown);
  if (absent.length === 0) return;
  const believed = absent.filter((id) => gone.has(id));
  const once = absent.filter((id) => !gone.has(id));
  await addMissing(deps.store, key, { runId: run.run_id, ids: believed, believed: true });
  await addMissing(deps.store, key, { runId: run.run_id, ids: once, believed: false });
  await removeGone(reading, believed);
}

/** Updates the quarantine. Returns how many records are new in it. */
async function quarantineByIds(reading: Reading, { rows, quarantined }: LandedPage): Promise<number> {
  const { deps, key, quarantine, run } = reading;
  const good = new Set(rows.map(({ id }) => id));
  const over = quarantine.map((row) => row.record_key).filter((id) => good.has(id));
  const known = new Set(quarantine.map((row) => `${row.record_key} ${row.reason}`));
  const news: Quarantined[] = quarantined.filter((one) => !known.has(`${one.key} ${one.reason}`));
  if (over.length + news.length === 0) return 0;
  if (!(await changeQuarantine(deps.store, key, run.run_id, { page: NO_PAGE, over, news }))) return 0;
  reading.quarantine = await readQuarantine(deps.store, key);
  return news.length;
}

/** A pass over the whole list, as workflows of earlier versions ask for it. */
export function syncPages(deps: ActivityDeps, input: StreamInput, beat?: Beat): Promise<StreamStep> {
  const { tenantId, stream, runId, full, begun } = input;
  return pullPages(deps, { tenantId, stream, runId, begun, mode: 'full', rewrite: full }, beat);
}

/** How a stream finds changes, and when it was last read as a whole; times are ms on the database's clock. */
interface Freshness {
  now: number;
  wholeAt: number | null;
  every: number | undefined;
  wholeWithin: number;
  /** Whether hints can be followed by reading records by id. */
  hasHints: boolean;
}

/** Whether a run should read the whole list: early enough that the pass ends before `wholeWithin` is over. */
export function isWholeDue({ now, wholeAt, every = 0, wholeWithin, hasHints }: Freshness): boolean {
  if (wholeAt === null || !hasHints) return true;
  return now - wholeAt >= wholeWithin - Math.min(2 * every, wholeWithin / 4);
}
