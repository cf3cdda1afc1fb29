import { fetchPeople } from '../../../activities/exchange/fetch-people.ts';
import { readDefinitions } from '../../../activities/fields/read-definitions.ts';
import type { SourceRecord } from '../../mapping/compare-mappings.ts';
import { decodeCustomFields } from '../../mapping/decode-custom-fields.ts';
import { type LinkedPair, pairPages } from '../../store/exchange-pairs.ts';
import type { StreamName } from '../../streams/streams.ts';
import { type OpenTenant, patiently } from '../open-tenant.ts';

/** Ids of one call (section 8). */
const MOST_IDS = 100;
const READ_MS = 30_000;

type Defined = Parameters<typeof decodeCustomFields>[1];

/** The linked pairs of a stream that goes both ways, as both sides hold them now; without those that lack a side. */
export async function* exchangeRecords(open: OpenTenant, stream: StreamName): AsyncGenerator<SourceRecord> {
  const { store, tenant, connection } = open;
  const scope = { tenantId: tenant.tenant, stream, connection: tenant.hris.connection };
  let defined: Defined | undefined;
  for await (const pairs of pairPages(store, scope, MOST_IDS)) {
    defined ??= (await patiently(() => readDefinitions(connection))).fields;
    yield* await readPairs(open, pairs, defined);
  }
}

async function readPairs(
  { connection }: OpenTenant,
  pairs: readonly LinkedPair[],
  defined: Defined,
): Promise<SourceRecord[]> {
  const people = await patiently(() => fetchPeople(connection, pairs, defined));
  const records: SourceRecord[] = [];
  for (const [index, { pairId, candidateId }] of pairs.entries()) {
    const employee = await connection.hris.employees.read(pairId, AbortSignal.timeout(READ_MS));
    const shown = people[index]?.sources;
    if (shown === undefined || employee === undefined) continue;
    records.push({ id: candidateId, sources: decodeCustomFields(shown, defined), held: employee.fields });
  }
  return records;
}
