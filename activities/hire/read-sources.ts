import type { EmployeeFields } from '../../src/hire/employee.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { readsSource } from '../../src/mapping/compile-rule.ts';
import { evaluateMapping, type MappingProblem } from '../../src/mapping/evaluate.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { MappingSources } from '../../src/mapping/read-source.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { withTables } from '../../src/streams/with-tables.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { fittedMapping } from '../fields/custom-fields.ts';
import { currentRecords, withNestedValues } from '../fields/field-values.ts';
import { readJobNow } from '../presence/read-job.ts';
import { type Presence, readPresence } from '../presence/read-presence.ts';
import { pinnedMapping } from './pinned-mapping.ts';
import { type Seen, seePerson } from './see-person.ts';
import { type HireContext, noteHire } from './with-hire.ts';
import type { Elapsed } from './write-once.ts';

/** Everything an employee is made of, as both sides hold it now. */
export interface Sources {
  candidateId: string;
  jobId: string;
  /** As it was read for this; absent where no rule reads it. */
  job: Record<string, unknown> | undefined;
  fields: EmployeeFields;
  problems: MappingProblem[];
  /** By which they were mapped. */
  mapping: Mapping;
  /** In a stage where an employee may be made. */
  inside: boolean;
  /** Time since the reading began. */
  sinceRead: Elapsed;
}

/**
 * Reads the person where they are now and maps them. `left` and `not-yet` say that nothing may be created; a create
 * that already left must be settled whatever the stage, so `anyStage` reads on. `seen`: the person as read a moment
 * ago.
 */
export async function readSources(
  hire: HireContext,
  options: { anyStage: boolean; seen?: Seen | undefined },
): Promise<{ verdict: 'left' | 'not-yet' } | Held | { verdict: 'read'; sources: Sources }> {
  const { store, connection, ref } = hire;
  const { createAt } = connection.tenant.policies;
  const { presence, sinceRead } = options.seen ?? (await seePerson(store, connection, ref.jobCandidateId, createAt));
  if (presence.verdict === 'missing') return { verdict: 'left' };
  if (presence.verdict === 'out' && !options.anyStage) {
    const stages = hiringStagesOf(connection.tenant);
    if (stages.length === new Set(createAt).size) return { verdict: 'left' };
    const { verdict } = await readPresence(store, connection, ref.jobCandidateId, stages);
    return { verdict: verdict === 'in' ? 'not-yet' : 'left' };
  }
  const { candidateId, jobId } = presence;
  await noteHire(hire, { candidate_id: candidateId, job_id: jobId });
  const pinned = await pinnedMapping(hire);
  const job = await readJobRecord(hire, presence, pinned, options.anyStage);
  if (job !== undefined && 'verdict' in job) return job;
  const read = await readRecords(hire, presence.jobCandidate, job?.record, pinned);
  const [records = read] = await currentRecords(hire.deps, connection, pinned, [read]);
  const fitted = await fittedMapping(hire.deps, connection, 'employee', pinned);
  const mapping = await withTables(store, ref.tenantId, fitted);
  const { fields, problems } = evaluateMapping(mapping, records);
  const inside = presence.verdict === 'in';
  return {
    verdict: 'read',
    sources: { candidateId, jobId, job: job?.record, fields, problems, mapping, inside, sinceRead },
  };
}

/**
 * The job as it is now: what was reconciled minutes ago may be another department. One that the partner no longer shows
 * is taken as it was shown last where a person said so, or a create is under way.
 */
async function readJobRecord(
  { store, connection, ref, decisions }: HireContext,
  { jobId, job: known }: Pick<Exclude<Presence, { verdict: 'missing' }>, 'jobId' | 'job'>,
  mapping: Mapping,
  isUnderWay: boolean,
): Promise<{ record: Record<string, unknown> | undefined } | Held | undefined> {
  // Only a mapping that reads the job costs the call.
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
  return {
    candidate: await withNestedValues(
      hire.connection.partner,
      [mapping],
      jobCandidate.candidateId,
      recordOf(jobCandidate['candidate_details']),
    ),
    job: job ?? {},
    jobCandidate,
    onboarding: await readOnboardingRecord(hire, mapping),
  };
}

/** Only a mapping that reads the onboarding costs the call. */
async function readOnboardingRecord(
  { connection: { partner }, row }: HireContext,
  mapping: Mapping,
): Promise<Record<string, unknown> | undefined> {
  const wanted = mapping.fields.some((field) => field.from.some((path) => path.source === 'onboarding'));
  const id = row.onboarding_candidate_id;
  if (!wanted || id === null) return undefined;
  const { data } = await partner.onboarding.getCandidate(
    { params: { onboardingCandidateId: id } },
    { priority: 'live' },
  );
  return data as Record<string, unknown>;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
