import { ConnectorError } from '../../errors.ts';
import type { Observed } from '../../hire/observed.ts';
import { readHireRecords } from '../../store/hire-records.ts';
import { type HireFilter, latestHire, listHires as listRows } from '../../store/hires.ts';
import type { Store } from '../../store/open-store.ts';
import type { HireRow } from '../../store/schema.ts';
import { type StoryLine, sayHire, tellHire } from './tell-hire.ts';

/** One hire as people see it: ids, states and times (UTC), no personal data. */
export interface HireView {
  tenantId: string;
  jobCandidateId: string;
  period: number;
  state: HireRow['state'];
  step: string;
  jobId: string | null;
  candidateId: string | null;
  onboardingCandidateId: string | null;
  onboardingStatus: string | null;
  enrolment: number;
  employeeId: string | null;
  employeeNumber: string | null;
  openedAt: string;
  updatedAt: string;
  endedAt: string | null;
  /** What a tenant that only observes would have done. */
  observed: Observed | null;
  /** Why it was recorded and not started by a live tenant. */
  passedOver: string | null;
}

/** Hires in every period, those that changed last first. */
export async function listHires(store: Store, filter: HireFilter): Promise<HireView[]> {
  return (await listRows(store, filter)).map(viewHire);
}

/**
 * The newest period of one job candidate: how it stands, what comes next, and its story.
 * @throws ConnectorError HIRE_UNKNOWN
 */
export async function readHire(
  store: Store,
  tenantId: string,
  jobCandidateId: string,
): Promise<HireView & { stands: string; next: string; story: StoryLine[] }> {
  const row = await latestHire(store, tenantId, jobCandidateId);
  if (row === undefined)
    throw new ConnectorError({
      code: 'HIRE_UNKNOWN',
      action: 'reject',
      message:
        `The store knows no hire of job candidate ${jobCandidateId} in tenant ${tenantId}. ` +
        `List the known ones with: hirebridge hire list --tenant ${tenantId}`,
    });
  const records = await readHireRecords(store, row);
  return { ...viewHire(row), ...sayHire(records), story: tellHire(records) };
}

export function viewHire(row: HireRow): HireView {
  return {
    tenantId: row.tenant_id,
    jobCandidateId: row.job_candidate_id,
    period: row.period,
    state: row.state,
    step: row.step,
    jobId: row.job_id,
    candidateId: row.candidate_id,
    onboardingCandidateId: row.onboarding_candidate_id,
    onboardingStatus: row.onboarding_status,
    enrolment: row.enrolment,
    employeeId: row.employee_id,
    employeeNumber: row.employee_number,
    openedAt: utc(row.opened_at),
    updatedAt: utc(row.updated_at),
    endedAt: row.ended_at === null ? null : utc(row.ended_at),
    observed: row.observed === null ? null : (JSON.parse(row.observed) as Observed),
    passedOver: row.passed_over,
  };
}

function utc(ms: number): string {
  return new Date(Number(ms)).toISOString();
}
