import pLimit from 'p-limit';
import type { ActivityDeps } from '../../activities/deps.ts';
import { forgetTrouble } from '../store/alarms.ts';
import { purgeBodies, purgePlans, purgeWrites } from '../store/retention.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';
import { within } from '../within.ts';
import { createBackOff } from './back-off.ts';
import { createHrisCheck } from './check-hris.ts';
import { createNotifier } from './notify-holds.ts';
import { resumePaused } from './resume-paused.ts';

/** An activity that nobody tries any more has no alarm, and neither has a value that nobody sends any more. */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Chores of all tenants at once. */
const MOST_AT_ONCE = 16;
/** A chore that fails is tried this often at least. */
const MOST_BACK_OFF_MS = 900_000;
/** An HR system that works is asked once in so many rounds. */
const HRIS_EVERY = 4;
const CLOSE_MS = 5_000;

/** One kind of chore for one tenant; false or an error: it did not work, and its next try comes later. */
type Chore = (tenant: Tenant, signal: AbortSignal) => Promise<boolean>;

/**
 * What a worker does on a timer: reports new holds, tries paused tenants again, checks that each HRIS answers, and
 * clears what is kept for a time. Each tenant's chore stands alone: one that hangs is not begun again, and keeps no
 * other from its turn.
 */
export function startChores(
  deps: ActivityDeps,
  tenants: () => readonly Tenant[],
  everyMs: number,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const runner = createRunner(deps, everyMs, stop.signal);
  const notify = createNotifier(deps);
  const checkHris = createHrisCheck(deps);

  const purge: Chore = async ({ tenant, policies }) => {
    await purgePlans(deps.store, tenant, policies.retention.plans);
    await purgeWrites(deps.store, tenant, policies.retention.plans);
    return true;
  };

  async function round(): Promise<void> {
    for (const kind of ['activity-failing', 'unknown-value'] as const) await forgetTrouble(deps.store, kind, DAY_MS);
    await purgeBodies(deps.store, 7 * DAY_MS);
    const states = new Map((await listTenantStates(deps.store)).map((row) => [row.tenant_id, row.state]));
    for (const tenant of tenants()) {
      runner.begin('notify', notify, tenant);
      runner.begin('purge', purge, tenant, HOUR_MS);
      if (states.get(tenant.tenant) === 'paused')
        runner.begin('resume', (one) => resumePaused(deps, one.tenant), tenant);
      else runner.begin('check HRIS', checkHris, tenant, everyMs * HRIS_EVERY);
    }
  }

  let rounding: Promise<void> | undefined;
  const tick = (): void => {
    rounding ??= round()
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
    },
  };
}

interface Runner {
  /** Begins a tenant's chore unless it is under way or not due yet; after a success it is due again in `againMs`. */
  begin(name: string, chore: Chore, tenant: Tenant, againMs?: number): void;
  ended(): Promise<unknown>;
}

function createRunner({ log }: ActivityDeps, everyMs: number, stop: AbortSignal): Runner {
  const underWay = new Map<string, Promise<void>>();
  const limit = pLimit(MOST_AT_ONCE);
  const backOff = createBackOff(everyMs, Math.max(everyMs, MOST_BACK_OFF_MS));
  const run = async (key: string, chore: () => Promise<boolean>): Promise<boolean> => {
    try {
      return !stop.aborted && (await chore());
    } catch (error) {
      log.error({ err: error, chore: key }, 'chore failed');
      return false;
    }
  };
  return {
    begin(name, chore, tenant, againMs = 0) {
      const key = `${name} ${tenant.tenant}`;
      if (stop.aborted || underWay.has(key) || !backOff.isDue(key)) return;
      const done = limit(async () => {
        if (await run(key, () => chore(tenant, stop))) backOff.succeeded(key, againMs);
        else backOff.failed(key);
      }).finally(() => underWay.delete(key));
      underWay.set(key, done);
    },
    ended: () => Promise.all(underWay.values()),
  };
}
