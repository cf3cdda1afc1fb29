import { audit } from '../../store/audit.ts';
import { addHints } from '../../store/hints.ts';
import { retryDeliveries } from '../../store/inbox-retry.ts';
import { retryLeftOutPairs } from '../../store/left-out-pairs.ts';
import { readQuarantine } from '../../store/quarantine.ts';
import { WHOLE_LIST } from '../../streams/stream.ts';
import { type StreamName, streamNames } from '../../streams/streams.ts';
import { hintStream } from '../../temporal/start-sync.ts';
import { assertKnownTenant } from '../assert-known-tenant.ts';
import type { OperatorParts } from '../operator-parts.ts';
import { assertKnownStream } from './assert-known-stream.ts';

export interface Retried {
  /** Records and pairs that are read again, by stream. */
  records: Partial<Record<StreamName, number>>;
  deliveries: number;
}

/**
 * Has the records and pairs read again that were left out, of one stream or of all, and without a stream the deliveries
 * relayed again that were given up. @throws ConnectorError TENANT_UNKNOWN, STREAM_UNKNOWN
 */
export async function retryFailed(
  { store, hires, tenants }: OperatorParts,
  { tenantId, stream, by }: { tenantId: string; stream: string | undefined; by: string },
): Promise<Retried> {
  assertKnownTenant(tenants, tenantId);
  if (stream !== undefined) assertKnownStream(stream);
  await audit(store, { by, tenantId, act: 'records-retried', details: stream ?? 'all of it' });
  const records: Retried['records'] = {};
  for (const name of stream === undefined ? streamNames : [stream as StreamName]) {
    const left = await readQuarantine(store, { tenantId, stream: name });
    const pairs = await retryLeftOutPairs(store, { tenantId, stream: name });
    if (left.length + pairs.length === 0) continue;
    // One whose id cannot be read is known by its place alone.
    const ids = left.map((row) => (row.record_key.startsWith('page ') ? WHOLE_LIST : row.record_key));
    await addHints(store, tenantId, name, [...new Set([...ids, ...pairs])]);
    await hintStream(hires, { tenantId, stream: name });
    records[name] = left.length + pairs.length;
  }
  const states = ['undeliverable'] as const;
  const deliveries = stream === undefined ? await retryDeliveries(store, { states, tenantId }) : 0;
  return { records, deliveries };
}
