import type { Store } from '../../store/open-store.ts';
import { listStreams } from '../../store/streams.ts';

export interface StreamCount {
  read: number;
  unchanged: number;
  created: number;
  updated: number;
  skipped: number;
  quarantined: number;
  held: number;
}

/** The latest run of every stream, by `<tenant>/<stream>`. */
export async function countStreams(store: Store): Promise<Record<string, StreamCount>> {
  const rows = await listStreams(store);
  return Object.fromEntries(
    rows.map(({ tenant_id, stream, seen: read, unchanged, created, updated, skipped, quarantined, held }) => [
      `${tenant_id}/${stream}`,
      { read, unchanged, created, updated, skipped, quarantined, held },
    ]),
  );
}
