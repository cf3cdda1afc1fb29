import pLimit from 'p-limit';
import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { amendsOnly, EMPTY_FORM, exchangedFields, flowOf, sayToPartner } from '../../src/exchange/see-fields.ts';
import type { Employee, EmployeeFields } from '../../src/hire/hire.ts';
import type { Requisitions } from '../../src/hris/port.ts';
import { isUnread, readApart } from '../../src/hris/read-many.ts';
import { type CompiledField, pathsRead } from '../../src/mapping/compile-rule.ts';
import { type CustomFieldUse, customFieldsMapped } from '../../src/mapping/custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { MappingSources } from '../../src/mapping/source-fields.ts';
import { isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import { BY_ITSELF, type WriteOrigin } from '../../src/store/foreign-writes.ts';
import type { LinkedPair, PairEntity, PairScope } from '../../src/store/linked-pairs.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import { readStreamState } from '../../src/store/streams.ts';
import { withTables } from '../../src/streams/stream.ts';
import type { ExchangeInput } from '../../src/streams/stream-activities.ts';
import { entityOf, type StreamName } from '../../src/streams/streams.ts';
import { isEmpty } from '../../src/values/transforms.ts';
import { type ActivityDeps, type Connection, keepMapping } from '../connections.ts';
import { definitionsInUse, lacksValues, ownValues, showsField, withFieldValues } from '../fields/custom-fields.ts';
import { type Fetched, fetchJobCandidates, readInHalves } from '../presence/fetch-job-candidates.ts';

/** Everything that one step of a run needs to read and write its pairs. */
export interface ExchangeContext extends Reading {
  deps: ActivityDeps;
  key: { tenantId: string; stream: StreamName };
  runId: string;
  mapping: Mapping;
  /** The custom fields that the mapping names. */
  uses: readonly CustomFieldUse[];
  origin: WriteOrigin;
  /** A person asked for this run. */
  full: boolean;
  /** The last whole run had these rules: a field that is another one now was created again at the partner. */
  hasSameRules: boolean;
}

/**
 * Opens what a run needs to read its pairs.
 * @throws ConnectorError NO_MAPPING, AMEND_UNSUPPORTED, FIELD_WRITTEN_TWICE
 */
export async function openContext(
  deps: ActivityDeps,
  connection: Connection,
  { tenantId, stream, runId, full }: ExchangeInput,
): Promise<ExchangeContext> {
  const own = connection.exchanges[stream];
  if (own === undefined) throw noMapping(stream);
  if (amendsOnly(own) && connection.hris.employees.amend === undefined)
    throw rejected(
      'AMEND_UNSUPPORTED',
      `Employees in HR systems of kind ${connection.tenant.hris.kind} cannot be amended: a later edit there could be ` +
        'overwritten unseen. Remove streams.amendments from the tenant file, and make changes after the hire by hand.',
    );
  const subject = amendsOnly(own) ? 'employee' : stream;
  await keepMapping(deps.store, connection.tenant, { subject, mapping: own });
  const mapping = await withTables(deps.store, tenantId, own);
  const uses = customFieldsMapped([mapping]);
  const defined = await definitionsInUse(deps, connection, uses);
  const origin = { tenantId, runId, mappingHash: mapping.hash, by: BY_ITSELF };
  const jobs = createJobsList(deps.store, connection);
  const key = { tenantId, stream };
  const hasSameRules = (await readStreamState(deps.store, key))?.mapping_hash === mapping.hash;
  const context = { deps, connection, key, runId, mapping, uses, defined, origin, full, hasSameRules };
  return assertWrittenOnce({ ...context, entity: entityOf(stream), jobs });
}

/**
 * The pairs that a run covers. Checking whether a gone candidate or employee is back costs calls, so only a run that a
 * person asked for does it. Jobs and positions are read as lists anyway, and a closed one may reopen.
 */
export function scopeOf({ key, connection, mapping, entity, full }: ExchangeContext): PairScope {
  const scope = { ...key, entity, connection: connection.tenant.hris.connection, withGone: full || entity === 'job' };
  return amendsOnly(mapping) ? { ...scope, hireStates: ['done', 'kept'] } : scope;
}

/**
 * Two rules, or two streams, that write the same custom field would overwrite each other for ever; this includes the
 * job custom field with the position's id. Only its definition tells that a label and an id mean one field.
 */
function assertWrittenOnce(context: ExchangeContext): ExchangeContext {
  const { requisitions } = context.connection.tenant;
  const { reference, values = [] } = (context.entity === 'job' && requisitions) || {};
  const theirs = [reference, ...values.map(({ customFieldId }) => customFieldId)];
  const own = new Map<string, string>();
  for (const { target, from } of context.mapping.back) {
    const said = sayToPartner(from[0], null, context.defined);
    if (!('customFieldId' in said)) continue;
    const { customFieldId: id } = said;
    if (theirs.includes(id))
      throw rejected(
        'FIELD_WRITTEN_TWICE',
        `The mapping of "${target}" writes the job custom field ${id}, and so does the stream ` +
          'requisitions (section requisitions of the tenant file). Keep one of the two.',
      );
    const other = own.get(id);
    if (other !== undefined)
      throw rejected(
        'FIELD_WRITTEN_TWICE',
        `The mappings of "${other}" and "${target}" name one custom field of the hiring platform (${id}) in two ` +
          'ways, and each would overwrite the other in every run. Keep one of the two.',
      );
    own.set(id, target);
  }
  return context;
}

export function noMapping(stream: string): ConnectorError {
  return rejected(
    'NO_MAPPING',
    `No mapping says which fields ${stream} exchanges. Name a mapping file in streams.${stream}.mapping.`,
  );
}

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
  const asHeld = (given: (typeof hris)[number]) =>
    isUnread(given) ? { failed: given.reason, isBrief: given.refused.action === 'retry' } : given;
  const records = hris.map(asHeld);
  const whole = partner.map((one, index) => limit(() => withUnshown(connection, one, records[index])));
  return { readAt, partner: await Promise.all(whole), hris: records };
}

/**
 * The record with the custom fields that this partner's applications may not show (K15): they must not read as empty.
 * Costs a call, so it is made only if the HR system holds a value that may not win over them, or if a record was found
 * to lack some.
 */
async function withUnshown(
  connection: Connection,
  fetched: FetchedRecord,
  held: HeldRecord | UnreadRecord | undefined,
): Promise<FetchedRecord> {
  const fields = held === undefined || 'failed' in held ? {} : held.fields;
  const isHeld = Object.values(connection.exchanges)
    .flatMap(exchangedFields)
    .some((field) => mayWin(field) && !isEmpty(fields[field.target] ?? undefined));
  return isHeld || lacksValues(connection.partner) ? withValues(connection, fetched) : fetched;
}

/**
 * The same for values that both sides held when they last agreed, and that no record of this reading shows: only then
 * it makes a call.
 */
export async function withExpected(
  { connection, mapping, entity }: ExchangeContext,
  partner: readonly FetchedRecord[],
  basesOf: (index: number) => Readonly<Record<string, string>>,
): Promise<readonly FetchedRecord[]> {
  if (entity === 'job') return partner;
  const doesShow = (one: FetchedRecord, field: CompiledField): boolean => {
    const { candidate, jobCandidate } = one.sources ?? {};
    if (candidate === undefined || jobCandidate === undefined) return false;
    return ownFields(field).some((wanted) => showsField({ candidate, jobCandidate }, wanted));
  };
  const isShown = (field: CompiledField): boolean =>
    !lacksValues(connection.partner) && partner.some((one) => doesShow(one, field));
  const hidden = exchangedFields(mapping).filter((field) => ownFields(field).length > 0 && !isShown(field));
  const limit = pLimit(AT_ONCE);
  const whole = partner.map((one, index) => {
    const isExpected = ({ target }: CompiledField) => (basesOf(index)[target] ?? EMPTY_FORM) !== EMPTY_FORM;
    const lacks = hidden.some((field) => isExpected(field) && !doesShow(one, field));
    return limit(async () => (lacks ? withValues(connection, one) : one));
  });
  return Promise.all(whole);
}

/** The record of an application with the values that it does not show. */
async function withValues(connection: Connection, fetched: FetchedRecord): Promise<FetchedRecord> {
  const { candidate, jobCandidate } = fetched.sources ?? {};
  if (candidate === undefined || jobCandidate === undefined) return fetched;
  const mappings = Object.values(connection.exchanges).map((one) => ({ fields: exchangedFields(one) }));
  try {
    const shown = await withFieldValues(connection, mappings, { candidate, jobCandidate });
    return { ...fetched, sources: { ...fetched.sources, candidate: shown } };
  } catch (error) {
    return { unreadable: `its custom fields: ${refusedOf(error).message}` };
  }
}

/** The candidate's own custom fields that a rule takes its value from. */
function ownFields({ from }: CompiledField): string[] {
  return from.flatMap((path) =>
    'customField' in path && path.source === 'candidate' && path.of === undefined ? [path.customField] : [],
  );
}

/** A custom field of the candidate whose value at the partner counts beside the HR system's. */
function mayWin(field: CompiledField): boolean {
  const { owner, report = false } = flowOf(field);
  const isCustom = pathsRead(field).some((path) => 'customField' in path && path.source === 'candidate');
  return isCustom && (owner !== 'hris' || report);
}

/** The pair's employee; pairs of candidates always name one. */
export function employeeOfPair({ pairId, employee }: Pick<LinkedPair, 'pairId' | 'employee'>): Employee {
  if (employee === undefined) throw new Error(`pair ${pairId} names no employee`);
  return employee;
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
  // If a person's application was deleted, the candidate still exists.
  const deletedIds = [...new Set(deleted.map(({ partnerId }) => partnerId))];
  const left =
    deletedIds.length === 0 ? new Map<string, FetchedRecord>() : await fetchCandidates(connection, deletedIds, defined);
  return pairs.map((pair) => {
    if (pair.hire === undefined) return candidates.get(pair.partnerId) ?? {};
    return deleted.includes(pair) ? (left.get(pair.partnerId) ?? {}) : ofHire(pair);
  });
}

/** Values of another candidate are not the employee's, and what is written to the linked one would never be shown. */
function ofApplication(partnerId: string, { jobCandidate, unreadable }: Fetched): FetchedRecord {
  if (unreadable !== undefined) return { unreadable };
  if (jobCandidate === undefined) return {};
  const { candidate_details: candidate, candidateId, jobId } = jobCandidate;
  const moved =
    `its application belongs to candidate ${candidateId} now, not to ${partnerId}: the hiring platform may have ` +
    'merged the two. Nothing of this employee is exchanged unless it is given back there';
  if (candidateId !== partnerId) return { unreadable: moved };
  // Without the profile, each of its fields would read as emptied.
  if (candidate === null || candidate === undefined) return { unreadable: 'it shows no candidate_details' };
  return { sources: { candidate, jobCandidate }, jobId: String(jobId) };
}

async function fetchCandidates(
  connection: PartnerSide,
  candidateIds: readonly string[],
  defined: readonly FieldDefinition[],
): Promise<Map<string, FetchedRecord>> {
  const fetched = await readInHalves(candidateIds, (ids) =>
    connection.partner.readAll(contract.candidates.bulkFetch, { body: { candidateIds: ids } }, { priority: 'bulk' }),
  );
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

/** The partner's own refusal; throws any other error. */
function refusedOf(error: unknown): ConnectorError {
  if (isConnectorError(error) && isRefusedByPartner(error)) return error;
  throw error;
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
  const read = await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'bulk' }).catch(refusedOf);
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
