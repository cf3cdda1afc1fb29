import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
import type { Change } from '../../hire/change.ts';
import type { EmployeeFields } from '../../hire/employee.ts';
import { tablesOf } from '../../mapping/bind-tables.ts';
import { type Mapping, shortVersion } from '../../mapping/load-mapping.ts';
import { latestHire } from '../../store/hires.ts';
import type { Store } from '../../store/open-store.ts';
import { type KeptPlan, latestPlan } from '../../store/plans.ts';
import type { HireRow } from '../../store/schema.ts';
import { readStreamState } from '../../store/stream-states.ts';
import { type OpenTenant, patiently } from '../open-tenant.ts';
import { readHireSources, unknownRecord } from '../plans/hire-sources.ts';
import { type Explained, explainField, lastWritten } from './explained.ts';
import { readHireWrites } from './read-audit.ts';

const READ_MS = 30_000;

/**
 * The whole story of one hire: every field from the partner's record as it is now over rule and steps to plan, write
 * and what the HR system holds. Writes nothing; `reveal` shows values that earlier writes mask.
 * @throws ConnectorError RECORD_UNKNOWN
 */
export async function explainRecord(
  { store, tenant, connection }: OpenTenant,
  jobCandidateId: string,
  reveal: boolean,
): Promise<Explained> {
  const { mapping } = connection;
  const { tenant: tenantId } = tenant;
  const row = await latestHire(store, tenantId, jobCandidateId);
  const [fetched] = await patiently(() => fetchJobCandidates(connection, [jobCandidateId]));
  if (fetched?.jobCandidate === undefined) throw unknownRecord(jobCandidateId, fetched?.unreadable);
  const enrolmentId = row?.onboarding_candidate_id ?? null;
  const { sources, jobSeenAt } = await readHireSources(store, connection, enrolmentId, fetched.jobCandidate);
  const times = { now: Date.now(), earlier: { ...(await tableTimes(store, tenantId, mapping)), job: jobSeenAt } };
  const plan = row === undefined ? undefined : await latestPlan(store, refOf(row));
  const planned = plan === undefined || plan.change === 'purged' ? {} : fieldsOf(plan.change);
  const writes = await readHireWrites(store, tenantId, jobCandidateId, reveal);
  const held = await readHeld(connection, row);
  return {
    mapping: shortVersion(mapping.hash),
    ...(plan === undefined ? {} : { plan: viewPlan(plan) }),
    employee: typeof row?.employee_id === 'string' ? { id: row.employee_id, number: row.employee_number } : null,
    fields: mapping.fields.map((field) => {
      const written = lastWritten(writes, 'employee', field.target);
      return {
        ...explainField(field, sources, times),
        ...(Object.hasOwn(planned, field.target) ? { planned: planned[field.target] } : {}),
        ...(written === undefined ? {} : { written }),
        ...(held === undefined ? {} : { held: held[field.target] ?? null }),
      };
    }),
    writes,
  };
}

/** When the tables that the mapping looks values up in were last read whole. */
async function tableTimes(store: Store, tenantId: string, mapping: Mapping): Promise<Record<string, number | null>> {
  const times = tablesOf(mapping).map(async (stream) => {
    const wholeAt = (await readStreamState(store, { tenantId, stream }))?.whole_at ?? null;
    return [stream, wholeAt === null ? null : Number(wholeAt)] as const;
  });
  return Object.fromEntries(await Promise.all(times));
}

/** What the HR system holds of the employee; nothing where there is none, or where it cannot be asked. */
async function readHeld(
  { hris }: OpenTenant['connection'],
  row: HireRow | undefined,
): Promise<EmployeeFields | undefined> {
  if (typeof row?.employee_id !== 'string') return undefined;
  return (await hris.employees.read(row.employee_id, AbortSignal.timeout(READ_MS)))?.fields;
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

/** A plan that names no fields links somebody who is there already. */
function fieldsOf(change: Change): EmployeeFields {
  return 'fields' in change ? change.fields : {};
}
