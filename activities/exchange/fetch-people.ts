import pLimit from 'p-limit';
import { isConnectorError } from '../../src/errors.ts';
import type { MappingSources } from '../../src/mapping/read-source.ts';
import { isNotShown, isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import type { ReadItems } from '../../src/partner/client/types.ts';
import type { Candidate } from '../../src/partner/contract/candidates.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { LinkedPair } from '../../src/store/linked-pairs.ts';
import type { Connection } from '../connections.ts';
import { type Fetched, fetchJobCandidates } from '../presence/fetch-job-candidates.ts';

/** A pair's record at the partner: the sources of a mapping, or why it cannot be read, or empty if it is not shown. */
export interface FetchedRecord {
  sources?: MappingSources;
  /** Id of the job the person was hired for. */
  jobId?: string;
  unreadable?: string;
}

type PartnerSide = Pick<Connection, 'partner'>;

/** How many people's custom fields are read at once. */
const AT_ONCE = 8;

/**
 * Fetches the people of some pairs, in their order, with one call per hundred. People linked by import have no known
 * application, and a candidate shows no custom fields (section 2.3), so their custom fields need one call each if any
 * are `defined`.
 */
export async function fetchPeople(
  connection: PartnerSide,
  pairs: readonly LinkedPair[],
  defined: readonly FieldDefinition[],
): Promise<FetchedRecord[]> {
  const jobCandidateIds = pairs.flatMap(({ hire }) => hire?.jobCandidateId ?? []);
  const imported = pairs.filter(({ hire }) => hire === undefined).map(({ partnerId }) => partnerId);
  const [applications, candidates] = await Promise.all([
    jobCandidateIds.length === 0 ? [] : fetchJobCandidates(connection, jobCandidateIds, 'bulk'),
    imported.length === 0 ? new Map<string, FetchedRecord>() : fetchCandidates(connection, imported, defined),
  ]);
  const byApplication = new Map(jobCandidateIds.map((id, index) => [id, ofApplication(applications[index] ?? {})]));
  const ofHire = ({ hire }: LinkedPair): FetchedRecord =>
    hire === undefined ? {} : (byApplication.get(hire.jobCandidateId) ?? {});
  const deleted = pairs.filter((pair) => pair.hire !== undefined && Object.keys(ofHire(pair)).length === 0);
  const left = await fetchLeft(connection, deleted, defined);
  return pairs.map((pair) => {
    if (pair.hire === undefined) return candidates.get(pair.partnerId) ?? {};
    return deleted.includes(pair) ? (left.get(pair.partnerId) ?? {}) : ofHire(pair);
  });
}

/** If a person's application was deleted, the candidate still exists. */
async function fetchLeft(
  connection: PartnerSide,
  pairs: readonly LinkedPair[],
  defined: readonly FieldDefinition[],
): Promise<ReadonlyMap<string, FetchedRecord>> {
  const ids = [...new Set(pairs.map(({ partnerId }) => partnerId))];
  return ids.length === 0 ? new Map() : fetchCandidates(connection, ids, defined);
}

function ofApplication({ jobCandidate, unreadable }: Fetched): FetchedRecord {
  if (unreadable !== undefined) return { unreadable };
  if (jobCandidate === undefined) return {};
  const { candidate_details: candidate, jobId } = jobCandidate;
  // Without the profile, each of its fields would read as emptied.
  if (candidate === null || candidate === undefined) return { unreadable: 'it shows no candidate_details' };
  return { sources: { candidate, jobCandidate }, jobId: String(jobId) };
}

async function fetchCandidates(
  connection: PartnerSide,
  candidateIds: readonly string[],
  defined: readonly FieldDefinition[],
): Promise<Map<string, FetchedRecord>> {
  const fetched = await fetchProfiles(connection, candidateIds);
  const limit = pLimit(AT_ONCE);
  const people = fetched.items.map((candidate) =>
    limit(async (): Promise<[string, FetchedRecord]> => {
      const { customFields, unreadable } = await readValues(connection, String(candidate.id), defined);
      if (unreadable !== undefined) return [String(candidate.id), { unreadable }];
      return [String(candidate.id), { sources: { candidate: { ...candidate, customFields } } }];
    }),
  );
  const broken = fetched.unreadable.map(({ id = '', reason }): [string, FetchedRecord] => [id, { unreadable: reason }]);
  return new Map([...broken, ...(await Promise.all(people))]);
}

/** A refusal, or a broken record without an id, says nothing about the other ids: they are asked for in halves. */
async function fetchProfiles({ partner }: PartnerSide, ids: readonly string[]): Promise<ReadItems<Candidate>> {
  try {
    const body = { candidateIds: [...ids] };
    const read = await partner.readAll(contract.candidates.bulkFetch, { body }, { priority: 'bulk' });
    const [only = ''] = ids;
    if (ids.length === 1)
      return { ...read, unreadable: read.unreadable.map((one) => ({ ...one, id: one.id ?? only })) };
    if (read.unreadable.every(({ id }) => id !== undefined)) return read;
  } catch (error) {
    if (!isConnectorError(error) || !isRefusedByPartner(error)) throw error;
    if (ids.length === 1 && !isNotShown(error.code)) throw error;
    if (ids.length === 1) return { items: [], unreadable: [] };
  }
  const half = Math.ceil(ids.length / 2);
  const left = await fetchProfiles({ partner }, ids.slice(0, half));
  const right = await fetchProfiles({ partner }, ids.slice(half));
  return { items: [...left.items, ...right.items], unreadable: [...left.unreadable, ...right.unreadable] };
}

/**
 * Returns the values in the form records have. Values of a work experience are not the candidate's own. A field whose
 * value cannot be read would read as emptied, so such a value makes the whole record unreadable.
 */
async function readValues(
  { partner }: PartnerSide,
  entityId: string,
  defined: readonly FieldDefinition[],
): Promise<{ customFields: Record<string, unknown>; unreadable?: string }> {
  const labels = new Map(
    defined.filter(({ entity }) => entity === 'candidate').map(({ id, label }) => [String(id), label]),
  );
  if (labels.size === 0) return { customFields: {} };
  const query = { entityType: 'candidate' as const, entityId };
  const read = await partner
    .readAll(contract.customFieldValues.list, { query }, { priority: 'bulk' })
    .catch((error: unknown) => {
      if (!isConnectorError(error) || !isRefusedByPartner(error)) throw error;
      return error;
    });
  if (isConnectorError(read)) return { customFields: {}, unreadable: `its custom fields: ${read.message}` };
  const { items, unreadable } = read;
  const [broken] = unreadable;
  const own = items.filter(({ parentEntityId }) => parentEntityId === null || parentEntityId === undefined);
  return {
    customFields: Object.fromEntries(
      own.map(({ customFieldId, value }) => [customFieldId, { label: labels.get(customFieldId), value }]),
    ),
    ...(broken === undefined ? {} : { unreadable: `the value of a custom field: ${broken.reason}` }),
  };
}
