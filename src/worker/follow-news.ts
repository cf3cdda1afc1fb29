import { setTimeout as delay } from 'node:timers/promises';
import type { Connection, Connections } from '../../activities/connections.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { createLease } from '../store/processes.ts';
import { readTenantState } from '../store/tenant-states.ts';
import type { KnownTenants } from '../tenants/known-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { within } from '../within.ts';
import { outageReason, type RunningRelay } from './relay.ts';

interface NewsParts {
  store: Store;
  log: Logger;
  tenants: Pick<KnownTenants, 'all' | 'isPaused'>;
  connections: Pick<Connections, 'of'>;
  hint: RunningRelay['hint'];
}

const STREAM = 'employees';
/** How often an HR system is asked at most, and how many in one round; if there are more, they take turns. */
const LOOK_MS = 250;
const MOST_LOOKS = 12;
/** Rests this many times longer than a look took, so that a table without an index is not kept busy by us. */
const REST = 20;
/** Wait for a paused tenant, and for an HR system that fails or reports no news. */
const LATER_MS = 30_000;
const READ_MS = 5_000;
const LEASE_MS = 15_000;
const CLOSE_MS = 1_000;

/** Position of the last look at a tenant's HR system; a reopened connection starts from now. */
interface Followed {
  connection?: Connection;
  cursor?: string;
  dueAt: number;
}

/**
 * Asks HR systems that can answer cheaply which employees were edited, and has these exchanged at once. One worker does
 * this for all. The next full pass finds edits that it misses.
 */
export function followNews({ store, log, tenants, connections, hint }: NewsParts): { close(): Promise<void> } {
  const stop = new AbortController();
  const lease = createLease(store, 'news');
  const followed = new Map<string, Followed>();
  const underWay = new Set<Promise<void>>();
  let [isOurs, askedAt] = [false, Number.NEGATIVE_INFINITY];
  let [all, scheduled]: [readonly Tenant[], readonly Tenant[]] = [[], []];

  async function look({ tenant: tenantId }: Tenant, one: Followed): Promise<void> {
    one.dueAt = Number.POSITIVE_INFINITY;
    let restMs = LATER_MS;
    try {
      const connection = await connections.of(tenantId);
      if (connection !== one.connection) Object.assign(one, { connection, cursor: undefined });
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(READ_MS)]);
      const began = performance.now();
      const news = await connection.hris.changes?.news?.(one.cursor, signal);
      if (news === undefined) return;
      const tookMs = performance.now() - began;
      if (news.ids.length > 0) {
        if ((await readTenantState(store, tenantId)).state === 'paused') return;
        await hint({ tenantId, stream: STREAM }, news.ids);
      }
      one.cursor = news.next;
      restMs = Math.max(LOOK_MS, REST * tookMs);
    } catch (error) {
      if (!stop.signal.aborted)
        log.debug({ tenantId, reason: outageReason(error) }, 'an HR system did not tell its changes');
    } finally {
      one.dueAt = performance.now() + restMs;
    }
  }

  async function round(): Promise<void> {
    // Edits of its employees go to the hiring platform through a scheduled stream.
    const isFollowed = ({ streams: { [STREAM]: of } }: Tenant): boolean =>
      of.every !== undefined && of.mapping !== undefined;
    if (tenants.all() !== all) [all, scheduled] = [tenants.all(), tenants.all().filter(isFollowed)];
    const exchanging = scheduled.filter(({ tenant }) => !tenants.isPaused(tenant));
    if (exchanging.length === 0) return;
    const now = performance.now();
    if (now - askedAt > LEASE_MS / 3) {
      askedAt = now;
      isOurs = await lease.take(LEASE_MS);
      if (!isOurs) followed.clear();
    }
    if (!isOurs) return;
    const due = exchanging.flatMap((tenant) => {
      const one = followed.get(tenant.tenant) ?? { dueAt: now };
      followed.set(tenant.tenant, one);
      return one.dueAt <= now ? [{ tenant, one }] : [];
    });
    for (const { tenant, one } of due.toSorted((a, b) => a.one.dueAt - b.one.dueAt).slice(0, MOST_LOOKS)) {
      const looking = look(tenant, one).finally(() => underWay.delete(looking));
      underWay.add(looking);
    }
  }

  const running = (async () => {
    while (!stop.signal.aborted) {
      await round().catch((error: unknown) =>
        log.warn({ reason: outageReason(error) }, 'HR systems not asked for news'),
      );
      await delay(LOOK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async close() {
      stop.abort();
      await within(CLOSE_MS, Promise.all([running, ...underWay]));
      await lease.leave(CLOSE_MS);
    },
  };
}
