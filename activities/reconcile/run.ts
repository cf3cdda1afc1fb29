import { ConnectorError } from '../../src/errors.ts';
import type { ReconcileCounts } from '../../src/hire/hire-activities.ts';
import type { Hint } from '../../src/store/hints.ts';
import { insertReconcile, saveReconcile } from '../../src/store/reconciles.ts';
import type { ReconcileKind } from '../../src/store/tenant-tables.ts';
import type { ActivityDeps, Connection } from '../connections.ts';

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
  /** Number of the list, or of the lot of jobs. */
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

/** Gives the slot back now and then: other tenants need it, and a worker that is replaced need not wait. */
export function goesOn(tenantId: string): ConnectorError {
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
  const slippedTo = records > 0 && mayHaveSlipped(cursor, total) ? cursor.page : cursor.slippedTo;
  const isOver = records === 0 || (total !== null && read >= total);
  if (!isOver) return { ...cursor, page: cursor.page + 1, read, total, slippedTo };
  const pages = records === 0 ? cursor.page - 1 : cursor.page;
  if (readTwice && cursor.pass === 'first') return pages > 1 ? { ...startOfList(), pass: 'second' } : undefined;
  return slippedTo > FIRST_PAGE ? { ...startOfList(), pass: 'again', slippedTo } : undefined;
}

/** How many people the total still counts where this page is empty. */
export function unshownAfter(cursor: ListCursor, page: PageSeen): number {
  if (cursor.pass === 'again' || (page?.records ?? 0) > 0) return 0;
  return Math.max(0, (page?.total ?? cursor.total ?? 0) - cursor.read);
}

function mayHaveSlipped({ total: before }: ListCursor, total: number | null): boolean {
  return total === null || (before !== null && total < before);
}
