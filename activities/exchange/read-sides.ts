import pLimit from 'p-limit';
import { isConnectorError, rejected } from '../../src/errors.ts';
import type { Employee, EmployeeFields } from '../../src/hire/hire.ts';
import type { Requisitions } from '../../src/hris/port.ts';
import { isUnread, readApart, type Unread } from '../../src/hris/read-many.ts';
import type { MappingSources } from '../../src/mapping/source-fields.ts';
import { isNotShown, isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import type { ReadItems } from '../../src/partner/client/types.ts';
import type { Candidate } from '../../src/partner/contract/candidates.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { LinkedPair, PairEntity } from '../../src/store/linked-pairs.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { ownValues } from '../fields/field-values.ts';
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
const VALUES_AT_ONCE = 8;

/** All jobs of the partner, as one reading of the list showed them. */
interface JobsRead {
  /** When the reading began, by the database's clock. */
  readAt: number;
  jobOf: (id: string) => FetchedRecord;
  /** The list shows no job at all. */
  isEmpty: boolean;
}

/** The list of jobs, read when first needed. */
interface JobsList {
  read(): Promise<JobsRead>;
  /** Whether the next `read` returns an earlier reading. */
  isRead(): boolean;
  /** Makes the next `read` a new one. */
  forget(): void;
}

/** How many employees are read at once. */
const AT_ONCE = 8;
const READ_MS = 30_000;

/** Everything needed to read pairs. */
export interface Reading {
  connection: Connection;
  /** The partner's kind of record that holds the values. */
  entity: PairEntity;
  /** The partner's custom fields as last read. */
  defined: readonly FieldDefinition[];
  /** Jobs can be read only as a list, which many pages of pairs share. */
  jobs: JobsList;
}

/** The HR system's record of a pair. */
export interface HeldRecord {
  fields: EmployeeFields;
  /** Fields whose value does not have their type, with a code that says why. */
  unreadable?: Readonly<Record<string, string>>;
  /** The reference that the record stores. */
  reference?: string;
  /** Whether the employment has ended; absent if the HR system does not say. */
  former?: boolean;
}

/** A record that could not be read while others could; it must not stop the run. */
export interface UnreadRecord {
  failed: string;
  /** It may be read soon: it fails, but is not refused. */
  isBrief: boolean;
}

/** Both sides of some pairs, in their order. */
interface BothSides {
  /** When the reading began, by the database's clock. */
  readAt: number;
  partner: FetchedRecord[];
  hris: (HeldRecord | UnreadRecord | undefined)[];
}

/** Reads some pairs: the partner's side with one call per hundred, employees one by one, positions together. */
export function readSides(store: Store, reading: Reading, pairs: readonly LinkedPair[]): Promise<BothSides> {
  return reading.entity === 'job' ? readPositions(reading, pairs) : readPeople(store, reading, pairs);
}

async function readPeople(
  store: Store,
  { connection, defined }: Reading,
  pairs: readonly LinkedPair[],
): Promise<BothSides> {
  const readAt = await readClock(store);
  const limit = pLimit(AT_ONCE);
  const { employees, probe } = connection.hris;
  const read = (pair: LinkedPair) => limit(() => employees.read(employeeOfPair(pair), AbortSignal.timeout(READ_MS)));
  const answers = async () => (await probe(AbortSignal.timeout(READ_MS))).ok;
  const [partner, hris] = await Promise.all([fetchPeople(connection, pairs, defined), readApart(pairs, read, answers)]);
  return { readAt, partner, hris: hris.map(asHeld) };
}

/** The pair's employee; pairs of candidates always name one. */
export function employeeOfPair({ pairId, employee }: Pick<LinkedPair, 'pairId' | 'employee'>): Employee {
  if (employee === undefined) throw new Error(`pair ${pairId} names no employee`);
  return employee;
}

function asHeld<Record>(given: Record | Unread): Record | UnreadRecord {
  return isUnread(given) ? { failed: given.reason, isBrief: given.refused.action === 'retry' } : given;
}

async function readPositions({ connection, jobs }: Reading, pairs: readonly LinkedPair[]): Promise<BothSides> {
  const ids = pairs.map(({ pairId }) => pairId);
  const { readAt, jobOf } = await jobs.read();
  const open = await positionsIn(connection).read(ids, AbortSignal.timeout(READ_MS));
  const byId = new Map(open.map((one) => [one.id, one]));
  return { readAt, partner: pairs.map(({ partnerId }) => jobOf(partnerId)), hris: ids.map((id) => byId.get(id)) };
}

/** The HR system's open positions. @throws ConnectorError REQUISITIONS_UNCONFIGURED if no table is named */
export function positionsIn({ hris, tenant }: Pick<Connection, 'hris' | 'tenant'>): Requisitions {
  if (hris.requisitions !== undefined) return hris.requisitions;
  throw rejected(
    'REQUISITIONS_UNCONFIGURED',
    `Positions of ${tenant.tenant} cannot be exchanged: the HR system provides none. Name their table in the ` +
      'tenant file (hris.requisitions) and apply it.',
  );
}

/** No call reads jobs by id (section 4.2), so one reading of the list serves all pairs of a step. */
export function createJobsList(store: Store, connection: Pick<Connection, 'partner'>): JobsList {
  let known: Promise<JobsRead> | undefined;
  return {
    async read() {
      const reading = known ?? readJobs(store, connection);
      known = reading;
      try {
        return await reading;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
    isRead: () => known !== undefined,
    forget() {
      known = undefined;
    },
  };
}

async function readJobs(store: Store, { partner }: Pick<Connection, 'partner'>): Promise<JobsRead> {
  const readAt = await readClock(store);
  const { items, unreadable } = await partner.readAll(contract.jobs.list, {}, { priority: 'bulk' });
  const jobs = new Map<string, FetchedRecord>(items.map((job) => [String(job.id), { sources: { job } }]));
  for (const { id, reason } of unreadable) if (id !== undefined) jobs.set(id, { unreadable: reason });
  // A job that does not even show its id may be any of the missing ones.
  const nameless = unreadable.find(({ id }) => id === undefined);
  const absent: FetchedRecord = nameless === undefined ? {} : { unreadable: nameless.reason };
  const isEmpty = items.length + unreadable.length === 0;
  return { readAt, isEmpty, jobOf: (id) => jobs.get(id) ?? absent };
}

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
  const byApplication = new Map(jobCandidateIds.map((id, index) => [id, applications[index] ?? {}]));
  const ofHire = ({ hire, partnerId }: LinkedPair): FetchedRecord =>
    hire === undefined ? {} : ofApplication(partnerId, byApplication.get(hire.jobCandidateId) ?? {});
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

/** Values of another candidate are not the employee's, and what is written to the linked one would never be shown. */
function ofApplication(partnerId: string, { jobCandidate, unreadable }: Fetched): FetchedRecord {
  if (unreadable !== undefined) return { unreadable };
  if (jobCandidate === undefined) return {};
  const { candidate_details: candidate, candidateId, jobId } = jobCandidate;
  if (candidateId !== partnerId) return { unreadable: movedTo(candidateId, partnerId) };
  // Without the profile, each of its fields would read as emptied.
  if (candidate === null || candidate === undefined) return { unreadable: 'it shows no candidate_details' };
  return { sources: { candidate, jobCandidate }, jobId: String(jobId) };
}

function movedTo(candidateId: string, partnerId: string): string {
  return (
    `its application belongs to candidate ${candidateId} now, not to ${partnerId}: the hiring platform may have ` +
    'merged the two. Nothing of this employee is exchanged unless it is given back there'
  );
}

async function fetchCandidates(
  connection: PartnerSide,
  candidateIds: readonly string[],
  defined: readonly FieldDefinition[],
): Promise<Map<string, FetchedRecord>> {
  const fetched = await fetchProfiles(connection, candidateIds);
  const limit = pLimit(VALUES_AT_ONCE);
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
  return {
    customFields: Object.fromEntries(
      ownValues(items).map(({ customFieldId, value }) => [customFieldId, { label: labels.get(customFieldId), value }]),
    ),
    ...(broken === undefined ? {} : { unreadable: `the value of a custom field: ${broken.reason}` }),
  };
}
