import type { Connection } from '../../activities/connections.ts';
import { decodedRecords } from '../../activities/fields/custom-fields.ts';
import { apartFromNames, foreseeNames, type Named } from '../../activities/hire/unique-names.ts';
import { fetchJobCandidates } from '../../activities/presence/fetch-job-candidates.ts';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { allFields, type EmployeeFields } from '../hire/hire.ts';
import type { Held } from '../hire/holds.ts';
import { type CompiledField, pathsRead, writeRule } from '../mapping/compile-rule.ts';
import { evaluateField, evaluateMapping, type Step } from '../mapping/evaluate.ts';
import { type Mapping, shortVersion, tablesOf } from '../mapping/load-mapping.ts';
import type { MappingSources } from '../mapping/source-fields.ts';
import { readStep } from '../store/hire-steps.ts';
import { employeeOf, latestHire } from '../store/hires.ts';
import type { Store } from '../store/open-store.ts';
import { type KeptPlan, latestPlan } from '../store/plans.ts';
import type { HireRow } from '../store/schema.ts';
import { readStreamState } from '../store/streams.ts';
import { readNames } from '../store/unique-names.ts';
import { type PlanEnds, readStored } from '../streams/land-page.ts';
import { withKnownTables } from '../streams/stream.ts';
import { type PullName, pullStreams } from '../streams/streams.ts';
import { destinationTenant, loadTenantMapping } from '../tenants/open-hris.ts';
import { decisionOf } from './hires.ts';
import { type OpenTenant, patiently, readPages, streamEnds } from './open-tenant.ts';
import { readHire, readHireSources, unknownRecord } from './plan-hire.ts';
import { MASK, maskChanges, readHireWrites, readWrites, type WriteView } from './writes.ts';

const READ_MS = 30_000;

/**
 * Explains one hire: every field from the partner's current record through rule and steps to plan, write and the HR
 * system's value. Writes nothing; `reveal` shows values that are otherwise masked in earlier writes.
 * @throws ConnectorError RECORD_UNKNOWN
 */
export async function explainRecord(open: OpenTenant, jobCandidateId: string, reveal: boolean): Promise<Explained> {
  const { store, tenant, connection } = open;
  const { mapping } = connection;
  const { tenant: tenantId } = tenant;
  const row = await latestHire(store, tenantId, jobCandidateId);
  const [fetched] = await patiently(() => fetchJobCandidates(connection, [jobCandidateId]));
  if (fetched?.jobCandidate === undefined) throw unknownRecord({ tenantId, jobCandidateId }, fetched?.unreadable);
  const enrolmentId = row?.onboarding_candidate_id ?? null;
  const { sources, jobSeenAt } = await readHireSources(store, connection, enrolmentId, fetched.jobCandidate);
  const times = { now: Date.now(), earlier: { ...(await tableTimes(store, tenantId, mapping)), job: jobSeenAt } };
  const plan = row === undefined ? undefined : await latestPlan(store, refOf(row));
  const change = plan === undefined || plan.change === 'purged' ? undefined : plan.change;
  // A plan without fields links an existing employee.
  const planned: EmployeeFields = change === undefined || change.kind === 'link' ? {} : allFields(change);
  const writes = await readHireWrites(store, tenantId, jobCandidateId, reveal);
  const held = await readHeld(connection, row);
  const names = await namesOf(open, row, sources);
  const destinations = row === undefined ? [] : await destinationsOf(open, row, { sources, times, writes });
  return {
    mapping: shortVersion(mapping.hash),
    ...(plan === undefined ? {} : { plan: viewPlan(plan) }),
    employee: typeof row?.employee_id === 'string' ? { id: row.employee_id, number: row.employee_number } : null,
    fields: mapping.fields.map((field) => {
      const written = lastWritten(writes, 'employee', field.target);
      return {
        ...withName(explainField(field, sources, times), field.unique === true ? names : undefined),
        ...(Object.hasOwn(planned, field.target) ? { planned: planned[field.target] } : {}),
        ...(written === undefined ? {} : { written }),
        ...(held === undefined ? {} : { held: held[field.target] ?? null }),
      };
    }),
    writes,
    ...(destinations.length > 0 && { destinations }),
  };
}

/** What each further destination gets from the hire by its own mapping, and the result there. */
async function destinationsOf(
  { store, tenant, connection }: OpenTenant,
  row: HireRow,
  { sources, times, writes }: { sources: MappingSources; times: ReadTimes; writes: readonly WriteView[] },
): Promise<ExplainedDestination[]> {
  const named = tenant.destinations ?? [];
  if (named.length === 0) return [];
  const shown = await readHeld(connection, row);
  const employee = { ...shown, id: row.employee_id, number: row.employee_number ?? undefined };
  return Promise.all(
    named.map(async ({ connection: destination }, at): Promise<ExplainedDestination> => {
      const own = await loadTenantMapping(destinationTenant(tenant, at));
      const mapping = await withKnownTables(store, tenant.tenant, own);
      const step = await readStep(store, { ...refOf(row), destination });
      const decision = step && decisionOf(step);
      return {
        destination,
        mapping: shortVersion(mapping.hash),
        ...(step && { state: step.state, account: step.account_id }),
        ...(decision !== undefined && { plan: decision }),
        fields: mapping.fields.map((field) => {
          const written = lastWritten(writes, `account:${destination}`, field.target);
          const explained = explainField(field, { ...sources, employee }, times);
          return { ...explained, ...(written && { written }) };
        }),
      };
    }),
  );
}

/** The names by rule that the hire has or would get now; a hold if no name can be found. */
async function namesOf(
  open: OpenTenant,
  row: HireRow | undefined,
  sources: MappingSources,
): Promise<Named | Held | undefined> {
  const { mapping } = open.connection;
  if (row === undefined || !mapping.fields.some(({ unique }) => unique === true)) return undefined;
  if (row.state !== 'open' || row.employee_id !== null)
    return { verdict: 'named', names: Object.fromEntries(await readNames(open.store, refOf(row))) };
  const { wanted } = apartFromNames(mapping, evaluateMapping(mapping, sources).fields);
  return foreseeNames(await readHire(open, row.job_candidate_id), wanted);
}

/** Adds the name given by rule to the field's steps, or the reason there is none. */
function withName(explained: ExplainedField, named: Named | Held | undefined): ExplainedField {
  if (named?.verdict === 'hold') return { ...explained, problem: `${named.hold.message} [${named.hold.code}]` };
  const name = named?.names[explained.field];
  if (name === undefined) return explained;
  return { ...explained, value: name, steps: [...explained.steps, { step: 'unique', value: name }] };
}

/** When the lookup tables of the mapping were last read in full. */
async function tableTimes(store: Store, tenantId: string, mapping: Mapping): Promise<Record<string, number | null>> {
  const times = tablesOf(mapping).map(async (stream) => {
    const wholeAt = (await readStreamState(store, { tenantId, stream }))?.whole_at ?? null;
    return [stream, wholeAt === null ? null : Number(wholeAt)] as const;
  });
  return Object.fromEntries(await Promise.all(times));
}

/** The HR system's fields of the employee; undefined if there is no employee. */
async function readHeld(
  { hris }: OpenTenant['connection'],
  row: HireRow | undefined,
): Promise<EmployeeFields | undefined> {
  const employee = row && employeeOf(row);
  if (employee === undefined) return undefined;
  return (await hris.employees.read(employee, AbortSignal.timeout(READ_MS)))?.fields;
}

function refOf(row: HireRow) {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

function viewPlan(plan: KeptPlan): NonNullable<Explained['plan']> {
  const iso = (at: number): string => new Date(Number(at)).toISOString();
  const { change } = plan;
  return {
    id: plan.plan_id,
    mapping: shortVersion(plan.mapping_hash),
    ...(change === 'purged' ? {} : { decision: change.kind }),
    plannedAt: iso(plan.planned_at),
    appliedAt: plan.applied_at === null ? null : iso(plan.applied_at),
    purged: change === 'purged',
  };
}

/**
 * Explains one record that a stream lands: every field from the partner's current record to what was written and what
 * its row holds. Writes nothing.
 * @throws ConnectorError RECORD_UNKNOWN
 */
export async function explainLanded(
  open: OpenTenant,
  { stream, id }: { stream: PullName; id: string },
  reveal: boolean,
): Promise<Explained> {
  const { store, tenant, connection } = open;
  const ends = streamEnds(connection, stream);
  const record = await findRecord(open, ends, id);
  if (record === undefined) throw unknownLanded(stream, id);
  const shown = { [pullStreams[stream].record.name]: record };
  const [sources = shown] = await patiently(() => decodedRecords(connection, [ends.mapping], [shown]));
  const now = Date.now();
  const row = (await readStored(ends, [id])).get(id);
  const writes = await readWrites(store, { tenantId: tenant.tenant, recordId: id, target: stream }, reveal);
  return {
    mapping: shortVersion(ends.mapping.hash),
    employee: null,
    fields: ends.mapping.fields.map((field) => {
      const written = lastWritten(writes, stream, field.target);
      return {
        ...explainField(field, sources, { now, earlier: {} }),
        ...(written === undefined ? {} : { written }),
        ...(row === undefined ? {} : { held: row.fields[field.target] ?? null }),
      };
    }),
    writes,
  };
}

type Found = Record<string, unknown> | undefined;

/** Only candidates can be read one by one (section 4.3); jobs and others are searched in the list (section 4.2). */
async function findRecord(open: OpenTenant, ends: PlanEnds, id: string): Promise<Found> {
  if (ends.stream === 'candidates') return readCandidate(open.connection, id);
  for await (const { items } of readPages(open, ends)) {
    const found = items.find((item) => String(item['id']) === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readCandidate({ partner }: Connection, candidateId: string): Promise<Found> {
  try {
    const { data } = await patiently(() => partner.candidates.get({ params: { candidateId } }, { priority: 'live' }));
    return data as Record<string, unknown>;
  } catch (error) {
    if (isConnectorError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

function unknownLanded(stream: PullName, id: string): ConnectorError {
  return rejected(
    'RECORD_UNKNOWN',
    `There is nothing to explain: the partner shows no record ${id} of ${stream}. Check the id.`,
  );
}

/** The last write of one field. `value` is absent after a purge. */
export interface WrittenField extends Pick<WriteView, 'at' | 'by' | 'run' | 'mapping' | 'outcome' | 'purgedAt'> {
  value?: unknown;
  /** The value before; absent if it was not known. */
  old?: unknown;
}

/** One field of the HR system: its source, its value now, and what was planned, written and read back. */
export interface ExplainedField {
  field: string;
  rule: string;
  file: string;
  line: number;
  sensitive: boolean;
  /** The oldest time at which the rule's sources were read; absent for a constant. */
  readAt?: string;
  /** The result of each step; personal data. */
  steps: { step: string; value: unknown }[];
  /** The field's value by today's records; absent if the field is left out. */
  value?: unknown;
  /** Why it would get no value. */
  problem?: string;
  /** Its value in the last plan. */
  planned?: unknown;
  written?: WrittenField;
  /** The HR system's current value; absent if nothing was written yet. */
  held?: unknown;
}

export interface Explained {
  mapping: string;
  /** The hire's last plan, if any; its decision is absent after a purge. */
  plan?: {
    id: string;
    mapping: string;
    decision?: string;
    plannedAt: string;
    appliedAt: string | null;
    purged: boolean;
  };
  /** Set for a hire. */
  employee: { id: string; number: string | null } | null;
  fields: ExplainedField[];
  /** Every write of this record, latest first. */
  writes: WriteView[];
  /** Set for a hire whose tenant names destinations. */
  destinations?: ExplainedDestination[];
}

interface ExplainedDestination {
  destination: string;
  mapping: string;
  /** Absent before the destination's first pass. */
  state?: string;
  account?: string | null;
  /** The plan's decision. */
  plan?: string;
  fields: ExplainedField[];
}

/** When each record was read; tables are listed by name. A record not named here was read just now. */
interface ReadTimes {
  now: number;
  earlier: Readonly<Record<string, number | null | undefined>>;
}

function explainField(field: CompiledField, sources: MappingSources, times: ReadTimes): ExplainedField {
  const steps: Step[] = [];
  const result = evaluateField(field, sources, steps);
  const { file, line } = field.at;
  const readAt = readTimeOf(field, times);
  const explained = {
    field: field.target,
    rule: writeRule(field.rule),
    file,
    line,
    sensitive: field.sensitive,
    ...(readAt === undefined ? {} : { readAt }),
    steps,
  };
  if ('code' in result) return { ...explained, problem: `${result.text} [${result.code}]` };
  return result.value === undefined ? explained : { ...explained, value: result.value };
}

function readTimeOf(field: CompiledField, { now, earlier }: ReadTimes): string | undefined {
  const records = pathsRead(field).map(({ source }) => source);
  if (records.length === 0) return undefined;
  const times = [...records, ...(field.table === undefined ? [] : [field.table.name])].map(
    (name) => earlier[name] ?? now,
  );
  return new Date(Math.min(...times)).toISOString();
}

/** The last write to a field of this target; `writes` has the latest first. */
function lastWritten(writes: readonly WriteView[], target: string, field: string): WrittenField | undefined {
  const write = writes.find((one) => one.target === target && one.fields.includes(field));
  if (write === undefined) return undefined;
  const { at, by, run, mapping, outcome, purgedAt } = write;
  const change = write.changes[field];
  const values = change === undefined ? {} : { value: change.new, ...('old' in change ? { old: change.old } : {}) };
  return { at, by, run, mapping, outcome, purgedAt, ...values };
}

/** Removes the values of sensitive fields; the names of their steps stay. */
export function maskSensitive({ fields, writes, destinations, ...rest }: Explained): Explained {
  const sensitive = fields.filter((field) => field.sensitive).map(({ field }) => field);
  return {
    ...rest,
    ...(destinations && {
      destinations: destinations.map((one) => ({
        ...one,
        fields: one.fields.map((field) => (field.sensitive ? maskField(field) : field)),
      })),
    }),
    fields: fields.map((field) => (field.sensitive ? maskField(field) : field)),
    writes: writes.map((write) => ({ ...write, changes: maskChanges(write.changes, sensitive) })),
  };
}

function maskField(field: ExplainedField): ExplainedField {
  const { written } = field;
  return {
    ...field,
    steps: field.steps.map(({ step, value }) => ({ step, value: value === undefined ? undefined : MASK })),
    ...('value' in field ? { value: MASK } : {}),
    ...('planned' in field ? { planned: MASK } : {}),
    ...('held' in field ? { held: MASK } : {}),
    ...(written === undefined ? {} : { written: maskWritten(written) }),
  };
}

function maskWritten(written: WrittenField): WrittenField {
  return {
    ...written,
    ...('value' in written ? { value: MASK } : {}),
    ...('old' in written ? { old: MASK } : {}),
  };
}
