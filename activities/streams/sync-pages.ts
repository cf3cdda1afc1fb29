import { isConnectorError } from '../../src/errors.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import { BY_ITSELF } from '../../src/store/foreign-writes.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../../src/store/schema.ts';
import { beginRun, commitPage, refuseRun, type StreamKey } from '../../src/store/streams.ts';
import { fetchAhead } from '../../src/streams/fetch-ahead.ts';
import { type LandedPage, landPage, noLanding } from '../../src/streams/land-page.ts';
import type { Destination } from '../../src/streams/land-rows.ts';
import {
  advance,
  countsOf,
  fallAt,
  lastPageOf,
  outcomeOf,
  type PageOutcome,
  quarantineChanges,
  stepOf,
} from '../../src/streams/page-outcome.ts';
import { assertMoved, firstPageOf, PAGE_SIZE, type RecordPage, readPage } from '../../src/streams/read-page.ts';
import { settleOpenWrites } from '../../src/streams/settle-open-writes.ts';
import type { StreamInput, StreamStep } from '../../src/streams/stream-activities.ts';
import { type PullName, pullStreams } from '../../src/streams/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { currentRecords } from '../fields/current-records.ts';
import { fittedMapping } from '../fields/fitted-mapping.ts';
import { guarded } from '../guarded.ts';
import { keepMapping } from '../keep-mapping.ts';

/** Pages under way at once; a killed worker fetches at most so many and the one being written again. */
const AHEAD = 4;
/** One activity reads so many pages, or for so long: few events of history, and a deploy need not wait. */
const BATCH = { pages: 25, ms: 30_000 };
/** So often a batch reads again what may have slipped; a list that moves on is left to the next run. */
const MOST_REREADS = 5;

type Beat = (details: unknown) => void;

/**
 * Lands some pages of one stream, from the store's cursor on. The cursor moves after a page is written, so a repeat
 * writes nothing twice: the page's hashes are there by then. A cause that only a person can remove ends the run, and
 * the schedule begins the next.
 */
export function syncPages(deps: ActivityDeps, input: StreamInput, beat: Beat = () => undefined): Promise<StreamStep> {
  const { tenantId, stream, runId, full } = input;
  const key = { tenantId, stream };
  return guarded(deps, tenantId, async (connection) => {
    const run = await beginRun(deps.store, key, { runId, full, firstPage: firstPageOf(pullStreams[stream]) });
    if (run === undefined) return { state: input.begun ? 'superseded' : 'busy' };
    if (run.state !== 'running') return stepOf(run);
    // Before any page is read: what may not be written need not be fetched.
    await assertMayWrite(deps.store, tenantId);
    try {
      return await readOn(await openReading(deps, connection, key, run), beat);
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      await refuseRun(deps.store, key, runId, error);
      deps.log.error({ ...key, code: error.code, reason: error.message }, 'stream refused');
      return { state: 'refused', code: error.code };
    }
  });
}

interface Reading {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey & { stream: PullName };
  destination: Destination;
  /** The run as the store has it. */
  run: StreamRow;
  quarantine: QuarantineRow[];
  /** Ids of the page before. */
  before: string | undefined;
  /** Pages fetched at the same time. */
  ahead: number;
  rereads: number;
}

async function openReading(
  deps: ActivityDeps,
  connection: Connection,
  key: Reading['key'],
  run: StreamRow,
): Promise<Reading> {
  const { tenantId, stream } = key;
  const { landing } = connection.hris;
  const mapping = connection.landings[stream];
  if (landing === undefined || mapping === undefined) throw noLanding(connection.tenant.hris.kind, stream);
  const { store } = deps;
  await keepMapping(store, connection.tenant, { subject: stream, mapping });
  await settleOpenWrites(store, landing, { tenant: tenantId, stream });
  const origin = { tenantId, runId: run.run_id, mappingHash: mapping.hash, by: BY_ITSELF };
  const fitted = await fittedMapping(deps, connection, stream, mapping);
  const destination = { landing, mapping: fitted, tenant: tenantId, stream, force: run.is_full === 1, store, origin };
  const quarantine = await readQuarantine(deps.store, key);
  return { deps, connection, key, destination, run, quarantine, before: undefined, ahead: AHEAD, rereads: 0 };
}

async function readOn(reading: Reading, beat: Beat): Promise<StreamStep> {
  const { deps, key } = reading;
  const end = { page: reading.run.page + BATCH.pages, at: performance.now() + BATCH.ms };
  const isWanted = (page: number): boolean =>
    reading.run.state === 'running' && page < end.page && performance.now() < end.at && page <= lastPageOf(reading.run);
  for (;;) {
    const ended = await readInto(reading, isWanted, beat);
    if (ended === 'superseded') return { state: 'superseded' };
    if (ended === 'over') break;
    // From here on in order: no answer is older than the one before it.
    reading.ahead = 1;
    if (!(await readAgain(reading, ended.pages))) return { state: 'superseded' };
  }
  const { run } = reading;
  if (run.state !== 'running') deps.log.info({ ...key, state: run.state, ...countsOf(run) }, 'stream synced');
  return stepOf(run);
}

/** Settles pages until none is wanted, or until records may have slipped to so many pages before. */
async function readInto(
  reading: Reading,
  isWanted: (page: number) => boolean,
  beat: Beat,
): Promise<'over' | 'superseded' | { pages: number }> {
  for await (const { page } of fetchAhead(reading.run.page, reading.ahead, isWanted, (at) => fetchPage(reading, at))) {
    const pages = reading.rereads < MOST_REREADS ? await slippedOver(reading, page) : 0;
    if (pages > 0) return { pages };
    if (!(await settlePage(reading, page))) return 'superseded';
    const { page: next, seen, total } = reading.run;
    beat({ page: next, seen, total });
    if (reading.run.state !== 'running') break;
  }
  return 'over';
}

function fetchPage({ connection, key }: Reading, page: number): Promise<RecordPage | undefined> {
  return readPage(connection.partner, pullStreams[key.stream], page);
}

/** Over how many pages before this one records may have slipped. */
async function slippedOver(reading: Reading, page: RecordPage | undefined): Promise<number> {
  const { run } = reading;
  const before = run.page - firstPageOf(pullStreams[reading.key.stream]);
  if (page !== undefined) return Math.min(before, Math.ceil(fallAt(run, page) / PAGE_SIZE));
  if (run.total === null || run.seen >= run.total) return 0;
  // Nothing here although the total promised more: it is too high, unless it has fallen meanwhile.
  for (let back = 1; back <= before; back += 1) {
    const last = await fetchPage(reading, run.page - back);
    if (last !== undefined) return Math.min(before, Math.max(back - 1, Math.ceil(fallAt(run, last) / PAGE_SIZE)));
  }
  return 0;
}

/** Lands what has come to the pages before. The cursor stays, and so does the place in the list that it counts. */
async function readAgain(reading: Reading, pages: number): Promise<boolean> {
  const { deps, key } = reading;
  reading.rereads += 1;
  reading.before = undefined;
  for (let at = reading.run.page - pages; at < reading.run.page; at += 1) {
    const page = await fetchPage(reading, at);
    const landed = await land(reading, page);
    const counted = await settleQuarantine(reading, at, { isLast: false, quarantined: landed.quarantined }, landed.ids);
    const { created, updated } = landed;
    const counts = { unchanged: 0, created, updated, quarantined: counted };
    const { run } = reading;
    const outcome = { records: 0, total: page?.total ?? run.total ?? undefined, counts, state: run.state };
    if (!(await commitPage(deps.store, key, run.run_id, { ...outcome, next: run.page }))) return false;
    reading.run = { ...advance(run, outcome), page: run.page };
  }
  return true;
}

/** Lands one page and moves the cursor past it. False when another run took over. */
async function settlePage(reading: Reading, page: RecordPage | undefined): Promise<boolean> {
  const { deps, key, run } = reading;
  const landed = await land(reading, page);
  const outcome = outcomeOf(run, page, landed);
  await settleQuarantine(reading, run.page, outcome, landed.ids);
  if (!(await commitPage(deps.store, key, run.run_id, { ...outcome, next: run.page + 1 }))) return false;
  reading.run = advance(run, outcome);
  return true;
}

async function land(reading: Reading, page: RecordPage | undefined): Promise<LandedPage> {
  if (page === undefined) return { unchanged: 0, created: 0, updated: 0, ids: [], quarantined: [] };
  const ids = page.items.map((item) => String(item['id'])).join(' ');
  assertMoved(pullStreams[reading.key.stream], page.page, ids, reading.before);
  reading.before = ids;
  return landPage(reading.destination, { ...page, items: await currentItems(reading, page.items) });
}

/** The page's records, once their custom fields are known to be those that the mapping means. */
async function currentItems({ deps, connection, key, destination }: Reading, items: RecordPage['items']) {
  const { name } = pullStreams[key.stream].record;
  const records = items.map((item) => ({ [name]: item }));
  const current = await currentRecords(deps, connection, destination.mapping, records);
  return current.map((record) => record[name] ?? {});
}

/** Returns how many records are newly in it. */
async function settleQuarantine(
  reading: Reading,
  page: number,
  outcome: Pick<PageOutcome, 'isLast' | 'quarantined'>,
  landed: readonly string[],
): Promise<number> {
  const { deps, key, quarantine, run } = reading;
  const { over, news } = quarantineChanges(quarantine, page, outcome, landed);
  if (over.length + news.length === 0) return 0;
  // Where another run took over, the page that follows finds so too.
  if (!(await changeQuarantine(deps.store, key, run.run_id, { page, over, news }))) return 0;
  reading.quarantine = await readQuarantine(deps.store, key);
  return news.length;
}
