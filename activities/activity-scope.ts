import { AsyncLocalStorage } from 'node:async_hooks';
import { ConnectorError, isConnectorError } from '../src/errors.ts';
import type { HrisConnection } from '../src/hris/port.ts';
import type { RateLimitKeeper } from '../src/rate-limit/rate-limit.ts';

/** The activity that the current code runs in. */
interface Scope {
  /** Aborts when the activity should give up. */
  cancelled: AbortSignal;
  /** The activity has made a call, so giving up now means that its next attempt repeats the call. */
  hasCalled: boolean;
  tenantId: string;
}

const activity = new AsyncLocalStorage<Scope>();
/** Number of activities under way in this process, by tenant. */
const underWay = new Map<string, number>();
/** When a tenant last had several activities under way. */
const together = new Map<string, number>();
/** On a full worker, hires of one moment come one after another, so more are expected for this long. */
const BURST_MS = 1_000;

/** An activity does not keep a worker's slot to wait longer than this for a permit, ms. */
const PATIENCE_MS = 5_000;
/** An activity that has made a call waits as long as this many permits take at the learned rate. */
const FURTHER = { permits: 8, mostMs: 60_000 };
/** An activity that waited in vain comes back no sooner than this, ms. */
const LEAST_WAIT_MS = 1_000;

/** Runs a tenant's activity; its calls are given up when the signal aborts. */
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

/** Whether the caller is a command, or its activity the tenant's only one here, now and recently. */
export function isAlone(): boolean {
  const scope = activity.getStore();
  if (scope === undefined) return true;
  if (underWay.get(scope.tenantId) !== 1) return false;
  return performance.now() - (together.get(scope.tenantId) ?? Number.NEGATIVE_INFINITY) > BURST_MS;
}

/** Notes that a call was made for this activity. A shared read counts for every activity that waits for it. */
export function noteCall(): void {
  const scope = activity.getStore();
  if (scope !== undefined) scope.hasCalled = true;
}

/** The cancellation signal of the current activity. */
export function cancellation(): AbortSignal | undefined {
  return activity.getStore()?.cancelled;
}

/**
 * Waits at most a few seconds for a permit, or longer if permits are rare and the activity has made a call, then throws
 * RATE_LIMIT_WAIT with the remaining wait: an activity that keeps waiting holds a slot that every tenant needs. Unless
 * permits are rare, a pause that the partner asks for is therefore never waited out in a slot.
 */
export function patient(keeper: RateLimitKeeper): RateLimitKeeper {
  return {
    answered: (answer) => keeper.answered(answer),
    waitMs: (priority, endpoint) => keeper.waitMs(priority, endpoint),
    perSecond: (endpoint) => keeper.perSecond(endpoint),
    async acquire(priority, signal, endpoint) {
      // Once it has made a call, giving up has a price: the next attempt repeats it.
      const isLonger = activity.getStore()?.hasCalled === true;
      const furtherMs = Math.min((FURTHER.permits * 1_000) / keeper.perSecond(endpoint), FURTHER.mostMs);
      const patienceMs = isLonger ? Math.max(furtherMs, PATIENCE_MS) : PATIENCE_MS;
      const waitMs = keeper.waitMs(priority, endpoint);
      if (waitMs > patienceMs) throw mustWait(waitMs);
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), patienceMs);
      const cancelled = cancellation();
      const signals = [late.signal, signal, cancelled].filter((one) => one !== undefined);
      try {
        await keeper.acquire(priority, AbortSignal.any(signals), endpoint);
      } catch (error) {
        if (isConnectorError(error) || signal?.aborted === true) throw error;
        if (cancelled?.aborted === true)
          throw new ConnectorError({
            code: 'ABORTED',
            action: 'retry',
            message: 'The worker stopped while the call waited for a permit of the rate limit. Nothing was sent.',
            cause: error,
          });
        if (late.signal.aborted) throw mustWait(keeper.waitMs(priority, endpoint));
        throw error;
      } finally {
        clearTimeout(timer);
      }
      noteCall();
    },
  };
}

/**
 * Ends searches and reads of an HR system with the activity; writes have deadlines of their own. `assertWorks` throws
 * while the HR system does not work, so that nothing is asked of it. Only the probe goes on.
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
    message:
      'The rate limit has no permit for this call yet. Nothing was sent; the call is made once a permit is free.',
    retryAfterMs: Math.max(LEAST_WAIT_MS, Math.ceil(waitMs)),
  });
}
