import type { HireRow, TenantRow } from '../../src/store/schema.ts';
import type { ListedJob } from './refresh-jobs.ts';

const DAY_MS = 86_400_000;

export interface ReconcileScope {
  /** The tenant's first reconcile records the baseline. */
  isFirst: boolean;
  /** Once a day everything is compared, whatever seems unchanged. */
  isFull: boolean;
}

export function scopeOf(
  tenant: Pick<TenantRow, 'baseline_done_at' | 'fully_reconciled_at'>,
  now: number,
): ReconcileScope {
  return {
    isFirst: tenant.baseline_done_at === null,
    isFull: (tenant.fully_reconciled_at ?? 0) + DAY_MS <= now,
  };
}

/** Jobs whose people are listed: all in a full reconcile, otherwise those whose totals moved and those hinted at. */
export function jobsToList(jobs: readonly ListedJob[], isFull: boolean, hinted: ReadonlySet<string>): ListedJob[] {
  return jobs.filter((job) => isFull || job.totals !== job.listedTotals || hinted.has(job.jobId));
}

/** No hire yet, or one that is over and whose person had left: being in the stage now is a new period. */
export function startsNow(hire: Pick<HireRow, 'state'> | undefined): boolean {
  return hire === undefined || hire.state === 'left';
}

type Arriving = Pick<HireRow, 'state' | 'step' | 'employee_id'>;

/**
 * With stages apart, a hire waits between them for its person to reach the one where employees are created. The webhook
 * that told of the move may be lost.
 */
export function waitsForCreateStage(hire: Arriving | undefined): boolean {
  return hire?.state === 'open' && hire.step === 'employ' && hire.employee_id === null;
}

/** Hires of this job whose person is not in its list. */
export function absentFrom<Hire extends Pick<HireRow, 'job_id' | 'job_candidate_id'>>(
  hires: readonly Hire[],
  jobId: string,
  present: ReadonlySet<string>,
): Hire[] {
  return hires.filter((hire) => hire.job_id === jobId && !present.has(hire.job_candidate_id));
}

type Waiting = Pick<HireRow, 'employee_id' | 'onboarding_candidate_id' | 'onboarding_status'>;

/** Hires that wait for their onboarding, by the id of their enrolment. */
export function waitingForOnboarding<Hire extends Waiting>(open: readonly Hire[]): Map<string, Hire> {
  return new Map(
    open.flatMap((hire) => {
      const id = hire.onboarding_candidate_id;
      return hire.employee_id === null && id !== null ? [[id, hire] as const] : [];
    }),
  );
}
