import type { JobSnapshot } from '../../src/store/jobs.ts';
import type { ReconcileKind } from '../../src/store/reconcile-tables.ts';
import type { HireRow, TenantRow } from '../../src/store/schema.ts';
import { startOfList } from './list-cursor.ts';
import type { ListedJob } from './refresh-jobs.ts';
import type { Position, StepName } from './run.ts';

const DAY_MS = 86_400_000;

export interface ReconcileScope {
  /** The tenant's first reconcile records the baseline. */
  isFirst: boolean;
  /** Once a day everything is compared, whatever seems unchanged. */
  isFull: boolean;
  /** The store was restored from a backup: what it does not know any more is looked for, too. */
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

/** A hire that waits for its onboarding. */
export function waitsForOnboarding(hire: Pick<HireRow, 'employee_id' | 'onboarding_candidate_id'>): boolean {
  return hire.employee_id === null && hire.onboarding_candidate_id !== null;
}

/** Jobs of which fewer people were seen than their totals of these stages say. */
export function shortJobs(
  jobs: readonly Pick<JobSnapshot, 'jobId' | 'record'>[],
  seen: ReadonlyMap<string, number>,
  stages: readonly string[],
): string[] {
  return jobs.filter(({ jobId, record }) => (seen.get(jobId) ?? 0) < totalOf(record, stages)).map(({ jobId }) => jobId);
}

function totalOf(record: Record<string, unknown>, stages: readonly string[]): number {
  const totals = record['pipelineStage'];
  if (!Array.isArray(totals)) return 0;
  return (totals as { type?: unknown; totalCandidate?: unknown }[])
    .filter(({ type }) => stages.includes(String(type)))
    .reduce((sum, stage) => sum + (Number(stage.totalCandidate) || 0), 0);
}

/** One that was left for so long begins anew: its lists have moved on. A baseline reads the list it was in anew. */
const STALE_MS = 3_600_000;
/** A baseline that was recorded meanwhile, by a worker of another version, is not gone on with. */
const beforeGoLive: readonly StepName[] = ['jobs', 'traces', 'people', 'record'];

/** Where a reconcile that was interrupted goes on; undefined when it does not. */
export function goesOnFrom(
  { kind, position, ageMs }: { kind: ReconcileKind; position: Position; ageMs: number },
  { isFirst, isRestored }: ReconcileScope,
): Position | undefined {
  // One that began before the backup would end as if nothing had been lost.
  if (isRestored && kind !== 'restored') return undefined;
  const isStale = ageMs > STALE_MS;
  if (kind !== 'baseline') return isFirst || isStale ? undefined : position;
  if (!isFirst && beforeGoLive.includes(position.step)) return undefined;
  return isStale ? { ...position, cursor: startOfList() } : position;
}
