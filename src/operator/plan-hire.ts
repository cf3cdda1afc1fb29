import type { Connection } from '../../activities/connections.ts';
import { currentRecords, decodedRecords, withFieldValues } from '../../activities/fields/custom-fields.ts';
import { foreseeClaim } from '../../activities/hire/ask-person.ts';
import {
  customFieldWrite,
  employeeIdOf,
  isOnEnrolment,
  readMappedValues,
  readShown,
} from '../../activities/hire/finish-hire.ts';
import { knownPerson, observe } from '../../activities/hire/plan-employee.ts';
import { pinnedMapping, readApplication } from '../../activities/hire/read-sources.ts';
import { apartFromNames, foreseeNames } from '../../activities/hire/unique-names.ts';
import { enrolmentReference, type HireContext, newValues, reread } from '../../activities/hire/with-hire.ts';
import { fetchJobCandidates, readJobNow } from '../../activities/presence/fetch-job-candidates.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { allFields, type Change, type HireRef } from '../hire/hire.ts';
import type { Held } from '../hire/holds.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { MappingSources } from '../mapping/source-fields.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import { planEmployee } from '../plan/plan-employee.ts';
import { planEnrolment } from '../plan/plan-enrolment.ts';
import { missingTargets, planCorrections, type TargetValue } from '../plan/plan-write-back.ts';
import { listWrites } from '../store/foreign-writes.ts';
import { employeeOf, latestHire } from '../store/hires.ts';
import { readJob } from '../store/jobs.ts';
import type { Store } from '../store/open-store.ts';
import { savePlan } from '../store/plans.ts';
import { withKnownTables } from '../streams/stream.ts';
import { type OpenTenant, patiently } from './open-tenant.ts';
import { changesOf, type HireWrites, type PlannedRecord, type PlanView } from './writes.ts';

/**
 * What would be written for one hire by the current state of both sides. Reads only: takes no claim and records
 * nothing.
 * @throws ConnectorError HIRE_UNKNOWN
 */
export async function planHire(open: OpenTenant, jobCandidateId: string, by: string): Promise<PlanView> {
  const hire = await readHire(open, jobCandidateId);
  const { mappingHash, writes, notes } = await hireWrites(hire);
  const { tenantId, period } = hire.ref;
  const subject = `hire ${jobCandidateId}/${period}`;
  const view = { tenant: tenantId, subject, mapping: mappingHash, read: 1, records: writes, notes };
  if (writes.length === 0) return view;
  const records = writes.map((write) => ({ id: write.target, change: write }));
  return {
    ...view,
    hash: await savePlan(open.store, { tenantId, subject, source: 'records', mappingHash, by, records }),
  };
}

export async function readHire({ store, tenant, connection, deps }: OpenTenant, id: string): Promise<HireContext> {
  const row = await latestHire(store, tenant.tenant, id);
  if (row === undefined) throw unknownHire(tenant.tenant, id);
  const ref = { tenantId: tenant.tenant, jobCandidateId: id, period: row.period };
  return reread({ deps, connection, ref });
}

/** A hire that ended without an employee writes nothing any more. */
export async function hireWrites(hire: HireContext): Promise<HireWrites> {
  const { row, connection, ref } = hire;
  if (row.employee_id !== null) return planHireAfter(hire);
  if (row.state === 'open') return planHireStart(hire);
  const reason = `the hire is over (${row.state}) and has no employee`;
  const note = { record: ref.jobCandidateId, what: 'nothing to write', reason };
  return { mappingHash: connection.mapping.hash, writes: [], notes: [note] };
}

function unknownHire(tenantId: string, id: string): ConnectorError {
  return rejected(
    'HIRE_UNKNOWN',
    `${tenantId} has no hire of job candidate ${id}. Check the id: it must be a job candidate id, not a candidate id.`,
  );
}

/** What an open hire without an employee will write: the enrolment, the employee, and the ID back. */
async function planHireStart(hire: HireContext): Promise<HireWrites> {
  const mapping = await withKnownTables(hire.store, hire.ref.tenantId, await pinnedMapping(hire));
  const employee = await planPerson(hire, mapping);
  const notes = employee.hold === undefined ? [] : [employee.hold];
  const writes = [...enrolmentOf(hire), ...(employee.write === undefined ? [] : [employee.write])];
  return { mappingHash: mapping.hash, writes, notes };
}

function enrolmentOf({ connection, row, ref, decisions }: HireContext): PlannedRecord[] {
  if (row.onboarding_candidate_id !== null) return [];
  const plan = planEnrolment(connection.tenant.policies.onboarding, decisions);
  if (plan.kind !== 'enrol') return [];
  return [
    {
      record: ref.jobCandidateId,
      target: 'enrolment',
      kind: 'create',
      why: 'the tenant onboards before the employee is made; costs one credit',
      changes: newValues({ flowId: plan.flowId, externalRef: enrolmentReference(ref, row.enrolment) }),
      sensitive: [],
    },
  ];
}

interface PlannedPerson {
  write?: PlannedRecord;
  hold?: HireWrites['notes'][number];
}

async function planPerson(hire: HireContext, mapping: Mapping): Promise<PlannedPerson> {
  const { connection, ref, decisions } = hire;
  const [fetched] = await patiently(() => fetchJobCandidates(connection, [ref.jobCandidateId]));
  const record = fetched?.jobCandidate;
  if (record === undefined) throw unknownRecord(ref, fetched?.unreadable);
  const sources = await sourcesOf(hire, record, mapping);
  const { fields: mapped, problems } = evaluateMapping(mapping, sources);
  const { fields, wanted } = apartFromNames(mapping, mapped);
  const claimed = await foreseeClaim(hire, record.candidateId);
  if (claimed.verdict === 'hold') return heldAs(ref, claimed);
  const { candidateId } = record;
  const known = knownPerson(hire, { candidateId, job: sources['job'], fields, problems, mapping }, claimed.before);
  const change = planEmployee(await observe(hire, known), decisions);
  if ('verdict' in change) return heldAs(ref, change);
  if (change.kind !== 'create' || wanted.length === 0)
    return { write: employeeWrite(ref.jobCandidateId, change, mapping) };
  const named = await foreseeNames(hire, wanted);
  if (named.verdict === 'hold') return heldAs(ref, named);
  return { write: employeeWrite(ref.jobCandidateId, { ...change, names: named.names }, mapping) };
}

function heldAs({ jobCandidateId }: HireRef, { hold }: Held): PlannedPerson {
  return { hold: { record: jobCandidateId, what: `hold ${hold.code}`, reason: hold.message } };
}

const WHY: Record<Change['kind'], string> = {
  create: 'the person is not in the HR system',
  link: 'the person is in the HR system already',
  rehire: 'the person is a former employee',
  update: 'the person has an employee from an earlier job',
};

function employeeWrite(record: string, change: Change, mapping: Mapping): PlannedRecord {
  const sensitive = mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  const fields = change.kind === 'link' ? { employee: change.employee.id } : allFields(change);
  return {
    record,
    target: 'employee',
    kind: change.kind,
    why: WHY[change.kind],
    changes: newValues(fields),
    sensitive,
  };
}

const READ_MS = 30_000;

/** What a hire with an employee still has to write: fields that a later mapping changed, and the write-back. */
async function planHireAfter(hire: HireContext): Promise<HireWrites> {
  const corrected = await corrections(hire);
  const back = await writeBacks(hire);
  return {
    mappingHash: hire.connection.mapping.hash,
    writes: [...corrected.writes, ...back],
    notes: corrected.notes,
  };
}

/** Corrects only employees that we made; an employee from before belongs to the HR system. */
async function corrections(hire: HireContext): Promise<Omit<HireWrites, 'mappingHash'>> {
  const { connection, ref, row } = hire;
  const none = (reason: string) => ({
    writes: [],
    notes: [{ record: ref.jobCandidateId, what: 'employee left as it is', reason }],
  });
  const written = await writtenFields(hire);
  if (written === 'not-ours') return { writes: [], notes: [] };
  if (written === 'purged')
    return none('the record of what was written to it was purged, so it is unknown who set its values');
  const [fetched] = await patiently(() => fetchJobCandidates(connection, [ref.jobCandidateId]));
  if (fetched?.jobCandidate === undefined) return none('the partner does not show the job candidate');
  const own = employeeOf(row);
  const employee = own && (await connection.hris.employees.read(own, AbortSignal.timeout(READ_MS)));
  if (employee === undefined) return none(`the HR system shows no employee ${row.employee_id}`);
  const sources = await sourcesOf(hire, fetched.jobCandidate, connection.mapping);
  const { fields: mapped, problems } = evaluateMapping(connection.mapping, sources);
  const { fields } = apartFromNames(connection.mapping, mapped);
  if (problems.length > 0) return none(problems.map(({ text }) => text).join(' '));
  const { fields: changed, kept } = planCorrections(fields, written, employee.fields);
  const notes = kept.map((name) => ({
    record: ref.jobCandidateId,
    what: `${name} left as it is`,
    reason: 'it was changed in the HR system since it was written',
  }));
  if (Object.keys(changed).length === 0) return { writes: [], notes };
  const changes = Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [name, { old: employee.fields[name] ?? null, new: value }]),
  );
  const sensitive = connection.mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  const why = 'the mapping gives another value than was written, and nobody changed it there';
  return {
    writes: [{ record: ref.jobCandidateId, target: 'employee', kind: 'update', why, changes, sensitive }],
    notes,
  };
}

/** By field, the value we wrote last. */
async function writtenFields({ store, ref }: HireContext): Promise<Record<string, unknown> | 'not-ours' | 'purged'> {
  const rows = await listWrites(store, { tenantId: ref.tenantId, recordId: ref.jobCandidateId, target: 'employee' });
  const own = rows.filter((row) => row.period === ref.period && row.outcome === 'done').toReversed();
  if (!own.some((row) => row.kind === 'create')) return 'not-ours';
  if (own.some((row) => row.purged_at !== null)) return 'purged';
  const written = own.flatMap((row) => Object.entries(changesOf(row)).map(([name, change]) => [name, change.new]));
  return Object.fromEntries(written) as Record<string, unknown>;
}

async function writeBacks(hire: HireContext): Promise<PlannedRecord[]> {
  const { ref } = hire;
  const values = await readMappedValues(hire);
  const { toEnrolment, toField, shown } = await idTargets(hire, values);
  const missing = new Set(missingTargets(values, shown));
  const lacking = [...values.filter(({ customFieldId }) => missing.has(customFieldId)), ...toField];
  const common = { record: ref.jobCandidateId, kind: 'update', why: 'the partner does not show it' } as const;
  const writes: PlannedRecord[] = [];
  if (toEnrolment !== undefined)
    writes.push({ ...common, target: 'external-status', changes: newValues(toEnrolment), sensitive: [] });
  if (lacking.length === 0) return writes;
  const { sensitive } = customFieldWrite(hire, lacking);
  const changes = Object.fromEntries(
    lacking.map(({ customFieldId: id, value }) => [id, { old: shown.get(id) ?? null, new: value }]),
  );
  return [...writes, { ...common, target: 'custom-fields', changes, sensitive }];
}

interface IdTargets {
  toEnrolment: { status: string; employeeId: string } | undefined;
  toField: TargetValue[];
  shown: ReadonlyMap<string, unknown>;
}

/** Where the Employee ID still has to be written; it counts as written if either place shows it. */
async function idTargets(hire: HireContext, values: readonly TargetValue[]): Promise<IdTargets> {
  const { customField, status } = hire.connection.tenant.writeBack;
  const employeeId = employeeIdOf(hire);
  const onEnrolment = await isOnEnrolment(hire, employeeId);
  const field = customField === undefined || onEnrolment ? [] : [{ customFieldId: customField, value: employeeId }];
  const shown = await readShown(hire, [...values, ...field]);
  const isThere = onEnrolment || (field.length > 0 && missingTargets(field, shown).length === 0);
  if (isThere) return { toEnrolment: undefined, toField: [], shown };
  if (hire.row.onboarding_candidate_id === null) return { toEnrolment: undefined, toField: field, shown };
  return { toEnrolment: { status, employeeId }, toField: [], shown };
}

type Shown = Record<string, unknown> & { jobId: string; candidateId: string };

/**
 * All sources of a hire's mapping as the partner has them now, for a person who looks, from a job candidate just read.
 * A job that is no longer listed is taken from its last listing; `jobSeenAt` is then the time of that listing.
 */
export async function readHireSources(
  store: Store,
  connection: Connection,
  onboardingCandidateId: string | null,
  record: Shown,
  mappings: readonly Mapping[] = [connection.mapping],
): Promise<{ sources: MappingSources; jobSeenAt: number | undefined }> {
  const { sources: read, jobSeenAt } = await readShownSources(
    store,
    connection,
    onboardingCandidateId,
    record,
    mappings,
  );
  const [sources = read] = await patiently(() => decodedRecords(connection, mappings, [read]));
  return { sources, jobSeenAt };
}

async function readShownSources(
  store: Store,
  connection: Connection,
  onboardingCandidateId: string | null,
  record: Shown,
  mappings: readonly Mapping[],
): Promise<{ sources: MappingSources; jobSeenAt: number | undefined }> {
  const now = await patiently(() => readJobNow(store, connection, record.jobId));
  const known = now === undefined ? await readJob(store, connection.tenant.tenant, record.jobId) : undefined;
  const sources = {
    candidate: await patiently(() =>
      withFieldValues(connection, mappings, {
        candidate: recordOf(record['candidate_details']),
        jobCandidate: record,
      }),
    ),
    job: now ?? known?.record,
    jobCandidate: record,
    application: await patiently(() => readApplication(connection.partner, String(record['id']), mappings)),
    onboarding: await readOnboarding(connection.partner, onboardingCandidateId),
  };
  return { sources, jobSeenAt: known?.seenAt };
}

/** The same for what may be written: refused while a custom field is not the one that the mapping means. */
async function sourcesOf(
  { deps, store, connection, row }: HireContext,
  record: Shown,
  mapping: Mapping,
): Promise<MappingSources> {
  const { sources } = await readShownSources(store, connection, row.onboarding_candidate_id, record, [mapping]);
  const [current = sources] = await patiently(() => currentRecords(deps, connection, mapping, [sources]));
  return current;
}

async function readOnboarding(partner: PartnerClient, id: string | null): Promise<Record<string, unknown> | undefined> {
  if (id === null) return undefined;
  const { data } = await partner.onboarding.getCandidate(
    { params: { onboardingCandidateId: id } },
    { priority: 'live' },
  );
  return data as Record<string, unknown>;
}

export function unknownRecord(
  { tenantId, jobCandidateId: id }: { tenantId: string; jobCandidateId: string },
  reason: string | undefined,
): ConnectorError {
  const why = reason === undefined ? 'the partner shows none' : `its record cannot be read: ${reason}`;
  return rejected(
    'RECORD_UNKNOWN',
    `There is nothing to explain of job candidate ${id}: ${why}. Check the id: it must be a job candidate id, ` +
      `not a candidate id. What became of somebody who was deleted there: hirebridge hire show ${tenantId} ${id}`,
  );
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
