import { fetchJobCandidates } from '../../activities/presence/fetch-job-candidates.ts';
import type { CompiledField } from '../mapping/compile-rule.ts';
import { evaluateField, type Step } from '../mapping/evaluate.ts';
import { shortVersion } from '../mapping/load-mapping.ts';
import type { MappingSources } from '../mapping/read-source.ts';
import { writeRule } from '../mapping/write-rule.ts';
import { latestHire } from '../store/hires.ts';
import type { Store } from '../store/open-store.ts';
import { latestPlan } from '../store/plans.ts';
import type { PlanRow } from '../store/schema.ts';
import { loadTenantMapping } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { readHireSources, recordOf, unknownRecord } from './hire-sources.ts';
import { openPartner } from './open-partner.ts';

/** One field of the HR system: where its value comes from, what it is now, and what was planned and written. */
export interface ExplainedField {
  field: string;
  rule: string;
  file: string;
  line: number;
  sensitive: boolean;
  /** What each step gave; personal data. */
  steps: { step: string; value: unknown }[];
  /** What the field would get now; absent where it is left out. */
  value?: unknown;
  /** Why it would get nothing. */
  problem?: string;
  /** What the last plan has for it. */
  planned?: unknown;
}

export interface Explained {
  mapping: string;
  /** The last plan, where there is one. */
  plan?: { id: string; mapping: string; plannedAt: string; appliedAt: string | null };
  employee: { id: string; number: string | null } | null;
  fields: ExplainedField[];
}

/**
 * Reads a job candidate as the partner has it now and evaluates the mapping step by step, beside what was planned.
 * Writes nothing. @throws ConnectorError RECORD_UNKNOWN
 */
export async function explainRecord(store: Store, tenant: Tenant, jobCandidateId: string): Promise<Explained> {
  const [mapping, row] = await Promise.all([
    loadTenantMapping(tenant),
    latestHire(store, tenant.tenant, jobCandidateId),
  ]);
  const sources = await readRecords(store, tenant, jobCandidateId);
  const plan = row === undefined ? undefined : await latestPlan(store, refOf(row));
  const planned = plannedFields(plan);
  return {
    mapping: shortVersion(mapping.hash),
    ...(plan === undefined ? {} : { plan: viewPlan(plan) }),
    employee: typeof row?.employee_id === 'string' ? { id: row.employee_id, number: row.employee_number } : null,
    fields: mapping.fields.map((field) => ({
      ...explainField(field, sources),
      ...(Object.hasOwn(planned, field.target) ? { planned: planned[field.target] } : {}),
    })),
  };
}

const MASK = '•••';

/** The same without the values of sensitive fields; which steps were taken stays. */
export function maskSensitive({ fields, ...rest }: Explained): Explained {
  const masked = (field: ExplainedField): ExplainedField => ({
    ...field,
    steps: field.steps.map(({ step, value }) => ({ step, value: value === undefined ? undefined : MASK })),
    ...('value' in field ? { value: MASK } : {}),
    ...('planned' in field ? { planned: MASK } : {}),
  });
  return { ...rest, fields: fields.map((field) => (field.sensitive ? masked(field) : field)) };
}

function refOf(row: { tenant_id: string; job_candidate_id: string; period: number }) {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

function explainField(field: CompiledField, sources: MappingSources): ExplainedField {
  const steps: Step[] = [];
  const result = evaluateField(field, sources, steps);
  const { file, line } = field.at;
  const explained = { field: field.target, rule: writeRule(field.rule), file, line, sensitive: field.sensitive, steps };
  if ('code' in result) return { ...explained, problem: `${result.text} [${result.code}]` };
  return result.value === undefined ? explained : { ...explained, value: result.value };
}

async function readRecords(store: Store, tenant: Tenant, jobCandidateId: string): Promise<MappingSources> {
  const partner = openPartner(tenant);
  try {
    const [fetched] = await fetchJobCandidates({ partner }, [jobCandidateId]);
    const record = fetched?.jobCandidate;
    if (record === undefined) throw unknownRecord(jobCandidateId, fetched?.unreadable);
    const row = await latestHire(store, tenant.tenant, jobCandidateId);
    const onboardingCandidateId = row?.onboarding_candidate_id ?? null;
    return await readHireSources(store, partner, { tenantId: tenant.tenant, onboardingCandidateId }, record);
  } finally {
    await partner.close();
  }
}

function viewPlan(plan: PlanRow): NonNullable<Explained['plan']> {
  const iso = (at: number): string => new Date(Number(at)).toISOString();
  return {
    id: plan.plan_id,
    mapping: shortVersion(plan.mapping_hash),
    plannedAt: iso(plan.planned_at),
    appliedAt: plan.applied_at === null ? null : iso(plan.applied_at),
  };
}

/** A plan that names no fields links somebody who is there already. */
function plannedFields(plan: PlanRow | undefined): Record<string, unknown> {
  return plan === undefined ? {} : recordOf(recordOf(JSON.parse(plan.change))['fields']);
}
