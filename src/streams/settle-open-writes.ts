import type { Landing } from '../hris/port.ts';
import { batchesOf } from '../store/batches.ts';
import { concludeWrites, readOpenWrites } from '../store/foreign-writes.ts';
import type { Store } from '../store/open-store.ts';
import type { PullName } from './streams.ts';

const READ_MS = 30_000;
const MOST_IDS = 100;

/** A process that died while it wrote left rows open: what the landing table holds says whether they arrived. */
export async function settleOpenWrites(
  store: Store,
  landing: Landing,
  { tenant, stream }: { tenant: string; stream: PullName },
): Promise<void> {
  const open = await readOpenWrites(store, tenant, stream);
  const ids = [...new Set(open.map((row) => row.record_id))];
  const hashes = new Map<string, string>();
  for (const some of batchesOf(ids, MOST_IDS)) {
    const stored = await landing.read(stream, some, { tenant, signal: AbortSignal.timeout(READ_MS) });
    for (const { id, hash } of stored) hashes.set(id, hash);
  }
  for (const [batchId, rows] of Map.groupBy(open, (row) => row.batch_id)) {
    const absent = rows.filter((row) => hashes.get(row.record_id) !== (row.row_hash ?? undefined));
    await concludeWrites(
      store,
      batchId,
      absent.map((row) => row.record_id),
    );
  }
}
