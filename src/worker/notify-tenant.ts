import type { ActivityDeps } from '../../activities/deps.ts';
import { readDigest, recordDigest } from '../store/digests.ts';
import { markNotified, unnotifiedHolds } from '../store/holds.ts';
import { leaseNotices, markAlarmNotified, releaseNotices, unnotifiedAlarms } from '../store/notices.ts';
import type { Store } from '../store/open-store.ts';
import { readTenantState } from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';
import { dueDigest } from './digest-times.ts';
import { alarmNotice, digestNotice, holdNotice, type Notice } from './notices.ts';
import { createPostNotice } from './post-notice.ts';
import type { Chore } from './run-chores.ts';

/** Notices of one kind in one round; the next round goes on. */
const MOST_IN_A_ROUND = 50;
/** A round begins no further notice after so long: its lease must outlast the last one. */
const ROUND_MS = 40_000;
const LEASE_MS = 60_000;

/** A notice, and how it is remembered that it was taken. */
interface Pending {
  notice: Notice;
  mark: () => Promise<void>;
}

/**
 * Tells a tenant's `notify` address about its new holds and alarms and sends its digest: at least once, by one process
 * at a time, one after the other until one fails. For a tenant without an address the log line is enough.
 */
export function createNotifier({ store, log }: ActivityDeps): Chore {
  const post = createPostNotice(log);
  return async (tenant, stop) => {
    if (!(await leaseNotices(store, tenant.tenant, LEASE_MS))) return 'done';
    const until = performance.now() + ROUND_MS;
    try {
      for (const { notice, mark } of await pendingOf(store, tenant)) {
        if (performance.now() > until) return 'done';
        if (!(await post(tenant, notice, stop))) return 'failed';
        await mark();
      }
      return 'done';
    } finally {
      await releaseNotices(store, tenant.tenant);
    }
  };
}

async function pendingOf(store: Store, tenant: Tenant): Promise<Pending[]> {
  const { tenant: tenantId } = tenant;
  const holds = await unnotifiedHolds(store, tenantId, MOST_IN_A_ROUND);
  const alarms = await unnotifiedAlarms(store, tenantId, MOST_IN_A_ROUND);
  return [
    ...holds.map((hold) => ({ notice: holdNotice(hold), mark: () => markNotified(store, hold.hold_id) })),
    ...alarms.map((alarm) => ({ notice: alarmNotice(alarm), mark: () => markAlarmNotified(store, alarm) })),
    ...(await pendingDigest(store, tenant)),
  ];
}

async function pendingDigest(store: Store, { tenant: tenantId, notify }: Tenant): Promise<Pending[]> {
  if (notify?.digest === undefined) return [];
  // Another process may have sent it while this one waited for its turn.
  const { digested_on: lastDay } = await readTenantState(store, tenantId);
  const due = dueDigest(notify, lastDay, new Date());
  if (due === undefined) return [];
  const digest = await readDigest(store, tenantId, due.from, due.to);
  return [{ notice: digestNotice(digest, due), mark: () => recordDigest(store, tenantId, due.day) }];
}
