import pLimit from 'p-limit';
import type { Logger } from '../log.ts';
import type { Tenant } from '../tenants/schema.ts';

/** Chores of all tenants that run at once. */
const MOST_AT_ONCE = 16;
/** Chores that failed before have slots of their own, so that hanging ones take none from the others. */
const MOST_FAILING_AT_ONCE = 16;
/** Chores of all tenants begin together when a worker starts; from then on they come up to this share earlier. */
const SPREAD = 0.2;
/** A failing chore is tried at least this often. */
const MOST_BACK_OFF_MS = 900_000;
/** A failing chore that checks whether a side answers again is tried this often: its tenant's hires wait for that. */
const MOST_AWAY_MS = 120_000;

/**
 * How a chore ended. `done`: it runs again after its period. `soon`: it worked, and runs again in the next round.
 * `failed`, as which an error counts: it runs again after a wait that grows.
 */
export type ChoreResult = 'done' | 'soon' | 'failed';

/** One kind of chore for one tenant. */
export type Chore = (tenant: Tenant, signal: AbortSignal) => Promise<ChoreResult>;

export interface ChoreRunner {
  /**
   * Begins a tenant's chore unless it runs or is not due yet; after a success it is due again within `againMs`. With
   * `isAwaited`, hires wait for its success.
   */
  begin(name: string, chore: Chore, tenant: Tenant, options?: { againMs?: number; isAwaited?: boolean }): void;
  ended(): Promise<unknown>;
}

interface RunnerParts {
  log: Logger;
  everyMs: number;
  stop: AbortSignal;
  /** Covers all that a failing chore depends on: if it changes, the chore is due at once. */
  fingerprintOf: (tenant: Tenant) => string;
}

/** Runs each tenant's chores one by one, with back-off; a hanging chore delays no other tenant. */
export function createChoreRunner({ log, everyMs, stop, fingerprintOf }: RunnerParts): ChoreRunner {
  const underWay = new Map<string, Promise<void>>();
  const failedWith = new Map<string, string>();
  const [healthy, failing] = [pLimit(MOST_AT_ONCE), pLimit(MOST_FAILING_AT_ONCE)];
  const mostBackOffMs = Math.max(everyMs, MOST_BACK_OFF_MS);
  const backOff = createBackOff(everyMs, mostBackOffMs);

  async function result(key: string, chore: () => Promise<ChoreResult>): Promise<ChoreResult> {
    try {
      return stop.aborted ? 'failed' : await chore();
    } catch (error) {
      log.error({ err: error, chore: key }, 'chore failed');
      return 'failed';
    }
  }

  async function run(key: string, chore: Chore, tenant: Tenant, again: { ms: number; mostMs: number }): Promise<void> {
    // The fingerprint at the start: a correction made while the chore runs counts for its next try.
    const before = backOff.hasFailed(key) ? fingerprintOf(tenant) : undefined;
    const ended = await result(key, () => chore(tenant, stop));
    if (ended !== 'failed')
      return backOff.succeeded(key, ended === 'soon' ? 0 : again.ms * (1 - SPREAD * Math.random()));
    failedWith.set(key, before ?? fingerprintOf(tenant));
    backOff.failed(key, again.mostMs);
  }

  return {
    begin(name, chore, tenant, { againMs = 0, isAwaited = false } = {}) {
      const key = `${name} ${tenant.tenant}`;
      if (stop.aborted || underWay.has(key)) return;
      const hasFailed = backOff.hasFailed(key);
      if (hasFailed && failedWith.get(key) !== fingerprintOf(tenant)) backOff.forget(key);
      if (!backOff.isDue(key) && (hasFailed || againMs > 0)) return;
      const limit = hasFailed ? failing : healthy;
      const again = { ms: againMs, mostMs: isAwaited ? Math.max(everyMs, MOST_AWAY_MS) : mostBackOffMs };
      const done = limit(() => run(key, chore, tenant, again)).finally(() => underWay.delete(key));
      underWay.set(key, done);
    },
    ended: () => Promise.all(underWay.values()),
  };
}

/** When each key may be tried again: soon after a success, with growing waits after repeated failures. */
interface BackOff {
  isDue(key: string): boolean;
  hasFailed(key: string): boolean;
  succeeded(key: string, againMs: number): void;
  failed(key: string, mostMs?: number): void;
  /** Forgets a key's failures: it is due now. */
  forget(key: string): void;
}

/** Waits `firstMs` after the first failure and doubles after each further one, up to `mostMs` unless told otherwise. */
export function createBackOff(firstMs: number, mostMs: number, now: () => number = () => performance.now()): BackOff {
  const states = new Map<string, { dueAt: number; failures: number }>();
  return {
    isDue: (key) => (states.get(key)?.dueAt ?? Number.NEGATIVE_INFINITY) <= now(),
    hasFailed: (key) => (states.get(key)?.failures ?? 0) > 0,
    succeeded: (key, againMs) => void states.set(key, { dueAt: now() + againMs, failures: 0 }),
    failed(key, atMostMs = mostMs) {
      const failures = states.get(key)?.failures ?? 0;
      states.set(key, { dueAt: now() + Math.min(atMostMs, firstMs * 2 ** failures), failures: failures + 1 });
    },
    forget: (key) => void states.delete(key),
  };
}
