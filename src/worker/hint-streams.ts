import { addHints } from '../store/hints.ts';
import type { LeasedDelivery } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import { WHOLE_LIST } from '../streams/stream.ts';
import { streams as kinds, type StreamName } from '../streams/streams.ts';
import type { Coalesced } from './coalesced.ts';
import type { Dispatch } from './dispatch.ts';

export interface StreamHinter {
  store: Store;
  /** Whether a tenant's stream runs by itself: only then somebody follows its hints. */
  runsByItself: (tenantId: string, stream: StreamName) => boolean;
  /** Has the hints of a tenant's stream followed; see `streamKey`. */
  streamHints: Coalesced;
}

/** Writes down which records a delivery is about, and asks for them to be read. Says whether any stream took it. */
export async function hintStreams(
  { store, runsByItself, streamHints }: StreamHinter,
  { tenantId, ids }: LeasedDelivery,
  { streams = {}, gone = false }: Dispatch,
): Promise<boolean> {
  const entries = Object.entries(streams) as [StreamName, keyof LeasedDelivery['ids']][];
  const wanted = entries.filter(([stream]) => runsByItself(tenantId, stream));
  for (const [stream, kind] of wanted) {
    const named = ids[kind] ?? [];
    await addHints(store, tenantId, stream, named.length === 0 ? [WHOLE_LIST] : named, gone && named.length > 0);
    // An exchange reads all its pairs in each run: it takes its hints first, at the next one.
    if (kinds[stream].kind === 'pull') await streamHints.ask(streamKey(tenantId, stream));
  }
  return wanted.length > 0;
}

/** One key for what is coalesced; no tenant has a space in its name. */
export function streamKey(tenantId: string, stream: StreamName): string {
  return `${tenantId} ${stream}`;
}

export function ofStreamKey(key: string): { tenantId: string; stream: StreamName } {
  const [tenantId = '', stream = ''] = key.split(' ');
  return { tenantId, stream: stream as StreamName };
}
