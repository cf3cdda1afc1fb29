import type { ActivityDeps } from '../../activities/deps.ts';
import { continueErasures } from '../../activities/erase/carry-out.ts';
import { followPausedHris } from '../../activities/guarded.ts';
import { createAnswerRound } from '../../activities/hear-answer.ts';
import { forgetTrouble } from '../store/alarms.ts';
import { listAppliedTenants } from '../store/applied-tenants.ts';
import { purgeEvents, tenantsWithEvents } from '../store/events-out.ts';
import { purgeConflicts } from '../store/field-conflicts.ts';
import { createLease, type Lease } from '../store/leases.ts';
import { tenantsToTell } from '../store/notices.ts';
import { tenantsToStart } from '../store/observed-hires.ts';
import type { Store } from '../store/open-store.ts';
import { lapseCreating } from '../store/people.ts';
import {
  purgeBodies,
  purgeDeliveries,
  purgePlans,
  purgeRemoved,
  purgeWriteLog,
  purgeWrites,
} from '../store/retention.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import { lastRetention } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { within } from '../within.ts';
import { createHrisCheck } from './check-hris.ts';
import { dueDigest } from './digest-times.ts';
import { fingerprintOf } from './fingerprint-of.ts';
import { createNotifier } from './notify-tenant.ts';
import { createAlarmRound, KEPT } from './raise-alarms.ts';
import { resumePaused } from './resume-paused.ts';
import { type Chore, type ChoreRunner, createChoreRunner } from './run-chores.ts';
import { createEventSender } from './send-events.ts';
import { startRequested } from './start-requested.ts';

/** An activity that nobody tries any more has no alarm, and neither has a value that nobody sends any more. */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** An HR system that works is asked once in so many rounds. */
const HRIS_EVERY = 12;
/** A worker that says nothing for so many rounds no longer does what one does for all: another takes it over. */
const LEASE_ROUNDS = 3;
const CLOSE_MS = 3_000;
const LEASE_END_MS = 500;

/**
 * What one worker does on a timer for all: raises alarms and ends them, tells of holds and alarms, tries paused tenants
 * again, checks that each HRIS answers, and clears what is kept for a time. Each tenant's chore stands alone. Others
 * read which HR systems stand still, and wait for its lease to end.
 */
export function startChores(
  deps: ActivityDeps,
  tenants: () => readonly Tenant[],
  everyMs: number,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const runner = createChoreRunner({ log: deps.log, everyMs, stop: stop.signal, fingerprintOf });
  const lease = createLease(deps.store, 'chores');
  const round = createRound(deps, { runner, lease, everyMs, stop: stop.signal });
  let rounding: Promise<void> | undefined;
  const tick = (): void => {
    rounding ??= round(tenants())
      .catch((error: unknown) => deps.log.error({ err: error }, 'chores failed'))
      .finally(() => {
        rounding = undefined;
      });
  };
  tick();
  const timer = setInterval(tick, everyMs);
  return {
    async close() {
      clearInterval(timer);
      stop.abort();
      await within(CLOSE_MS, Promise.all([rounding, runner.ended()]));
      await within(
        LEASE_END_MS,
        lease.end().catch(() => undefined),
      );
    },
  };
}

/** One round: a few queries for all tenants, then what each of them needs; without the lease a single query. */
function createRound(
  deps: ActivityDeps,
  { runner, lease, everyMs, stop }: { runner: ChoreRunner; lease: Lease; everyMs: number; stop: AbortSignal },
): (tenants: readonly Tenant[]) => Promise<void> {
  const { store, log } = deps;
  const raiseAlarms = createAlarmRound(store, log);
  const hearAnswers = createAnswerRound(deps);
  let erasing: Promise<void> | undefined;
  const notify = createNotifier(deps);
  const sendEvents = createEventSender(deps);
  const checkHris = createHrisCheck(deps);
  const resume: Chore = async ({ tenant }) => ((await resumePaused(deps, tenant)) ? 'done' : 'failed');
  const start: Chore = (tenant, signal) => startRequested(deps, tenant, signal);
  const purge: Chore = async ({ tenant, policies }, signal) => {
    await purgeTenant(store, tenant, policies.retention, signal);
    return 'done';
  };
  const purgeLeft = createLeftPurge(deps, stop);
  return async (tenants) => {
    const isOurs = await lease.take(everyMs * LEASE_ROUNDS);
    await followPausedHris(deps);
    if (!isOurs) return;
    for (const kind of ['activity-failing', 'unknown-value'] as const) await forgetTrouble(store, kind, DAY_MS);
    await forgetTrouble(store, 'hires-unfollowed', HOUR_MS);
    const states = new Map((await listTenantStates(store)).map((row) => [row.tenant_id, row]));
    await purgeBodies(store, KEPT.bodiesMs, stop);
    await purgeDeliveries(store, KEPT.deliveriesMs, stop);
    await purgeEvents(store, KEPT.eventsMs);
    await purgeLeft(new Set(tenants.map(({ tenant }) => tenant)));
    await raiseAlarms([...states.values()], new Map(tenants.map((tenant) => [tenant.tenant, tenant])));
    await hearAnswers();
    // Not waited for: what was under way when it was asked for may take half a minute to end.
    erasing ??= continueErasures(deps).finally(() => {
      erasing = undefined;
    });
    const toTell = await tenantsToTell(store);
    const toStart = await tenantsToStart(store);
    const withEvents = tenants.some(({ events }) => events !== undefined) ? await tenantsWithEvents(store) : new Set();
    for (const tenant of tenants) {
      const state = states.get(tenant.tenant);
      const digest = dueDigest(tenant.notify, state?.digested_on, new Date());
      if (toTell.has(tenant.tenant) || digest !== undefined) runner.begin('notify', notify, tenant);
      if (withEvents.has(tenant.tenant)) runner.begin('events', sendEvents, tenant);
      if (toStart.has(tenant.tenant)) runner.begin('start', start, tenant);
      runner.begin('purge', purge, tenant, HOUR_MS);
      if (state?.state === 'paused') runner.begin('resume', resume, tenant);
      else runner.begin('check HRIS', checkHris, tenant, deps.pausedHris.has(tenant.tenant) ? 0 : everyMs * HRIS_EVERY);
    }
  };
}

type Retention = Tenant['policies']['retention'];

async function purgeTenant(
  store: Store,
  tenantId: string,
  { plans, writes }: Retention,
  signal: AbortSignal,
): Promise<void> {
  await purgePlans(store, tenantId, plans);
  await purgeWrites(store, tenantId, plans, signal);
  await purgeWriteLog(store, tenantId, writes, signal);
  await purgeConflicts(store, tenantId, plans);
  await lapseCreating(store, tenantId);
}

/**
 * The same, once an hour, for tenants that nobody works for: removed ones, and those whose definition cannot be read.
 * They are kept to what they said last. Nothing of a removed one goes on, so that all of it is over.
 */
function createLeftPurge(
  { store, log }: ActivityDeps,
  stop: AbortSignal,
): (known: ReadonlySet<string>) => Promise<void> {
  let nextAt = 0;
  return async (known) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + HOUR_MS;
    for (const applied of await listAppliedTenants(store)) {
      const { tenantId, state } = applied;
      if (known.has(tenantId) || stop.aborted) continue;
      const kept = lastRetention(applied);
      await purgeTenant(store, tenantId, kept, stop);
      const purged = state === 'removed' ? await purgeRemoved(store, tenantId, kept.plans) : 0;
      if (purged > 0) log.info({ tenantId, purged }, 'values of a removed tenant cleared');
    }
  };
}
