import { addHints } from '../store/hints.ts';
import type { LeasedDelivery } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import { hintOfRecord, WHOLE_LIST } from '../streams/stream.ts';
import { streams as kinds, type StreamName } from '../streams/streams.ts';
import type { Coalesced } from './coalesced.ts';
import { dispatchOf } from './dispatch.ts';

export interface StreamHinter {
  store: Store;
  /** Whether a tenant's stream is scheduled: otherwise its hints would never be processed. */
  runsByItself: (tenantId: string, stream: StreamName) => boolean;
  /** Requests that the hints of a tenant's stream be processed; see `streamKey`. */
  streamHints: Coalesced;
}

/** By record, whether the latest event says that it is gone. */
type Told = ReadonlyMap<string, boolean>;

/**
 * Records which records some deliveries of one tenant name, oldest first, and requests that they be read. One statement
 * for each stream, however many deliveries. Returns the deliveries that any stream took.
 */
export async function hintStreams(
  hinter: StreamHinter,
  deliveries: readonly LeasedDelivery[],
): Promise<Set<LeasedDelivery>> {
  const taken = new Set<LeasedDelivery>();
  const told = new Map<StreamName, Map<string, boolean>>();
  for (const delivery of deliveries)
    for (const [stream, ids] of namedIn(hinter, delivery)) {
      taken.add(delivery);
      const gone = dispatchOf(delivery.event).gone?.includes(stream) === true;
      const records = told.get(stream) ?? new Map<string, boolean>();
      for (const id of ids) records.set(id, gone && id !== WHOLE_LIST);
      told.set(stream, records);
    }
  const [{ tenantId } = { tenantId: '' }] = deliveries;
  for (const [stream, records] of told) await hintRecords(hinter, { tenantId, stream }, records);
  return taken;
}

/** The streams that take a delivery, each with the records it names, or the whole list if it names none. */
function namedIn({ runsByItself }: StreamHinter, { tenantId, event, ids }: LeasedDelivery): [StreamName, string[]][] {
  const { streams = {}, records = {}, ifNamed = [] } = dispatchOf(event);
  const entries = Object.entries(streams) as [StreamName, string][];
  return entries
    .filter(
      ([stream, kind]) => runsByItself(tenantId, stream) && !(ifNamed.includes(stream) && ids[kind] === undefined),
    )
    .map(([stream, kind]) => {
      const named = ids[kind] ?? [];
      if (named.length > 0) return [stream, [...named]];
      const ofParts = (ids[records[stream] ?? ''] ?? []).map(hintOfRecord);
      return [stream, ofParts.length > 0 ? ofParts : [WHOLE_LIST]];
    });
}

/** Records that these records must be read again, and requests it. */
export async function hintRecords(
  { store, streamHints }: StreamHinter,
  { tenantId, stream }: { tenantId: string; stream: StreamName },
  records: Told,
): Promise<void> {
  for (const [gone, together] of Map.groupBy(records, ([, isGone]) => isGone))
    await addHints(
      store,
      tenantId,
      stream,
      together.map(([id]) => id),
      gone,
    );
  const kind = kinds[stream];
  if (kind.kind !== 'push' || kind.followsHints === true) await streamHints.ask(streamKey(tenantId, stream));
}

/** One key for coalescing; tenant names contain no space. */
export function streamKey(tenantId: string, stream: StreamName): string {
  return `${tenantId} ${stream}`;
}

export function ofStreamKey(key: string): { tenantId: string; stream: StreamName } {
  const [tenantId = '', stream = ''] = key.split(' ');
  return { tenantId, stream: stream as StreamName };
}
