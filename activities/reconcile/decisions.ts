import type { JobSnapshot } from '../../src/store/jobs.ts';
import type { HireRow, TenantRow } from '../../src/store/schema.ts';
import type { ReconcileKind } from '../../src/store/tenant-tables.ts';
import type { ListedJob } from './refresh-jobs.ts';
import { type Position, type StepName, startOfList } from './run.ts';

const DAY_MS = 86_400_000;

interface ReconcileScope {
  /** The tenant's first reconcile, which records the baseline. */
  isFirst: boolean;
  /** Once a day everything is compared, even if nothing seems to have changed. */
  isFull: boolean;
  /** The store was restored from a backup, so hires that it no longer knows are searched too. */
  isRestored: boolean;
}

export function scopeOf(
  tenant: Pick<TenantRow, 'baseline_done_at' | 'fully_reconciled_at'>,
  now: number,
): ReconcileScope {
  const isFirst = tenant.baseline_done_at === null;
  return {
    isFirst,
    isFull: (tenant.fully_reconciled_at ?? 0) + DAY_MS <= now,
    isRestored: !isFirst && tenant.fully_reconciled_at === null,
  };
}

export function kindOf({ isFirst, isRestored, isFull }: ReconcileScope): ReconcileKind {
  if (isFirst) return 'baseline';
  if (isRestored) return 'restored';
  return isFull ? 'full' : 'changed';
}

/** Jobs whose people are listed: all in a full reconcile, else those with changed totals or hints. */
export function jobsToList(jobs: readonly ListedJob[], isFull: boolean, hinted: ReadonlySet<string>): ListedJob[] {
  return jobs.filter((job) => isFull || job.totals !== job.listedTotals || hinted.has(job.jobId));
}

/** Whether a person in the stage starts a new period: they have no hire, or their last hire ended because they left. */
export function startsNow(hire: Pick<HireRow, 'state'> | undefined): boolean {
  return hire === undefined || hire.state === 'left';
}

type Arriving = Pick<HireRow, 'state' | 'step' | 'employee_id'>;

/**
 * If enrolling and creating have separate stages, a hire waits for its person to reach the creating stage. The webhook
 * that reports the move may get lost.
 */
export function waitsForCreateStage(hire: Arriving | undefined): boolean {
  return hire?.state === 'open' && hire.step === 'employ' && hire.employee_id === null;
}

/** Whether a hire waits for its onboarding. */
export function waitsForOnboarding(hire: Pick<HireRow, 'employee_id' | 'onboarding_candidate_id'>): boolean {
  return hire.employee_id === null && hire.onboarding_candidate_id !== null;
}

/**
 * The totals to note for a job whose people were listed. If the list differs from the totals, the job is listed once
 * more in the next reconcile: it ended before its total, or somebody moved between the two readings and would be missed
 * once the totals are as they were. A list that differs in the same way again is taken as it is.
 */
export function totalsToNote(totals: string, difference: string | undefined, listed?: string | null): string {
  const unlike = `${totals} ${difference}`;
  return difference === undefined || listed === unlike ? totals : unlike;
}

/** How many people the lists of these stages showed, if that differs from the totals: `but HIRED 2, OFFER 0`. */
export function unlikeTotals(
  totals: string,
  shown: ReadonlyMap<string, number> | undefined,
  stages: readonly string[],
): string | undefined {
  const counts = stages.map((stage) => [stage, countListed(totals, [stage]), shown?.get(stage) ?? 0] as const);
  if (counts.every(([, total, seen]) => total === undefined || total === seen)) return undefined;
  return `but ${counts.map(([stage, , seen]) => `${stage} ${seen}`).join(', ')}`;
}

/** Jobs that showed fewer people than their totals for these stages; with `unknown`, those without totals too. */
export function shortJobs(
  jobs: readonly Pick<JobSnapshot, 'jobId' | 'record'>[],
  seen: ReadonlyMap<string, number>,
  stages: readonly string[],
  unknown: boolean,
): string[] {
  const isShort = ({ jobId, record }: Pick<JobSnapshot, 'jobId' | 'record'>): boolean =>
    (unknown && !Array.isArray(record['pipelineStage'])) || (seen.get(jobId) ?? 0) < (countOf(record, stages) ?? 0);
  return jobs.filter(isShort).map(({ jobId }) => jobId);
}

/** People on this job, or in these stages of it, by its own totals; undefined if it tells none. */
export function countOf(job: Record<string, unknown> | undefined, stages?: readonly string[]): number | undefined {
  const totals = job?.['pipelineStage'];
  if (!Array.isArray(totals)) return undefined;
  const all = totals as { type?: unknown; totalCandidate?: unknown }[];
  return sumOf(
    all.map(({ type, totalCandidate }) => [type, totalCandidate]),
    stages,
  );
}

/** The same by the totals at which its people were last listed; undefined also if that list was not whole. */
export function countListed(totals: string | null | undefined, stages: readonly string[]): number | undefined {
  return totals?.startsWith('[') && totals.endsWith(']') ? sumOf(JSON.parse(totals) as Total[], stages) : undefined;
}

type Total = [type: unknown, count: unknown];

function sumOf(totals: readonly Total[], stages?: readonly string[]): number | undefined {
  const meant = totals.filter(([type]) => stages?.includes(String(type)) ?? true);
  return meant.length === 0 ? undefined : meant.reduce((sum, [, count]) => sum + (Number(count) || 0), 0);
}

/**
 * A reconcile left alone for this long starts anew, because its lists have moved on. A baseline only rereads its
 * current list.
 */
const STALE_MS = 3_600_000;
/** If a worker of another version recorded the baseline meanwhile, these steps are not continued. */
const beforeGoLive: readonly StepName[] = ['jobs', 'traces', 'people', 'record'];

/** Where an interrupted reconcile continues; undefined if it does not. */
export function goesOnFrom(
  { kind, position, ageMs }: { kind: ReconcileKind; position: Position; ageMs: number },
  { isFirst, isRestored }: ReconcileScope,
): Position | undefined {
  // A reconcile from before the backup would end as if nothing had been lost.
  if (isRestored && kind !== 'restored') return undefined;
  const isStale = ageMs > STALE_MS;
  if (kind !== 'baseline') return isFirst || isStale ? undefined : position;
  if (!isFirst && beforeGoLive.includes(position.step)) return undefined;
  return isStale ? { ...position, cursor: startOfList() } : position;
}
