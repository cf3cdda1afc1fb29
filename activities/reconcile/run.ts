import { ConnectorError } from '../../src/errors.ts';
import type { ReconcileCounts } from '../../src/hire/reconcile-activities.ts';
import type { Hint } from '../../src/store/hints.ts';
import type { ReconcileKind } from '../../src/store/reconcile-tables.ts';
import { insertReconcile, saveReconcile } from '../../src/store/reconciles.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { type ListCursor, startOfList } from './list-cursor.ts';

/** What a reconcile does, one after the other; each step is done a page or some records at a time. */
const stepsOf = {
  baseline: [
    'jobs',
    'traces',
    'people',
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

/** What is to be read. */
export interface Plan {
  /** Jobs whose people are listed, with their totals before anybody was. */
  jobs: { jobId: string; totals: string }[];
  /** By the lists of the whole company: the partner need not be asked job by job. */
  isWide: boolean;
  /** Jobs of which the company's lists showed fewer people than their totals say. Found once those are read. */
  short?: string[];
  /** Jobs with somebody whose record cannot be read; `unknown` where the job is not known either. */
  broken: string[];
  /** Hires that the restored or rebuilt store does not know and the partner does not show. */
  unshown?: string[];
  /** Cleared when the reconcile is over. */
  hints: Hint[];
}

/** The next thing to do. */
export interface Position {
  step: StepName;
  /** Which list, or which lot of jobs. */
  list: number;
  cursor: ListCursor;
  /** The record done last, where they are done in the order of their ids. */
  after: string;
}

/** One reconcile under way; its steps count what they see and do. */
export interface Run {
  deps: ActivityDeps;
  connection: Connection;
  tenantId: string;
  /** This attempt, in the store. */
  holder: string;
  kind: ReconcileKind;
  plan: Plan;
  position: Position;
  counts: ReconcileCounts;
  /** One that reads no lists of people is short, and is kept in the store only when it must wait. */
  isSaved: boolean;
  isPlanChanged: boolean;
  /** Ids of the page read last. */
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

/** Notes how far the run is. One that is not in the store yet stays out of it unless it must be kept. */
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

/** A slot is given back now and then: other tenants need it, and a worker that is replaced need not wait. */
export function goesOn(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'RECONCILE_GOES_ON',
    action: 'throttle',
    message: `The reconcile of tenant ${tenantId} is not over. It goes on where it is at the next attempt.`,
    retryAfterMs: 100,
  });
}
