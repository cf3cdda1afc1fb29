import type { Landing } from '../hris/port.ts';
import { readOpenWrites, settleWrite } from '../store/foreign-writes.ts';
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
  for (let from = 0; from < open.length; from += MOST_IDS) {
    const some = open.slice(from, from + MOST_IDS);
    const ids = [...new Set(some.map((row) => row.record_id))];
    const stored = await landing.read(stream, ids, { tenant, signal: AbortSignal.timeout(READ_MS) });
    const hashes = new Map(stored.map((row) => [row.id, row.hash]));
    for (const row of some)
      await settleWrite(store, row, hashes.get(row.record_id) === (row.row_hash ?? undefined) ? 'done' : 'absent');
  }
}
