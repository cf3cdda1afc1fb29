import { batchesOf, didChange, findsAny, given, inTransaction, locked, put, type Store } from './open-store.ts';
import type { QuarantineRow } from './schema.ts';
import { sealed } from './sealed-values.ts';
import { isUnderWay, ofStream, type StreamKey } from './streams.ts';

/** A record that was left out of its landing page. */
export interface Quarantined {
  /** The record's id, or its place if no id can be read. */
  key: string;
  /** Field names and codes; what an HR system said of an account or a document that it refused. */
  reason: string;
}

/** Records that one stream of a tenant, or all of them, left out. */
export async function readQuarantine(
  { kysely }: Store,
  { tenantId, stream }: { tenantId: string; stream?: string },
): Promise<QuarantineRow[]> {
  const all = kysely.selectFrom('quarantine').selectAll();
  return all
    .$call(given({ tenant_id: tenantId, stream }))
    .orderBy('page')
    .orderBy('record_key')
    .execute();
}

/** How many records of each stream are left out now. */
export async function countQuarantined(
  { kysely }: Store,
  tenantIds?: readonly string[],
): Promise<(StreamKey & { count: number })[]> {
  return kysely
    .selectFrom('quarantine')
    .select(['tenant_id as tenantId', 'stream', (eb) => eb.fn.countAll<number>().as('count')])
    .$call(given({ tenant_id: tenantIds }))
    .groupBy(['tenant_id', 'stream'])
    .execute();
}

/** The changes that one page makes. */
interface QuarantineChange {
  page: number;
  /** Keys of records that are readable again, or gone. */
  over: readonly string[];
  /** Records that are left out. */
  news: readonly Quarantined[];
}

/** Changes the quarantine only for the current run; a run that was suspended while another took over may not. */
export async function changeQuarantine(
  store: Store,
  key: StreamKey,
  runId: string,
  { page, over, news }: QuarantineChange,
): Promise<boolean> {
  return inTransaction(store, async (own) => {
    const run = own.kysely.selectFrom('streams').select('run_id').where(isUnderWay(key, runId));
    if (!(await findsAny(locked(store, run)))) return false;
    await release(own, key, over);
    await addToQuarantine(own, key, page, news);
    return true;
  });
}

/** Adds records to the quarantine; one that is there already only moves to its new page. */
async function addToQuarantine(
  store: Store,
  { tenantId, stream }: StreamKey,
  page: number,
  records: readonly Quarantined[],
): Promise<void> {
  const rows = records.map(async (record) => ({
    tenant_id: tenantId,
    stream,
    record_key: record.key,
    page,
    reason: await sealed(store, 'quarantine.reason', tenantId, record.reason),
    since: store.now,
  }));
  const key = ['tenant_id', 'stream', 'record_key'] as const;
  await put(store, 'quarantine', await Promise.all(rows), { key, set: ['page', 'reason'] });
}

async function release(store: Store, key: StreamKey, recordKeys: readonly string[]): Promise<void> {
  const own = store.kysely.deleteFrom('quarantine').where(ofStream(key));
  for (const some of batchesOf(recordKeys)) await own.where('record_key', 'in', some).execute();
}

type Counted = 'unchanged' | 'created' | 'updated' | 'skipped' | 'quarantined' | 'held';

interface Verdict {
  id: string;
  kind: Counted;
  reason?: string | undefined;
}

/** Shows that the run is alive. False if another run took over. */
export async function touchRun(store: Store, key: StreamKey, runId: string): Promise<boolean> {
  return didChange(store.kysely.updateTable('streams').set({ updated_at: store.now }).where(isUnderWay(key, runId)));
}

/**
 * Ends a run with its counts, and records what it left out and why; a run that was not `isWhole` leaves what was told
 * of other records. False if another run took over.
 */
export async function endPushRun(
  store: Store,
  key: StreamKey,
  runId: string,
  { verdicts: told, isWhole }: { verdicts: readonly Verdict[]; isWhole: boolean },
): Promise<boolean> {
  const known = await readQuarantine(store, key);
  const looked = new Set(told.map(({ id }) => id));
  const others = isWhole ? [] : known.filter(({ record_key: id }) => !looked.has(id));
  const left = others.map(({ record_key: id, reason }) => ({ id, kind: 'quarantined' as const, reason }));
  const verdicts: Verdict[] = [...told, ...left];
  const news = verdicts.flatMap(({ id, reason }) => (reason === undefined ? [] : [{ key: id, reason }]));
  const leftOut = new Set(news.map((one) => one.key));
  const over = known.filter((row) => !leftOut.has(row.record_key)).map((row) => row.record_key);
  const fresh = news.filter((one) => !known.some((row) => row.record_key === one.key && row.reason === one.reason));
  if (over.length + fresh.length > 0 && !(await changeQuarantine(store, key, runId, { page: 0, over, news: fresh })))
    return false;
  const count = (kind: Counted): number => verdicts.filter((one) => one.kind === kind).length;
  return didChange(
    store.kysely
      .updateTable('streams')
      .set({
        state: leftOut.size > 0 ? 'partial' : 'done',
        seen: verdicts.length,
        total: verdicts.length,
        unchanged: count('unchanged'),
        created: count('created'),
        updated: count('updated'),
        skipped: count('skipped'),
        quarantined: count('quarantined'),
        held: count('held'),
        updated_at: store.now,
        ended_at: store.now,
      })
      .where(isUnderWay(key, runId)),
  );
}
