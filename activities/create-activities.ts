import { Context } from '@temporalio/activity';
import { ConnectorError, isConnectorError } from '../src/errors.ts';
import { inActivity } from '../src/failpoint.ts';
import type { HireActivities } from '../src/hire/hire-activities.ts';
import { HIRE_BEHIND } from '../src/hire/hire-run.ts';
import type { ReconcileActivities } from '../src/hire/reconcile-activities.ts';
import { compareAllAnew } from '../src/store/tenant-states.ts';
import type {
  ExchangeActivities,
  ExchangeInput,
  ExchangeStep,
  PullInput,
  PushActivities,
  PushInput,
  StreamActivities,
  StreamInput,
  StreamStep,
} from '../src/streams/stream-activities.ts';
import { inScope } from './activity-scope.ts';
import type { ActivityDeps } from './deps.ts';
import { exchangePairs } from './exchange/exchange-pairs.ts';
import { retryDelay, toFailure } from './failures.ts';
import { cancelHire, lookForReturn, startNextEnrolment } from './hire/cancel-hire.ts';
import {
  allowCancellation,
  confirmGone,
  describeLeftAfterEmployee,
  hasEmployee,
  readHire,
} from './hire/confirm-gone.ts';
import { handOver, judgeDeparture } from './hire/departure.ts';
import { endEmployment } from './hire/end-employment.ts';
import { enrol } from './hire/enrol.ts';
import { finishHire } from './hire/finish-hire.ts';
import { employAndGoOn, onboardAndGoOn } from './hire/go-on.ts';
import { openHold, takeAnswer } from './hire/hold-hire.ts';
import { openHire } from './hire/open-hire.ts';
import { pushRecords } from './push/push-records.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { pullPages, syncPages } from './streams/pull-pages.ts';
import { createTenantSlots, type TenantSlots } from './tenant-slots.ts';
import { noteFailure, noteSuccess } from './watch-activity.ts';

export type Activities = HireActivities & ReconcileActivities & StreamActivities & PushActivities & ExchangeActivities;

/** Tells Temporal how far an activity is; seen there, and carried by every later beat. */
type Beat = (details: unknown) => void;

interface BoundActivities extends Activities {
  syncPages(input: StreamInput, beat?: Beat): Promise<StreamStep>;
  pushRecords(input: PushInput, beat?: Beat): Promise<StreamStep>;
  pullPages(input: PullInput, beat?: Beat): Promise<StreamStep>;
  exchangePairs(input: ExchangeInput, beat?: Beat): Promise<ExchangeStep>;
}

/** Every activity bound to what it needs, as plain functions. */
export function bindActivities(deps: ActivityDeps): BoundActivities {
  const bound = functionsOf(deps);
  const watched = Object.entries(bound).map(([name, run]) => [name, afterRestore(deps, run as RunWithBeat)]);
  return Object.fromEntries(watched) as unknown as BoundActivities;
}

/** A restored store is noticed by one hire and concerns all: each tenant's next reconcile compares everything. */
function afterRestore({ store, log }: ActivityDeps, run: RunWithBeat): RunWithBeat {
  return async (input, beat) => {
    try {
      return await run(input, beat);
    } catch (error) {
      if (!isConnectorError(error, HIRE_BEHIND)) throw error;
      log.error({ reason: error.message }, 'the store was restored: everything is compared anew');
      await compareAllAnew(store);
      throw error;
    }
  };
}

function functionsOf(deps: ActivityDeps): BoundActivities {
  return {
    openHire: (input) => openHire(deps, input),
    readHire: (input) => readHire(deps, input),
    enrol: (input) => enrol(deps, input),
    startNextEnrolment: (input) => startNextEnrolment(deps, input),
    readOnboarding: (input) => onboardAndGoOn(deps, input),
    employ: (input) => employAndGoOn(deps, input),
    finishHire: (input) => finishHire(deps, input),
    confirmGone: (input) => confirmGone(deps, input),
    allowCancellation: (input) => allowCancellation(deps, input),
    cancelHire: (input) => cancelHire(deps, input),
    lookForReturn: (input) => lookForReturn(deps, input),
    describeLeftAfterEmployee: (input) => describeLeftAfterEmployee(deps, input),
    judgeDeparture: (input) => judgeDeparture(deps, input),
    endEmployment: (input) => endEmployment(deps, input),
    handOver: (input) => handOver(deps, input),
    hasEmployee: (input) => hasEmployee(deps, input),
    openHold: (input) => openHold(deps, input),
    takeAnswer: (input) => takeAnswer(deps, input),
    reconcile: (input) => reconcile(deps, input),
    syncPages: (input, beat) => syncPages(deps, input, beat),
    pushRecords: (input, beat) => pushRecords(deps, input, beat),
    pullPages: (input, beat) => pullPages(deps, input, beat),
    exchangePairs: (input, beat) => exchangePairs(deps, input, beat),
  };
}

/**
 * The same for Temporal: heartbeats while one runs, and errors as failures that say when to come back. `isShared`:
 * whether several tenants share this process.
 */
export function createActivities(deps: ActivityDeps, slots: number, isShared: () => boolean): Activities {
  const bound = Object.entries(bindActivities(deps)) as unknown as Array<[string, RunWithBeat]>;
  const shares = createTenantSlots(slots, isShared);
  return Object.fromEntries(
    bound.map(([name, run]) => [name, asTemporalActivity(deps, shares, name, run)]),
  ) as unknown as Activities;
}

/** It beats while it waits for its turn, too: an attempt that was given up meanwhile would work beside the next. */
function asTemporalActivity(deps: ActivityDeps, shares: TenantSlots, name: string, run: RunWithBeat): Run {
  const watched = watchedRun(deps, name, run);
  return async (input) => {
    const { beat, stop } = startHeartbeat();
    try {
      const leave = await enterSlot(shares, input);
      try {
        return await watched(input, beat);
      } finally {
        leave();
      }
    } finally {
      stop();
    }
  };
}

function watchedRun(deps: ActivityDeps, name: string, run: RunWithBeat): RunWithBeat {
  const { log } = deps;
  return async (input, beat) => {
    const { info, cancellationSignal } = Context.current();
    const activity = { name, input, attempt: info.attempt };
    const { tenantId } = input as { tenantId: string };
    const unwatched = (error: unknown): undefined => {
      log.warn({ activity: name, err: error }, 'alarm not noted');
    };
    try {
      const result = await inScope(cancellationSignal, tenantId, () => inActivity(name, () => run(input, beat)));
      await noteSuccess(deps, activity).catch(unwatched);
      return result;
    } catch (error) {
      if (!(error instanceof ConnectorError)) log.error({ activity: name, err: error }, 'activity failed unexpectedly');
      const failures = await noteFailure(deps, activity, error).catch(unwatched);
      throw toFailure(error, retryDelay(info.retryPolicy, failures));
    }
  };
}

/** Activities that came beyond their tenant's share go back before they begin. */
async function enterSlot(shares: TenantSlots, input: unknown): Promise<() => void> {
  try {
    return await shares.enter((input as { tenantId: string }).tenantId);
  } catch (error) {
    throw toFailure(error);
  }
}

type Run = (input: unknown) => Promise<unknown>;
type RunWithBeat = (input: unknown, beat: Beat) => Promise<unknown>;

/** A worker that stands still stops beating, and its work moves on after the heartbeat timeout. */
function startHeartbeat(): { beat: Beat; stop: () => void } {
  const context = Context.current();
  const { heartbeatTimeoutMs = 0 } = context.info;
  let latest: unknown;
  const timer = setInterval(() => context.heartbeat(latest), Math.max(200, heartbeatTimeoutMs / 3));
  return {
    beat: (details) => {
      latest = details;
      context.heartbeat(details);
    },
    stop: () => clearInterval(timer),
  };
}
