import { ConnectorError, rejected, unless } from '../../src/errors.ts';
import type { EmployeeFields, HireRef } from '../../src/hire/hire.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { readsSource } from '../../src/mapping/compile-rule.ts';
import { evaluateMapping, type MappingProblem } from '../../src/mapping/evaluate.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { type MappingSources, readSource } from '../../src/mapping/source-fields.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { type JobScope, takesJob } from '../../src/plan/job-scope.ts';
import { shownEmployeeId } from '../../src/plan/plan-write-back.ts';
import { addHints } from '../../src/store/hints.ts';
import { readJob } from '../../src/store/jobs.ts';
import { findMappingVersions } from '../../src/store/mapping-versions.ts';
import type { Store } from '../../src/store/open-store.ts';
import { latestPlan } from '../../src/store/plans.ts';
import { withTables } from '../../src/streams/stream.ts';
import { loadMappingVersion } from '../../src/tenants/open-hris.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import { currentRecords, fittedMapping, withFieldValues } from '../fields/custom-fields.ts';
import { readJobNow } from '../presence/fetch-job-candidates.ts';
import { type Presence, readPresence } from '../presence/read-presence.ts';
import { countListed } from '../reconcile/run.ts';
import { apartFromNames, type WantedName } from './unique-names.ts';
import { type HireContext, notePerson } from './with-hire.ts';
import { type Elapsed, startClock } from './write-once.ts';

/** Everything an employee is made from, as both sides hold it now. */
export interface Sources {
  candidateId: string;
  jobId: string;
  /** The job as read for this; absent if no rule reads it. */
  job: Record<string, unknown> | undefined;
  fields: EmployeeFields;
  /** Base names for rules with `unique`; they are not in `fields`. */
  names: WantedName[];
  problems: MappingProblem[];
  /** The mapping that was used. */
  mapping: Mapping;
  /** Whether the person is in a stage where an employee may be made. */
  inside: boolean;
  /** Time since the reading began. */
  sinceRead: Elapsed;
}

/**
 * Reads the person where they are now, and maps them. `left` and `not-yet` mean that nothing may be created. A create
 * that was sent must be settled in any stage, so `anyStage` reads on. `seen`: the person as read a moment ago.
 * `beside`: records that the partner does not have.
 */
export async function readSources(
  hire: HireContext,
  options: { anyStage: boolean; seen?: Seen | undefined; beside?: MappingSources },
): Promise<{ verdict: 'left' | 'not-yet' } | Held | { verdict: 'read'; sources: Sources }> {
  const { store, connection, ref } = hire;
  const { createAt } = connection.tenant.policies;
  const { presence, sinceRead } = options.seen ?? (await seePerson(store, connection, ref.jobCandidateId, createAt));
  if (presence.verdict === 'missing') return { verdict: 'left' };
  if (presence.verdict === 'out' && !options.anyStage) {
    const stages = hiringStagesOf(connection.tenant);
    if (stages.length === new Set(createAt).size) return { verdict: 'left' };
    const { verdict } = await readPresence(store, connection, ref.jobCandidateId, stages);
    if (verdict !== 'in') return { verdict: 'left' };
    await hintIfListed(store, ref.tenantId, presence, createAt);
    return { verdict: 'not-yet' };
  }
  const { candidateId, jobId } = presence;
  await notePerson(hire, { candidateId, jobId });
  const pinned = await pinnedMapping(hire);
  const job = await readJobRecord(hire, presence, pinned, options.anyStage);
  if (job !== undefined && 'verdict' in job) return job;
  const read = await readRecords(hire, presence.jobCandidate, job?.record, pinned);
  const [records = read] = await currentRecords(hire.deps, connection, pinned, [read]);
  const fitted = await fittedMapping(hire.deps, connection, 'employee', pinned);
  const mapping = await withTables(store, ref.tenantId, fitted);
  const { fields: mapped, problems } = evaluateMapping(mapping, { ...records, ...options.beside });
  const { fields, wanted: names } = apartFromNames(mapping, mapped);
  const inside = presence.verdict === 'in';
  return {
    verdict: 'read',
    sources: { candidateId, jobId, job: job?.record, fields, names, problems, mapping, inside, sinceRead },
  };
}

/**
 * The reconcile's last list may have shown the person in these stages, and its totals are the same once they are back
 * there: the next one lists the job, unless the stages hold as many people as they did then.
 */
async function hintIfListed(
  store: Store,
  tenantId: string,
  { jobId, listed }: Exclude<Presence, { verdict: 'missing' }>,
  stages: readonly string[],
): Promise<void> {
  const known = await readJob(store, tenantId, jobId);
  if (listed === undefined || countListed(known?.listedTotals, stages) !== listed)
    await addHints(store, tenantId, 'people', [jobId]);
}

/**
 * Reads the job as it is now, because a reconcile minutes ago may have seen another department. A job that the partner
 * no longer shows is taken as last shown if a person said so or a create is under way.
 */
async function readJobRecord(
  { store, connection, ref, decisions }: HireContext,
  { jobId, job: known }: Pick<Exclude<Presence, { verdict: 'missing' }>, 'jobId' | 'job'>,
  mapping: Mapping,
  isUnderWay: boolean,
): Promise<{ record: Record<string, unknown> | undefined } | Held | undefined> {
  // Makes the call only if the mapping or the scope needs the job.
  const isRead = readsSource(mapping.fields, 'job');
  if (!isRead && connection.tenant.scope === undefined) return undefined;
  const record = await readJobNow(store, connection, jobId);
  if (record !== undefined) return { record };
  if (isUnderWay || decisions.jobAsKnown === true || !isRead) return { record: known };
  return held('JOB_NOT_SHOWN', { jobCandidateId: ref.jobCandidateId, jobId });
}

async function readRecords(
  hire: HireContext,
  jobCandidate: JobCandidate,
  job: Record<string, unknown> | undefined,
  mapping: Mapping,
): Promise<MappingSources> {
  const candidate = (jobCandidate['candidate_details'] ?? {}) as Record<string, unknown>;
  return {
    candidate: await withFieldValues(hire.connection, [mapping], { candidate, jobCandidate }),
    job: job ?? {},
    jobCandidate,
    application: await readApplication(hire.connection.partner, jobCandidate.id, [mapping]),
    onboarding: await readOnboardingRecord(hire, mapping),
  };
}

/**
 * What the person entered on the hosted page; undefined if they did not apply there (NO_APPLICATION). Makes the call
 * only if a mapping reads it.
 */
export async function readApplication(
  partner: PartnerClient,
  jobCandidateId: string,
  mappings: readonly Mapping[],
): Promise<Record<string, unknown> | undefined> {
  if (!mappings.some(({ fields }) => readsSource(fields, 'application'))) return undefined;
  const read = partner.jobCandidates.getApplication({ params: { jobCandidateId } }, { priority: 'live' });
  return (await read.catch(unless('NO_APPLICATION')))?.data;
}

/** Makes the call only if the mapping reads the onboarding. */
async function readOnboardingRecord(hire: HireContext, mapping: Mapping): Promise<Record<string, unknown> | undefined> {
  const wanted = mapping.fields.some((field) => field.from.some((path) => path.source === 'onboarding'));
  const id = hire.row.onboarding_candidate_id;
  return !wanted || id === null ? undefined : ((await readEnrolment(hire, id)) as Record<string, unknown>);
}

/** Whether a person is in a hiring stage, and the time since the reading began. */
export interface Seen {
  presence: Presence;
  sinceRead: Elapsed;
}

export async function seePerson(
  store: Store,
  connection: Connection,
  jobCandidateId: string,
  stages: readonly string[] = hiringStagesOf(connection.tenant),
): Promise<Seen> {
  const sinceRead = startClock();
  const presence = await readPresence(store, connection, jobCandidateId, stages);
  return { presence, sinceRead };
}

/** How long a reading serves the next activity of its hire: much less than a reading may be old before a write. */
const KEPT_MS = 10_000;

/** Readings by open connection and hire; each is given out once. */
function keptBriefly<T>() {
  const kept = new WeakMap<Connection, Map<string, { value: T; since: Elapsed }>>();
  const keyOf = ({ jobCandidateId, period }: HireRef): string => `${jobCandidateId} ${period}`;
  return {
    keep(connection: Connection, ref: HireRef, value: T, since = startClock()): void {
      const ofConnection = kept.get(connection) ?? new Map<string, { value: T; since: Elapsed }>();
      kept.set(connection, ofConnection);
      const [key, one] = [keyOf(ref), { value, since }];
      ofConnection.set(key, one);
      setTimeout(() => void (ofConnection.get(key) === one && ofConnection.delete(key)), KEPT_MS).unref();
    },
    take(connection: Connection, ref: HireRef): T | undefined {
      const key = keyOf(ref);
      const one = kept.get(connection)?.get(key);
      kept.get(connection)?.delete(key);
      return one !== undefined && one.since() <= KEPT_MS ? one.value : undefined;
    },
  };
}

/** People as seen when their hire was opened. */
const opened = keptBriefly<Seen>();

/** Keeps the opening's reading for the next step, if that step would read the same a moment later. */
export function keepSeen(connection: Connection, ref: HireRef, seen: Seen): void {
  const { onboarding, createAt } = connection.tenant.policies;
  const stages = hiringStagesOf(connection.tenant);
  if (onboarding !== 'skip' || !stages.every((stage) => createAt.includes(stage))) return;
  opened.keep(connection, ref, seen, seen.sinceRead);
}

/** Takes the opening's reading of a moment ago, once: a further attempt reads anew. */
export function takeSeen(connection: Connection, ref: HireRef): Seen | undefined {
  return opened.take(connection, ref);
}

/** Employee IDs as the enrolments showed them. */
const told = keptBriefly<{ employeeId: string | undefined }>();

/** Reads the hire's enrolment, and keeps the Employee ID it shows for a plan that may follow. */
export async function readEnrolment(
  { connection, ref }: Pick<HireContext, 'connection' | 'ref'>,
  onboardingCandidateId: string,
) {
  const params = { onboardingCandidateId };
  const { data } = await connection.partner.onboarding.getCandidate({ params }, { priority: 'live' });
  told.keep(connection, ref, { employeeId: shownEmployeeId(data.externalStatus) });
  return data;
}

/** The Employee ID that the hire's enrolment shows, which the partner was told. */
export async function readToldId(hire: HireContext): Promise<string | undefined> {
  const known = told.take(hire.connection, hire.ref);
  const id = hire.row.onboarding_candidate_id;
  if (known !== undefined || id === null) return known?.employeeId;
  return shownEmployeeId((await readEnrolment(hire, id).catch(unless('NOT_FOUND')))?.externalStatus);
}

/**
 * The mapping of a hire: that of its saved plan while a create of the plan may have been sent, so that every attempt
 * writes the same; otherwise the current one. A refused or applied plan is made anew.
 */
export async function pinnedMapping({ store, connection, ref, creation }: HireContext): Promise<Mapping> {
  const { mapping, tenant } = connection;
  if (creation?.outcome !== 'open' && creation?.outcome !== 'absent') return mapping;
  const plan = await latestPlan(store, ref);
  if (plan === undefined || plan.mapping_hash === mapping.hash) return mapping;
  const versions = await findMappingVersions(store, ref.tenantId, plan.mapping_hash);
  const version = versions.find(({ subject }) => subject === 'employee');
  const pinned = version === undefined ? undefined : await loadMappingVersion(tenant, version);
  return pinned ?? mapping;
}

type JobRecord = Record<string, unknown>;

/** Whether the tenant takes this job, judged by the given record, else by the last jobs list. */
export async function isInScope(
  store: Store,
  connection: Connection,
  jobId: string | null,
  job?: JobRecord,
): Promise<boolean> {
  const { scope } = connection.tenant;
  if (scope === undefined) return true;
  return takesJob(scope, jobId === null ? [] : await shownBy(store, connection, scope, { jobId, job }));
}

/** Holds a hire whose job the tenant no longer takes, unless a person said to finish it here. */
export async function heldOutsideScope(
  { store, connection, ref, decisions }: HireContext,
  jobId: string | null,
  job?: JobRecord,
): Promise<Held | undefined> {
  if (decisions.takeAnyway === true || (await isInScope(store, connection, jobId, job))) return undefined;
  return held('JOB_LEFT_SCOPE', { jobCandidateId: ref.jobCandidateId, jobId: jobId ?? 'unknown' });
}

/** The job's values for the scope's criterion. */
async function shownBy(
  store: Store,
  connection: Connection,
  scope: JobScope,
  { jobId, job }: { jobId: string; job: JobRecord | undefined },
): Promise<string[]> {
  if (scope.jobs !== undefined) return [jobId];
  if (scope.teams !== undefined) {
    const own = scope.teams.map(async (team) => ((await jobsOfTeam(connection, team)).has(jobId) ? [team] : []));
    return (await Promise.all(own)).flat();
  }
  const record = job ?? (await readJob(store, connection.tenant.tenant, jobId))?.record;
  // Nobody can tell whose job it is, and a wrong guess would hire somebody twice or not at all.
  if (record === undefined)
    throw new ConnectorError({
      code: 'JOB_UNREADABLE',
      action: 'retry',
      message:
        `The record of job ${jobId} cannot be read, so it is unknown whether it is in the tenant's scope. Correct ` +
        'it with the partner; its hires then continue by themselves.',
      retryAfterMs: 60_000,
    });
  if (scope.countries !== undefined) return listOf(record['country']);
  const name = scope.customField?.name ?? '';
  const text = `job.customFields[${name}]`;
  const read = readSource({ source: 'job', customField: name, text }, { job: record });
  if ('code' in read) throw rejected(read.code, read.text);
  return listOf(read.value);
}

/** A multi-select is stored as JSON text (J13). */
function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  const text = String(value);
  if (!text.startsWith('[')) return [text];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : [text];
  } catch {
    return [text];
  }
}

interface Reading {
  jobs: Promise<ReadonlySet<string>>;
  beganAt: number;
}

const readings = new WeakMap<Connection, Map<string, Reading>>();
/** A job's change of team is noticed up to this much later. */
const FRESH_MS = 60_000;

/** A job's record does not show its team (section 2.2), so the list is asked for each team's jobs (section 4.2). */
async function jobsOfTeam(connection: Connection, team: string): Promise<ReadonlySet<string>> {
  const known = readings.get(connection) ?? new Map<string, Reading>();
  readings.set(connection, known);
  const reading = known.get(team);
  if (reading !== undefined && performance.now() - reading.beganAt < FRESH_MS) return reading.jobs;
  const jobs = connection.partner
    .readAll(contract.jobs.list, { query: { teamId: team } }, { priority: 'live' })
    .then(
      ({ items, unreadable }) => new Set([...items.map(({ id }) => id), ...unreadable.flatMap(({ id }) => id ?? [])]),
    );
  known.set(team, { jobs, beganAt: performance.now() });
  jobs.catch(() => known.delete(team));
  return jobs;
}
