import type { ActivityDeps } from '../../activities/deps.ts';
import { forgetTrouble } from '../store/alarms.ts';
import type { Tenant } from '../tenants/schema.ts';
import { checkHris } from './check-hris.ts';
import { notifyHolds } from './notify-holds.ts';
import { resumePaused } from './resume-paused.ts';

/** An activity that nobody tries any more has no alarm. */
const DAY_MS = 86_400_000;

/** What a worker does on a timer: reports new holds, tries paused tenants again, and checks that each HRIS answers. */
export function startChores(
  deps: ActivityDeps,
  tenants: readonly Tenant[],
  everyMs: number,
): { close(): Promise<void> } {
  let running: Promise<unknown> = Promise.resolve();
  const queue = (): void => {
    running = running
      .then(() => runChores(deps, tenants))
      .catch((error: unknown) => deps.log.error({ err: error }, 'chores failed'));
  };
  queue();
  const timer = setInterval(queue, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

async function runChores(deps: ActivityDeps, tenants: readonly Tenant[]): Promise<void> {
  const addresses = new Map(tenants.map(({ tenant, notify }) => [tenant, notify]));
  await forgetTrouble(deps.store, 'activity-failing', DAY_MS);
  await notifyHolds(deps.store, (tenantId) => addresses.get(tenantId), deps.log);
  for (const { tenant } of tenants) {
    await resumePaused(deps, tenant);
    await checkHris(deps, tenant);
  }
}
