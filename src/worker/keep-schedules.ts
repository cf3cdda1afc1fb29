import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { recordEnd } from '../store/applied-tenants.ts';
import { hasWriteUnderWay } from '../store/intents.ts';
import type { Store } from '../store/open-store.ts';
import { createLease } from '../store/processes.ts';
import { compareAnew } from '../store/tenant-states.ts';
import type { HireClient } from '../temporal/hire-client.ts';
import { alignSchedules, endWorkflows, listSchedules } from '../temporal/schedules.ts';
import type { KnownTenants } from '../tenants/known-tenants.ts';

export interface ScheduleKeeper {
  /** Call this if tenants changed or Temporal is back: the first worker to notice updates the schedules at once. */
  changed(): void;
  close(): Promise<void>;
}

export interface KeeperParts {
  hires: HireClient;
  store: Store;
  tenants: KnownTenants;
  /** Reads the store's tenants again. */
  refresh: () => Promise<void>;
  log: Logger;
  /** How often the server's list is compared, ms. */
  everyMs?: number;
}

/** How often the workflows of a removed tenant are looked for until they have ended. */
const ENDING_MS = 2_000;
/** Every this many comparisons each schedule is read in full, because the list shows neither arguments nor policies. */
const DEEP_EVERY = 60;
/** How often a worker tries to take the lease on comparing, and how long a silent worker keeps it. */
const BEAT_MS = 15_000;
const LEASE_MS = 45_000;
const LEASE_END_MS = 500;
/** Pauses between the first attempts, so that a worker that starts while Temporal is slow does not end. */
const FIRST_PAUSES_MS = [500, 2_000, 8_000];

/**
 * Keeps the server's schedules equal to the applied tenants', and ends the workflows that removed tenants leave there.
 * One worker compares them regularly; a new change is applied by every worker that notices it, because the lease's
 * holder may be dead. Resolves after the first comparison, or once another worker is known to do it; rejects if four
 * attempts at the first one failed.
 */
export async function keepSchedules(parts: KeeperParts): Promise<ScheduleKeeper> {
  const { tenants, log, everyMs = 60_000 } = parts;
  const stop = new AbortController();
  const lease = createLease(parts.store, 'schedules');
  let poke = new AbortController();
  let rounds = 0;
  let nextAt = 0;
  const round = async (): Promise<void> => {
    const isPoked = poke.signal.aborted;
    if (isPoked) poke = new AbortController();
    const isOurs = await lease.take(LEASE_MS);
    if (!isOurs) rounds = 0;
    if (isPoked || (isOurs && performance.now() >= nextAt)) {
      await align(parts, isOurs && rounds % DEEP_EVERY === 0);
      nextAt = performance.now() + everyMs;
      if (isOurs) rounds += 1;
    }
    if (isPoked || isOurs) for (const tenantId of tenants.leaving()) await endTenant(parts, tenantId);
  };
  const rest = async (): Promise<void> => {
    const ms = tenants.leaving().length > 0 ? ENDING_MS : Math.min(BEAT_MS, everyMs);
    await delay(ms, undefined, { signal: AbortSignal.any([stop.signal, poke.signal]) }).catch(() => undefined);
  };
  const warn = (err: unknown): void => log.warn({ err }, 'schedules not compared');
  const first = async (): Promise<void> => {
    for (const pauseMs of FIRST_PAUSES_MS) {
      const isDone = await round().then(() => true, warn);
      if (isDone) return;
      await delay(pauseMs);
    }
    await round();
  };
  await first();
  const keeping = (async () => {
    for (await rest(); !stop.signal.aborted; await rest()) await round().catch(warn);
  })();
  return {
    changed: () => poke.abort(),
    async close() {
      stop.abort();
      await keeping;
      await lease.leave(LEASE_END_MS);
    },
  };
}

async function align({ hires, store, tenants, refresh, log }: KeeperParts, deep: boolean): Promise<void> {
  // Read the list before the tenants: a listed schedule whose tenant is unknown afterwards belongs to nobody.
  const listed = await listSchedules(hires);
  await refresh();
  const wanted = tenants.all().map((tenant) => ({ ...tenant, paused: tenants.isPaused(tenant.tenant) }));
  // A tenant with an unreadable definition keeps its schedules until it can be read.
  const unreadable = new Set(tenants.unreadable());
  const tenantOf = (id: string): string => id.slice(hires.installationId.length + 1).split('/')[1] ?? '';
  const kept = new Map([...listed].filter(([id]) => !unreadable.has(tenantOf(id))));
  const righted = await alignSchedules(hires, kept, wanted, {
    deep,
    // If the server lost a schedule, it lost its runs, too: the next reconcile compares everything.
    beforeMade: (tenantId) => compareAnew(store, tenantId),
  });
  if (righted > 0) log.info({ schedules: righted }, 'schedules put right');
}

/** The tenant's schedules are gone already. Waits for writes under way, so that their outcome is known. */
async function endTenant({ hires, store, log }: KeeperParts, tenantId: string): Promise<void> {
  if (await hasWriteUnderWay(store, tenantId)) return;
  const ended = await endWorkflows(hires, tenantId, 'the tenant was removed');
  if (ended > 0) return log.info({ tenantId, workflows: ended }, 'workflows of a removed tenant ended');
  await recordEnd(store, tenantId);
}
