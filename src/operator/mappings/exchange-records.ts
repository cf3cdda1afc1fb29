import { createJobsList } from '../../../activities/exchange/jobs-list.ts';
import { type Reading, readSides } from '../../../activities/exchange/read-sides.ts';
import { readDefinitions } from '../../../activities/fields/read-definitions.ts';
import type { SourceRecord } from '../../mapping/compare-mappings.ts';
import { decodeCustomFields } from '../../mapping/decode-custom-fields.ts';
import { type LinkedPair, pairPages } from '../../store/linked-pairs.ts';
import { entityOf, type StreamName } from '../../streams/streams.ts';
import { type OpenTenant, patiently } from '../open-tenant.ts';

/** Ids of one call (section 8). */
const MOST_IDS = 100;

/** The linked pairs of a stream that goes both ways, as both sides hold them now; without those that lack a side. */
export async function* exchangeRecords(open: OpenTenant, stream: StreamName): AsyncGenerator<SourceRecord> {
  const { store, tenant, connection } = open;
  const entity = entityOf(stream);
  const scope = { tenantId: tenant.tenant, stream, entity, connection: tenant.hris.connection };
  const jobs = createJobsList(store, connection);
  let reading: Reading | undefined;
  for await (const pairs of pairPages(store, scope, MOST_IDS)) {
    reading ??= { connection, entity, jobs, defined: (await patiently(() => readDefinitions(connection))).fields };
    yield* await readPairs(open, reading, pairs);
  }
}

async function readPairs(
  { store }: OpenTenant,
  reading: Reading,
  pairs: readonly LinkedPair[],
): Promise<SourceRecord[]> {
  const { partner, hris } = await patiently(() => readSides(store, reading, pairs));
  const records: SourceRecord[] = [];
  for (const [index, { partnerId }] of pairs.entries()) {
    const shown = partner[index]?.sources;
    const held = hris[index];
    if (shown === undefined || held === undefined || 'failed' in held) continue;
    const { fields } = held;
    records.push({ id: partnerId, sources: decodeCustomFields(shown, reading.defined), held: fields });
  }
  return records;
}
