import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, type RetryPolicy } from '@temporalio/common';
import { ConnectorError, type ErrorAction, isConnectorError } from '../src/errors.ts';
import { inActivity } from '../src/failpoint.ts';
import { HIRE_BEHIND, HIRE_OVER } from '../src/hire/hire.ts';
import type { HireActivities, ReconcileActivities } from '../src/hire/hire-activities.ts';
import type { Logger } from '../src/log.ts';
import { type AlarmKey, clearTrouble, noteTrouble, postponeTrouble } from '../src/store/alarms.ts';
import { noticeRestored } from '../src/store/backups.ts';
import { isErased } from '../src/store/observed-hires.ts';
import type { Store } from '../src/store/open-store.ts';
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
import type { ActivityDeps } from './connections.ts';
import { exchangePairs } from './exchange/exchange-pairs.ts';
import { cancelHire, lookForReturn, startNextEnrolment } from './hire/cancel-hire.ts';
import {
  allowCancellation,
  confirmGone,
  describeLeftAfterEmployee,
  endEmployment,
  handOver,
  hasEmployee,
  judgeDeparture,
  readHire,
} from './hire/departure.ts';
import { enrol } from './hire/enrol.ts';
import { finishHire } from './hire/finish-hire.ts';
import { employAndGoOn, onboardAndGoOn } from './hire/go-on.ts';
import { openHold, takeAnswer } from './hire/hold-hire.ts';
import { openHire } from './hire/open-hire.ts';
import { pushRecords } from './push/push-records.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { pullPages, syncPages } from './streams/pull-pages.ts';
import type { Beat } from './streams/reading.ts';

export type Activities = HireActivities & ReconcileActivities & StreamActivities & PushActivities & ExchangeActivities;

interface BoundActivities extends Activities {
  syncPages(input: StreamInput, beat?: Beat): Promise<StreamStep>;
  pushRecords(input: PushInput, beat?: Beat): Promise<StreamStep>;
  pullPages(input: PullInput, beat?: Beat): Promise<StreamStep>;
  exchangePairs(input: ExchangeInput, beat?: Beat): Promise<ExchangeStep>;
}

/** Every activity bound to its dependencies, as plain functions. */
export function bindActivities(deps: ActivityDeps): BoundActivities {
  const bound = functionsOf(deps);
  const watched = Object.entries(bound).map(([name, run]) => [name, afterRestore(deps, run as RunWithBeat)]);
  return Object.fromEntries(watched) as unknown as BoundActivities;
}

/** One hire notices a restored store, but it concerns all: each tenant's next reconcile compares everything. */
function afterRestore({ store, log }: ActivityDeps, run: RunWithBeat): RunWithBeat {
  return async (input, beat) => {
    try {
      return await run(input, beat);
    } catch (error) {
      if (!isConnectorError(error, HIRE_BEHIND) || (await isOfErased(store, input))) throw error;
      log.error({ reason: error.message }, 'the store was restored: everything is compared anew');
      await noticeRestored(store);
      throw error;
    }
  };
}

/** The activity's hire was erased with its person: its row is gone, and nothing is to name it. */
async function isOfErased(store: Store, input: unknown): Promise<boolean> {
  const { tenantId, jobCandidateId } = input as Partial<Record<string, string>>;
  if (tenantId === undefined || jobCandidateId === undefined) return false;
  return isErased(store, { tenantId, jobCandidateId });
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
 * Wraps the activities for Temporal: sends heartbeats while one runs, and turns errors into failures that say when to
 * retry. `isShared`: whether several tenants share this process.
 */
export function createActivities(deps: ActivityDeps, slots: number, isShared: () => boolean): Activities {
  const bound = Object.entries(bindActivities(deps)) as unknown as Array<[string, RunWithBeat]>;
  const shares = createTenantSlots(slots, isShared);
  return Object.fromEntries(
    bound.map(([name, run]) => [name, asTemporalActivity(deps, shares, name, run)]),
  ) as unknown as Activities;
}

/**
 * Sends heartbeats even while it waits for its turn; otherwise Temporal gives the attempt up, and it would work beside
 * the next.
 */
function asTemporalActivity(deps: ActivityDeps, shares: TenantSlots, name: string, run: RunWithBeat): Run {
  const watched = watchedRun(deps, name, run);
  return async (input) => {
    const { beat, stop } = startHeartbeat();
    try {
      // Sends back an activity beyond its tenant's share before it begins.
      const leave = await shares.enter((input as { tenantId: string }).tenantId).catch((error: unknown) => {
        throw toFailure(error);
      });
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

type Run = (input: unknown) => Promise<unknown>;
type RunWithBeat = (input: unknown, beat: Beat) => Promise<unknown>;

/** A worker that stands still stops sending heartbeats, and its work moves on after the heartbeat timeout. */
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

/** Expected waits are no alarm: they are logged at a low level and not counted as failures. */
const benign: ReadonlySet<ErrorAction> = new Set(['throttle', 'reauthorize', 'unknown']);

/**
 * Turns an error's action into a Temporal failure: only Temporal retries. Every error except HIRE_BEHIND and HIRE_OVER,
 * after which the hire begins anew, is retried after the error's own delay if it names one. A refusal that a person can
 * fix has become a hold before it gets here, and nobody would follow a hire whose workflow failed. Messages come from
 * ConnectorErrors or are fixed texts, because other errors may quote a record. `usualMs`: delay for errors that name
 * none.
 */
export function toFailure(error: unknown, usualMs?: number): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const known = asConnectorError(error);
  const delayMs = known.retryAfterMs ?? usualMs;
  const isOver = known.code === HIRE_OVER;
  return ApplicationFailure.create({
    type: isOver ? HIRE_BEHIND : known.code,
    message: known.withoutWords(),
    nonRetryable: isOver || known.code === HIRE_BEHIND,
    ...(delayMs !== undefined && { nextRetryDelay: Math.max(LEAST_DELAY_MS, delayMs) }),
    ...(benign.has(known.action) ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
}

/** A delay of zero, as in `Retry-After: 0`, is one that Temporal never retries after: it fails the workflow. */
const LEAST_DELAY_MS = 100;

/**
 * The retry policy's delay after this many failures. Temporal counts waits for the rate limit as tries; here, a failure
 * after twenty waits is still the first. Undefined if nothing was counted: Temporal then decides.
 */
export function retryDelay(policy: RetryPolicy | undefined, failures: number | undefined): number | undefined {
  if (policy === undefined || failures === undefined) return undefined;
  // The SDK passes its policy in milliseconds.
  const first = Number(policy.initialInterval ?? 1_000);
  const most = Number(policy.maximumInterval ?? 100 * first);
  return Math.min(most, first * (policy.backoffCoefficient ?? 2) ** (failures - 1));
}

/**
 * A refusal that opens no hold is an alarm at once; other failures become one after this time, because most end by
 * themselves.
 */
const LASTING_MS = 900_000;

/** One activity of one hire, stream or tenant, across all of its attempts. */
interface WatchedActivity {
  name: string;
  input: unknown;
  /** Counts from 1. */
  attempt: number;
}

type Watcher = { store: Store; log: Logger };

/**
 * Records that an activity failed, and raises an alarm after a quarter of an hour of failures. Returns how often it has
 * failed so far. A wait is no failure, and its duration does not count towards the quarter of an hour.
 */
export async function noteFailure(
  { store, log }: Watcher,
  activity: WatchedActivity,
  error: unknown,
): Promise<number | undefined> {
  const key = keyOf(activity);
  // Nobody retries that under this name: the hire starts anew.
  if (key === undefined || isConnectorError(error, HIRE_BEHIND) || isConnectorError(error, HIRE_OVER)) return undefined;
  // A wait is no trouble: for the rate limit, for a paused tenant (which says why), or for the baseline.
  if (isConnectorError(error) && error.action === 'throttle') {
    if (activity.attempt > 1) await postponeTrouble(store, key, error.retryAfterMs ?? 0);
    return undefined;
  }
  if (await isOfErased(store, activity.input)) return undefined;
  const known = asConnectorError(error);
  const { code, action } = known;
  const message = known.withoutWords();
  const trouble = { ...key, reason: code, message };
  const { raised, times } = await noteTrouble(store, trouble, action === 'reject' ? 0 : LASTING_MS);
  if (raised) log.error({ tenantId: key.tenantId, subject: key.subject, code, reason: message }, 'alarm raised');
  return times;
}

/** Records that an activity works. Only an activity that was tried before can have failed. */
export async function noteSuccess({ store, log }: Watcher, activity: WatchedActivity): Promise<void> {
  const key = activity.attempt > 1 ? keyOf(activity) : undefined;
  if (key !== undefined && (await clearTrouble(store, key)))
    log.info({ tenantId: key.tenantId, subject: key.subject }, 'alarm over');
}

function keyOf({ name, input }: WatchedActivity): AlarmKey | undefined {
  const { tenantId, jobCandidateId, stream } = input as Partial<Record<string, string>>;
  if (tenantId === undefined) return undefined;
  const of = jobCandidateId === undefined ? stream : `job candidate ${jobCandidateId}`;
  return { tenantId, kind: 'activity-failing', subject: of === undefined ? name : `${name} of ${of}` };
}

/** Any other error says its name alone, because its message may quote a record. */
function asConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = error instanceof Error ? error.name : 'Error';
  return new ConnectorError({ code, action: 'retry', message: `Unexpected ${code}; see the worker's log.` });
}

/** A worker's activity slots, shared by its tenants. */
export interface TenantSlots {
  /**
   * Takes a slot, waits for a turn in it, and returns a function that leaves it. Throws SLOTS_TAKEN, with a retry time,
   * if the tenant exceeds its share or no turn comes within five seconds.
   */
  enter(tenantId: string): Promise<() => void>;
}

interface Holder {
  /** Slots taken, including those waiting for a turn. */
  taken: number;
  working: number;
  waiting: Set<() => void>;
  /** Usual duration of this tenant's activities in ms, smoothed. */
  usualMs: number;
  /** When the next slot will be free. */
  freeAt: number;
}

/**
 * How many activities of one tenant work at once in a process. All share its processor, so fifty activities of one
 * tenant slow those of another. Beside fifty hires whose HR system hangs, another tenant's p95 is 1.5 times its p95
 * alone; with eight at once 1.9, without a bound 2.8 (test:isolation, hris-hangs). A process's only tenant slows
 * nobody, and its simultaneous looks share calls.
 */
const AT_ONCE = { shared: 4, alone: 32 };
const LONGEST_TURN_MS = 5_000;
const FIRST_GUESS_MS = 200;
const LONGEST_WAIT_MS = 60_000;

/**
 * A tenant takes at most half of the slots that the others leave, so that no tenant's worst day takes the last slot. An
 * activity beyond its tenant's share is told when a slot will be free, instead of waiting in a slot.
 */
export function createTenantSlots(
  slots: number,
  isShared: () => boolean,
  now: () => number = () => performance.now(),
): TenantSlots {
  const most = (): number => (isShared() ? AT_ONCE.shared : AT_ONCE.alone);
  const holders = new Map<string, Holder>();
  const taken = (): number => [...holders.values()].reduce((sum, holder) => sum + holder.taken, 0);

  function comeBack(tenantId: string, holder: Holder, share: number): ConnectorError {
    const at = now();
    // Space the retries, so that they do not all come back at once.
    const nextAt = Math.max(at, holder.freeAt) + holder.usualMs / share;
    holder.freeAt = Math.min(nextAt, at + LONGEST_WAIT_MS);
    return new ConnectorError({
      code: 'SLOTS_TAKEN',
      action: 'throttle',
      message:
        `Tenant ${tenantId} has used up its share of this worker. The activity continues once another of its ` +
        'activities ends.',
      retryAfterMs: Math.max(100, Math.ceil(holder.freeAt - at)),
    });
  }

  function work(holder: Holder): () => void {
    const at = now();
    return () => {
      holder.taken -= 1;
      holder.usualMs += (now() - at - holder.usualMs) / 8;
      const [next] = holder.waiting;
      if (next === undefined || holder.working > most()) holder.working -= 1;
      else next();
    };
  }

  return {
    async enter(tenantId) {
      const none = { taken: 0, working: 0, waiting: new Set<() => void>(), usualMs: FIRST_GUESS_MS, freeAt: 0 };
      const holder: Holder = holders.get(tenantId) ?? none;
      holders.set(tenantId, holder);
      const share = Math.max(1, Math.floor((slots - (taken() - holder.taken)) / 2));
      if (holder.taken >= share) throw comeBack(tenantId, holder, share);
      holder.taken += 1;
      if (holder.working < most()) holder.working += 1;
      else if (!(await hasTurn(holder))) {
        holder.taken -= 1;
        throw comeBack(tenantId, holder, most());
      }
      return work(holder);
    },
  };
}

/** Gives turns in order of arrival. Returns false if none came in time. */
function hasTurn({ waiting }: Holder): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (turn: boolean) => () => {
      waiting.delete(take);
      clearTimeout(timer);
      resolve(turn);
    };
    const take = end(true);
    const timer = setTimeout(end(false), LONGEST_TURN_MS);
    waiting.add(take);
  });
}
