import type { Store } from '../../store/open-store.ts';
import { listStreams } from '../../store/streams.ts';
import { countsOf } from '../../streams/page-outcome.ts';
import type { StreamCounts } from '../../streams/stream-activities.ts';

/** The latest run of every stream, by `<tenant>/<stream>`. */
export async function countStreams(store: Store): Promise<Record<string, StreamCounts>> {
  const rows = await listStreams(store);
  return Object.fromEntries(rows.map((row) => [`${row.tenant_id}/${row.stream}`, countsOf(row)]));
}
