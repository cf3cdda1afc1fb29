import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../store/open-store.ts';
import { listStreams } from '../../store/streams.ts';
import { countsOf } from '../../streams/page-outcome.ts';
import type { StreamCounts } from '../../streams/stream-activities.ts';

const PATIENCE_MS = 30_000;

/**
 * A run of every stream, by `<tenant>/<stream>`: the latest one, or the next to end where the latest is under way,
 * because a run's counts are whole only at its end. One that does not end within 30 s is counted as far as it came.
 */
export async function countStreams(store: Store, stop: AbortSignal): Promise<Record<string, StreamCounts>> {
  const ended = new Map<string, StreamCounts>();
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const rows = await listStreams(store);
    const isLast = stop.aborted || performance.now() > until;
    const counted = rows.map((row) => ({ row, key: `${row.tenant_id}/${row.stream}` }));
    for (const { row, key } of counted) {
      if (!ended.has(key) && (isLast || row.state !== 'running')) ended.set(key, countsOf(row));
    }
    if (ended.size === rows.length) return Object.fromEntries(ended);
    await pause(50);
  }
}
