import { clearHints, type Hint, readHints } from '../../src/store/hints.ts';
import { changeQuarantine, type Quarantined, readQuarantine } from '../../src/store/quarantine.ts';
import { addMissing, forgetMissing } from '../../src/store/stream-missing.ts';
import type { LandedPage } from '../../src/streams/land-page.ts';
import { listOnlyTargets } from '../../src/streams/map-record.ts';
import { type RecordPage, readByIds } from '../../src/streams/read-page.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import { landWithinLimits } from './land-within-limits.ts';
import { commit, NO_PAGE, type Reading } from './reading.ts';
import { removeGone } from './remove-gone.ts';

/** Ids a call, the most that section 4.3 allows. */
const BATCH = 100;
const HRIS_MS = 30_000;

/** Reads by their ids all records that are hinted at. False when another run took over. */
export async function drainHints(reading: Reading): Promise<boolean> {
  for (;;) {
    const hints = await nextHints(reading);
    if (hints.length === 0) return true;
    if (!(await landHinted(reading, hints))) return false;
  }
}

/** The same in the course of a long pass, a whole call at a time. */
export async function drainBetweenPages(reading: Reading): Promise<boolean> {
  if (reading.stream.fetch === undefined) return true;
  const hints = await nextHints(reading);
  return hints.length < BATCH || landHinted(reading, hints);
}

async function nextHints({ deps, key }: Reading): Promise<Hint[]> {
  const hints = await readHints(deps.store, key.tenantId, key.stream, BATCH + 1);
  return hints.filter(({ recordId }) => recordId !== WHOLE_LIST).slice(0, BATCH);
}

/** Hints are cleared once their records have landed. */
async function landHinted(reading: Reading, hints: readonly Hint[]): Promise<boolean> {
  const { deps, key } = reading;
  const ids = hints.map(({ recordId }) => recordId);
  if (!(await landByIds(reading, ids, new Set(hints.filter(({ gone }) => gone).map((hint) => hint.recordId)))))
    return false;
  await clearHints(deps.store, key.tenantId, key.stream, hints);
  return true;
}

/** `gone`: those of which an event says so; a read that does not show them either is believed. */
export async function landByIds(
  reading: Reading,
  ids: readonly string[],
  gone: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const { connection, stream, run } = reading;
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
  const quarantined = await quarantineByIds(reading, landed);
  const { unchanged, created, updated } = landed;
  const records = page.items.length + page.unreadable.length;
  const counts = { unchanged, created, updated, quarantined, skipped: absent.length };
  // Beside the list: its own count of records stays as it is.
  const segment = { number: run.segment, seenBefore: run.seen_before + records };
  return commit(reading, { next: run.page, records, total: run.total, counts, state: 'running', segment });
}

/** What stands in the rows, where something of it comes from the list alone. */
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

/** Returns how many records are newly in it. */
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
