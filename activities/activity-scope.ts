import { AsyncLocalStorage } from 'node:async_hooks';
import { ConnectorError, isConnectorError } from '../src/errors.ts';
import type { HrisConnection } from '../src/hris/port.ts';
import type { Priority, RateLimitKeeper } from '../src/rate-limit/rate-limit.ts';

/** What is known of the activity in whose course something runs. */
interface Scope {
  /** Says when to give up. */
  cancelled: AbortSignal;
  /** It has called: if it gives up now, its next attempt makes the same calls again. */
  hasCalled: boolean;
  tenantId: string;
}

const activity = new AsyncLocalStorage<Scope>();
/** Activities under way in this process, by tenant. */
const underWay = new Map<string, number>();
/** When a tenant had several under way last. */
const together = new Map<string, number>();
/** Hires of one moment come one after another where a worker is full: so long after, more are expected. */
const BURST_MS = 1_000;

/** A permit that comes no sooner is waited for without a worker's slot, ms. */
const PATIENCE_MS = 5_000;
/** An activity that has called waits for as long as so many permits take at the learned rate. */
const FURTHER = { permits: 8, mostMs: 60_000 };
/** Who waited in vain comes back no sooner, ms. */
const LEAST_WAIT_MS = 1_000;

/** Runs an activity of a tenant; its calls are given up when the signal says so. */
export async function inScope<T>(cancelled: AbortSignal, tenantId: string, run: () => Promise<T>): Promise<T> {
  const count = (underWay.get(tenantId) ?? 0) + 1;
  underWay.set(tenantId, count);
  if (count > 1) together.set(tenantId, performance.now());
  try {
    return await activity.run({ cancelled, hasCalled: false, tenantId }, run);
  } finally {
    const left = (underWay.get(tenantId) ?? 1) - 1;
    if (left > 0) underWay.set(tenantId, left);
    else underWay.delete(tenantId);
  }
}

/** Whether the tenant has, and lately had, no other activity under way here than the one that asks. */
export function isOnlyActivity(): boolean {
  const scope = activity.getStore();
  if (scope === undefined || underWay.get(scope.tenantId) !== 1) return false;
  return performance.now() - (together.get(scope.tenantId) ?? Number.NEGATIVE_INFINITY) > BURST_MS;
}

/** A call was made for this activity, by whichever: a read that several share is everybody's. */
export function noteCall(): void {
  const scope = activity.getStore();
  if (scope !== undefined) scope.hasCalled = true;
}

/** The signal of the activity in whose course this is asked. */
export function cancellation(): AbortSignal | undefined {
  return activity.getStore()?.cancelled;
}

/**
 * Waits for a permit for some seconds at most, and for longer where permits are rare and the activity has called, then
 * throws RATE_LIMIT_WAIT with the wait that remains: an activity that waited on would hold a slot that every tenant
 * needs. Where permits are not rare, a pause that the partner asks for is so never waited out in a slot.
 */
export function patient(keeper: RateLimitKeeper): RateLimitKeeper {
  return {
    answered: (answer) => keeper.answered(answer),
    waitMs: (priority, endpoint) => keeper.waitMs(priority, endpoint),
    perSecond: (endpoint) => keeper.perSecond(endpoint),
    async acquire(priority, signal, endpoint) {
      const scope = activity.getStore();
      const patienceMs = scope?.hasCalled === true ? furtherPatience(keeper.perSecond(endpoint)) : PATIENCE_MS;
      const waitMs = keeper.waitMs(priority, endpoint);
      if (waitMs > patienceMs) throw mustWait(waitMs);
      await acquireWithin(patienceMs, { keeper, priority, signal, endpoint });
      noteCall();
    },
  };
}

/** Ms. Giving up has a price now: the next attempt makes the same calls again. */
function furtherPatience(perSecond: number): number {
  return Math.min(Math.max((FURTHER.permits * 1_000) / perSecond, PATIENCE_MS), FURTHER.mostMs);
}

interface Acquired {
  keeper: RateLimitKeeper;
  priority: Priority;
  signal: AbortSignal | undefined;
  endpoint: string | undefined;
}

async function acquireWithin(patienceMs: number, { keeper, priority, signal, endpoint }: Acquired): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), patienceMs);
  const cancelled = cancellation();
  const signals = [late.signal, signal, cancelled].filter((one) => one !== undefined);
  try {
    await keeper.acquire(priority, AbortSignal.any(signals), endpoint);
  } catch (error) {
    if (isConnectorError(error) || signal?.aborted === true) throw error;
    if (cancelled?.aborted === true) throw workerStops(error);
    if (late.signal.aborted) throw mustWait(keeper.waitMs(priority, endpoint));
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Looks and reads of an HR system, given up with the activity; what writes has a deadline of its own. Nothing is asked
 * of one that does not work: `assertWorks` throws then. The probe alone goes on.
 */
export function withinActivity(hris: HrisConnection, assertWorks: () => void): HrisConnection {
  const { employees } = hris;
  const withActivity = (signal: AbortSignal): AbortSignal => {
    assertWorks();
    const cancelled = cancellation();
    return cancelled === undefined ? signal : AbortSignal.any([signal, cancelled]);
  };
  const { describe } = hris;
  return {
    ...hris,
    ...(describe && { describe: async (subject, signal) => describe(subject, withActivity(signal)) }),
    employees: {
      ...employees,
      find: async (key, signal) => employees.find(key, withActivity(signal)),
      read: async (id, signal) => employees.read(id, withActivity(signal)),
    },
  };
}

function mustWait(waitMs: number): ConnectorError {
  return new ConnectorError({
    code: 'RATE_LIMIT_WAIT',
    action: 'throttle',
    message: 'The rate limit gives no permit soon. Nothing was sent; the call is made when its time has come.',
    retryAfterMs: Math.max(LEAST_WAIT_MS, Math.ceil(waitMs)),
  });
}

function workerStops(cause: unknown): ConnectorError {
  return new ConnectorError({
    code: 'ABORTED',
    action: 'retry',
    message: 'The worker stops, and the call still waited for a permit of the rate limit. Nothing was sent.',
    cause,
  });
}
