import { readDefinitions } from '../../../activities/fields/read-definitions.ts';
import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
import type { SourceRecord } from '../../mapping/compare-mappings.ts';
import { decodeCustomFields } from '../../mapping/decode-custom-fields.ts';
import { listPairs } from '../../store/exchange-pairs.ts';
import type { StreamName } from '../../streams/streams.ts';
import { type OpenTenant, patiently } from '../open-tenant.ts';

/** Ids of one call (section 8). */
const MOST_IDS = 100;
const READ_MS = 30_000;

/** The linked pairs of a stream that goes both ways, as both sides hold them now; without those that lack a side. */
export async function* exchangeRecords(open: OpenTenant, stream: StreamName): AsyncGenerator<SourceRecord> {
  const { store, tenant } = open;
  const scope = { tenantId: tenant.tenant, stream, connection: tenant.hris.connection };
  for (let after: string | null = null; ; ) {
    const pairs = await listPairs(store, scope, after, MOST_IDS);
    yield* await readPairs(open, pairs);
    const last = pairs.at(-1);
    if (last === undefined || pairs.length < MOST_IDS) return;
    after = last.pairId;
  }
}

async function readPairs(
  { connection }: OpenTenant,
  pairs: Awaited<ReturnType<typeof listPairs>>,
): Promise<SourceRecord[]> {
  if (pairs.length === 0) return [];
  const { fields: defined } = await patiently(() => readDefinitions(connection));
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
