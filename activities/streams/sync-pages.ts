import { isConnectorError } from '../../src/errors.ts';
import type { StreamName } from '../../src/hris/port.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { Page } from '../../src/partner/client/types.ts';
import { addToQuarantine, type Quarantined, readQuarantine, release } from '../../src/store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../../src/store/schema.ts';
import { beginRun, commitPage, refuseRun, type StreamKey } from '../../src/store/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded } from '../guarded.ts';
import { fetchAhead } from './fetch-ahead.ts';
import { type LandedPage, landPage, noRoom } from './land-page.ts';
import { assertMoved, firstPageOf, PAGE_SIZE, readPage } from './read-page.ts';
import type { StreamInput, StreamStep } from './stream-activities.ts';

/** Pages under way at once; a killed worker fetches at most so many and the one being written again. */
const AHEAD = 4;
/** One activity reads so many pages, or for so long: few events of history, and a deploy need not wait. */
const BATCH = { pages: 25, ms: 30_000 };

type Beat = (details: unknown) => void;

/**
 * Lands some pages of one stream, from the store's cursor on. The cursor moves after a page is written, so a repeat writes nothing twice: the
 * page's hashes are there by then. A cause that only a person can cure ends the run, and the schedule begins the next.
 */
export function syncPages(deps: ActivityDeps, input: StreamInput, beat: Beat = () => undefined): Promise<StreamStep> {
  const key: StreamKey = { tenantId: input.tenantId, stream: input.stream };
  return guarded(deps, input.tenantId, async (connection) => {
    const begun = { runId: input.runId, full: input.full, firstPage: firstPageOf(input.stream) };
    const run = await beginRun(deps.store, key, begun);
    if (run === undefined) return { state: input.begun ? 'superseded' : 'busy' };
    if (run.state !== 'running') return stepOf(run);
    try {
      const mapping = connection.landings[input.stream];
      if (mapping === undefined) throw noRoom(connection.tenant.hris.kind, input.stream);
      const reading = await openReading(deps, connection, { key, stream: input.stream, mapping, run });
      return await readOn(reading, beat);
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      await refuseRun(deps.store, key, input.runId, error);
      deps.log.error({ ...key, code: error.code, reason: error.message }, 'stream refused');
      return { state: 'refused', code: error.code };
    }
  });
}

interface Reading {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey;
  stream: StreamName;
  mapping: Mapping;
  /** The run as the store has it, kept up to date here. */
  run: StreamRow;
  quarantine: QuarantineRow[];
  /** Ids of the page before. */
  before: string | undefined;
}

async function openReading(
  deps: ActivityDeps,
  connection: Connection,
  facts: Pick<Reading, 'key' | 'stream' | 'mapping' | 'run'>,
): Promise<Reading> {
  const quarantine = await readQuarantine(deps.store, facts.key);
  return { deps, connection, ...facts, quarantine, before: undefined };
}

async function readOn(reading: Reading, beat: Beat): Promise<StreamStep> {
  const { run, connection, stream } = reading;
  const end = { page: run.page + BATCH.pages, at: performance.now() + BATCH.ms };
  const wanted = (page: number): boolean =>
    run.state === 'running' && page < end.page && performance.now() < end.at && page <= lastPage(run);
  const pages = fetchAhead(run.page, AHEAD, wanted, (page) => readPage(connection, stream, page));
  for await (const { page } of pages) {
    if (!(await settlePage(reading, page))) return { state: 'superseded' };
    beat({ page: run.page, seen: run.seen, total: run.total });
    if (run.state !== 'running') break;
  }
  if (run.state !== 'running')
    reading.deps.log.info({ ...reading.key, state: run.state, ...countsOf(run) }, 'stream synced');
  return stepOf(run);
}

/** The last page that is known to hold something; the next one, where the partner tells no total. */
function lastPage({ page, seen, total }: StreamRow): number {
  return total === null ? page : page - 1 + Math.ceil((total - seen) / PAGE_SIZE);
}

/** Lands one page and moves the cursor past it. False when another run took over. */
async function settlePage(reading: Reading, page: Page<Record<string, unknown>> | undefined): Promise<boolean> {
  const { deps, connection, key, run, stream, mapping } = reading;
  const records = page === undefined ? 0 : page.items.length + page.unreadable.length;
  const total = page?.total ?? run.total ?? undefined;
  const isLast = records === 0 || (total !== undefined && run.seen + records >= total);
  let landed: LandedPage = { unchanged: 0, created: 0, updated: 0, ids: [], quarantined: [] };
  if (page !== undefined) {
    const ids = page.items.map((item) => String(item['id'])).join(' ');
    assertMoved(stream, page.page, ids, reading.before);
    reading.before = ids;
    const landing = { hris: connection.hris, mapping, tenant: key.tenantId, stream, force: run.is_full === 1 };
    landed = await landPage(landing, page);
  }
  landed.quarantined.push(...passedBy(run, page));
  await settleQuarantine(reading, landed, isLast);
  const counts = { ...landed, quarantined: landed.quarantined.length };
  const skipped = run.quarantined + counts.quarantined > 0;
  const state = isLast ? (skipped ? 'partial' : 'done') : 'running';
  const next = run.page + 1;
  if (!(await commitPage(deps.store, key, run.run_id, { next, records, total, counts, state }))) return false;
  Object.assign(run, {
    page: next,
    seen: run.seen + records,
    total: total ?? null,
    unchanged: run.unchanged + counts.unchanged,
    created: run.created + counts.created,
    updated: run.updated + counts.updated,
    quarantined: run.quarantined + counts.quarantined,
    state,
  });
  return true;
}

/**
 * Somebody deleted records while the list was read, so that others moved from this page to one that was read before: they cannot be named, but the
 * run has left something out. The next one finds them. An addition at the same moment hides it from everybody.
 */
function passedBy(run: StreamRow, page: Page<unknown> | undefined): Quarantined[] {
  if (run.total === null) return [];
  const fewer = page === undefined ? run.total - run.seen : run.total - (page.total ?? run.total);
  if (fewer <= 0) return [];
  const reason = `the list became shorter by ${fewer} while it was read: as many records may have passed by, and the next run reads them`;
  return [{ key: `page ${run.page}, the list`, reason }];
}

/** Writes only what differs: records newly left out, and those that this page shows to be readable, or no longer there. */
async function settleQuarantine(reading: Reading, landed: LandedPage, isLast: boolean): Promise<void> {
  const { deps, key, quarantine } = reading;
  const { page } = reading.run;
  if (quarantine.length === 0 && landed.quarantined.length === 0) return;
  const bad = new Set(landed.quarantined.map((one) => one.key));
  const good = new Set(landed.ids);
  const isOver = (row: QuarantineRow): boolean =>
    !bad.has(row.record_key) && (good.has(row.record_key) || row.page === page || (isLast && row.page > page));
  const known = new Set(quarantine.map((row) => `${row.record_key} ${row.page} ${row.reason}`));
  const news = landed.quarantined.filter((one) => !known.has(`${one.key} ${page} ${one.reason}`));
  const over = quarantine.filter(isOver).map((row) => row.record_key);
  await release(deps.store, key, over);
  await addToQuarantine(deps.store, key, page, news);
  if (over.length + news.length > 0) reading.quarantine = await readQuarantine(deps.store, key);
}

function countsOf({ seen: read, unchanged, created, updated, quarantined }: StreamRow) {
  return { read, unchanged, created, updated, quarantined };
}

function stepOf(run: StreamRow): StreamStep {
  return {
    state: run.state,
    counts: countsOf(run),
    ...(run.refused_code === null ? {} : { code: run.refused_code }),
  };
}
