import type { Store } from './open-store.ts';
import { changeQuarantine, readQuarantine } from './quarantine.ts';
import { isUnderWay, type StreamKey } from './streams.ts';

type Counted = 'unchanged' | 'created' | 'updated' | 'skipped' | 'quarantined' | 'held';

/** Shows that the run is alive. False if another run took over. */
export async function touchRun(store: Store, key: StreamKey, runId: string): Promise<boolean> {
  const { numUpdatedRows } = await store.kysely
    .updateTable('streams')
    .set({ updated_at: store.now })
    .where(isUnderWay(key, runId))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Ends a run with its counts, and records what it left out and why. False if another run took over. */
export async function endPushRun(
  store: Store,
  key: StreamKey,
  runId: string,
  verdicts: readonly { id: string; kind: Counted; reason?: string }[],
): Promise<boolean> {
  const news = verdicts.flatMap(({ id, reason }) => (reason === undefined ? [] : [{ key: id, reason }]));
  const leftOut = new Set(news.map((one) => one.key));
  const known = await readQuarantine(store, key);
  const over = known.filter((row) => !leftOut.has(row.record_key)).map((row) => row.record_key);
  const fresh = news.filter((one) => !known.some((row) => row.record_key === one.key && row.reason === one.reason));
  if (over.length + fresh.length > 0 && !(await changeQuarantine(store, key, runId, { page: 0, over, news: fresh })))
    return false;
  const count = (kind: Counted): number => verdicts.filter((one) => one.kind === kind).length;
  const { numUpdatedRows } = await store.kysely
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
    .where(isUnderWay(key, runId))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
