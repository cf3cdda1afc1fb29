import { ConnectorError } from '../../src/errors.ts';
import type { ReconcileCounts } from '../../src/hire/hire-activities.ts';
import type { Hint } from '../../src/store/hints.ts';
import type { JobSnapshot } from '../../src/store/jobs.ts';
import { insertReconcile, saveReconcile } from '../../src/store/reconciles.ts';
import type { HireRow, TenantRow } from '../../src/store/schema.ts';
import type { ReconcileKind } from '../../src/store/tenant-tables.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import type { ListedJob } from './refresh-jobs.ts';

/** Steps of a reconcile, in order; each is done one page or a few records at a time. */
const stepsOf = {
  baseline: [
    'jobs',
    'traces',
    'people',
    'enrolled',
    'record',
    'ask',
    'mark',
    'golive',
    'proof',
    'lost',
    'onboardings',
    'open-hires',
  ],
  full: ['people', 'absent', 'mark', 'proof', 'leavers', 'onboardings', 'unfollowed', 'open-hires'],
  restored: [
    'traces',
    'people',
    'absent',
    'mark',
    'proof',
    'leavers',
    'lost',
    'onboardings',
    'unfollowed',
    'open-hires',
  ],
  changed: ['people', 'absent', 'mark', 'proof', 'leavers', 'onboardings', 'unfollowed'],
} as const satisfies Record<ReconcileKind, readonly string[]>;

export type StepName = (typeof stepsOf)[ReconcileKind][number] | 'end';

/** What must be read. */
export interface Plan {
  /** Jobs whose people are listed, with their totals from before the listing. */
  jobs: { jobId: string; totals: string }[];
  /** Reads the lists of the whole company, so that the partner need not be asked job by job. */
  isWide: boolean;
  /** Jobs for which the company's lists showed fewer people than their totals; known once those lists are read. */
  short?: string[];
  /** A list of the whole company ended before its total. */
  isCut?: boolean;
  /** By job, how many people the totals of its lists counted and no page showed. */
  cut?: Record<string, number>;
  /** Jobs with an unreadable person record; `unknown` if the job is not known either. */
  broken: string[];
  /** Jobs that the jobs list leaves out: see `unlistedJobs`. */
  unlisted?: string[];
  /** Hints to clear when the reconcile is over. */
  hints: Hint[];
}

/** What to do next. */
export interface Position {
  step: StepName;
  /** Number of the list, or of the batch of jobs. */
  list: number;
  cursor: ListCursor;
  /** The last finished record, if records are processed in the order of their ids. */
  after: string;
}

/** One reconcile under way; its steps count what they see and do. */
export interface Run {
  deps: ActivityDeps;
  connection: Connection;
  tenantId: string;
  /** Names this attempt in the store. */
  holder: string;
  kind: ReconcileKind;
  plan: Plan;
  position: Position;
  counts: ReconcileCounts;
  /**
   * Whether the run is in the store. A run that reads no lists of people is short, so it is stored only if it must
   * wait.
   */
  isSaved: boolean;
  isPlanChanged: boolean;
  /** Ids of the last page read. */
  pageBefore: string;
}

export function startOf(step: StepName): Position {
  return { step, list: 0, cursor: startOfList(), after: '' };
}

export function firstStep(kind: ReconcileKind): StepName {
  return stepsOf[kind][0];
}

export function nextStep(kind: ReconcileKind, step: StepName): StepName {
  const steps: readonly StepName[] = stepsOf[kind];
  return steps[steps.indexOf(step) + 1] ?? 'end';
}

/** Stores how far the run is. A run that is not in the store yet is added only if `mustKeep`. */
export async function saveRun(run: Run, mustKeep = false): Promise<void> {
  const { store } = run.deps;
  const { tenantId, holder, kind, plan, position, counts } = run;
  if (run.isSaved) {
    await saveReconcile(store, run, { ...(run.isPlanChanged ? { plan } : {}), position, counts });
  } else if (mustKeep) {
    await insertReconcile(store, { tenantId, holder, kind, plan, position, counts });
    run.isSaved = true;
  }
  run.isPlanChanged = false;
}

/** Ends an attempt that has run for long: other tenants need its slot, and a worker that stops need not wait for it. */
export function paused(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'RECONCILE_GOES_ON',
    action: 'throttle',
    message: `The reconcile of tenant ${tenantId} is not finished. The next attempt continues where this one stopped.`,
    retryAfterMs: 100,
  });
}

/** How far a list has been read, so that another process can continue. */
export interface ListCursor {
  /** first: the first pass. second: a full second pass. again: rereads pages that records may have slipped to. */
  pass: 'first' | 'second' | 'again';
  /** The next page to read. */
  page: number;
  /** Records read in this pass, over all its pages. */
  read: number;
  /** Total number of records, as stated by the page before. */
  total: number | null;
  /** Records may have slipped to pages before this one. */
  slippedTo: number;
}

/** Every list that a reconcile reads numbers its pages from 1. */
const FIRST_PAGE = 1;

export function startOfList(): ListCursor {
  return { pass: 'first', page: FIRST_PAGE, read: 0, total: null, slippedTo: 0 };
}

/** What a page showed; undefined behind the last page. */
type PageSeen = { records: number; total?: number } | undefined;

/**
 * Where the reading continues after this page; undefined when it is done. A list may change while it is read: if its
 * total falls or is not stated, records may have slipped to a page read before. With `readTwice` the whole list is read
 * again, unless it has only one page, which cannot shift: only a record that moved twice is missed by both readings.
 */
export function afterPage(cursor: ListCursor, page: PageSeen, readTwice: boolean): ListCursor | undefined {
  const records = page?.records ?? 0;
  if (cursor.pass === 'again') {
    const isOver = records === 0 || cursor.page + 1 >= cursor.slippedTo;
    return isOver ? undefined : { ...cursor, page: cursor.page + 1 };
  }
  const total = page?.total ?? null;
  const read = cursor.read + records;
  const slippedTo = mayHaveSlipped(cursor, records, total) ? cursor.page : cursor.slippedTo;
  const isOver = records === 0 || (total !== null && read >= total);
  if (!isOver) return { ...cursor, page: cursor.page + 1, read, total, slippedTo };
  const pages = records === 0 ? cursor.page - 1 : cursor.page;
  if (readTwice && cursor.pass === 'first') return pages > 1 ? { ...startOfList(), pass: 'second' } : undefined;
  return slippedTo > FIRST_PAGE ? { ...startOfList(), pass: 'again', slippedTo } : undefined;
}

/** Whether records of this page may have moved to one before. On an empty page, all that it had may have. */
function mayHaveSlipped(cursor: ListCursor, records: number, total: number | null): boolean {
  if (cursor.total === null) return records > 0 && total === null;
  if (total !== null) return total < cursor.total;
  return records > 0 || cursor.total > cursor.read;
}

/** How many people the total still counts where this page is empty. */
export function unshownAfter(cursor: ListCursor, page: PageSeen): number {
  if (cursor.pass === 'again' || (page?.records ?? 0) > 0) return 0;
  return Math.max(0, (page?.total ?? cursor.total ?? 0) - cursor.read);
}

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

/**
 * If enrolling and creating have separate stages, a hire waits for its person to reach the creating stage. The webhook
 * that reports the move may get lost.
 */
export function waitsForCreateStage(hire: Pick<HireRow, 'state' | 'step'> | undefined): boolean {
  // With an employee, too: a worker that dies after the link leaves the hire in this step.
  return hire?.state === 'open' && hire.step === 'employ';
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
