import { readDefinitions } from '../../../activities/fields/read-definitions.ts';
import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
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
  const ids = pairs.map(({ jobCandidateId }) => jobCandidateId);
  const fetched = await patiently(() => fetchJobCandidates(connection, ids, 'bulk'));
  const records: SourceRecord[] = [];
  for (const [index, { pairId, candidateId }] of pairs.entries()) {
    const jobCandidate = fetched[index]?.jobCandidate;
    const candidate = jobCandidate?.candidate_details ?? undefined;
    const employee = await connection.hris.employees.read(pairId, AbortSignal.timeout(READ_MS));
    if (jobCandidate === undefined || candidate === undefined || employee === undefined) continue;
    const sources = decodeCustomFields({ candidate, jobCandidate }, defined);
    records.push({ id: candidateId, sources, held: employee.fields });
  }
  return records;
}
