import type { HoldCode } from '../hire/holds.ts';
import type { Logger } from '../log.ts';
import type { Trouble } from '../store/alarms.ts';
import { alignAlarms, countStuck } from '../store/derived-alarms.ts';
import { oldestUntaken } from '../store/events-out.ts';
import { oldestHints } from '../store/hints.ts';
import { openDepartures } from '../store/holds.ts';
import type { Store } from '../store/open-store.ts';
import { listOverdue, type Overdue } from '../store/retention.ts';
import { listStreamStates } from '../store/stream-states.ts';
import { listStreams } from '../store/streams.ts';
import { readClock, type TenantState } from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';
import { judgeTenant } from './judge-tenants.ts';

const DAY_MS = 86_400_000;
/** How long deliveries are kept, and events that were taken. */
export const KEPT = { bodiesMs: 7 * DAY_MS, deliveriesMs: 90 * DAY_MS, eventsMs: 30 * DAY_MS };
/** An event that nobody sends any more is no alarm any more. */
const UNKNOWN_MS = DAY_MS;
/** What is asked about somebody who left. */
const DEPARTURES = ['LEFT_BEFORE_START', 'LEFT_AFTER_EMPLOYEE', 'TOO_MANY_CANCELLATIONS'] as const satisfies HoldCode[];

/** A day more than `KEPT`: a worker that was away for a night has cleared what is due by then. */
const LATE = { bodiesMs: KEPT.bodiesMs + DAY_MS, deliveriesMs: KEPT.deliveriesMs + DAY_MS };

/** Compares what the tables hold of every tenant with what they should, in a few queries for all of them. */
export function createAlarmRound(
  store: Store,
  log: Logger,
): (states: readonly TenantState[], tenants: ReadonlyMap<string, Tenant>) => Promise<void> {
  const active = new Map<string, { configHash: string | undefined; since: number }>();
  /** A pause, a start and a changed definition begin anew. */
  const activeSince = (state: TenantState, tenant: Tenant | undefined, now: number): number => {
    const known = active.get(state.tenant_id);
    if (state.state !== 'active') active.delete(state.tenant_id);
    else if (known === undefined || known.configHash !== tenant?.configHash)
      active.set(state.tenant_id, { configHash: tenant?.configHash, since: now });
    return active.get(state.tenant_id)?.since ?? now;
  };
  return async (states, tenants) => {
    const [now, runs, deliveries, standing, hinted, departures, untold] = [
      await readClock(store),
      Map.groupBy(await listStreams(store), (run) => run.tenant_id),
      Map.groupBy(await countStuck(store, UNKNOWN_MS), (one) => one.tenantId),
      Map.groupBy(await listStreamStates(store), (one) => one.tenant_id),
      Map.groupBy(await oldestHints(store), (one) => one.tenantId),
      await openDepartures(store, DEPARTURES),
      await oldestUntaken(store),
    ];
    const troubles = states.flatMap((state) => {
      const tenant = tenants.get(state.tenant_id);
      const streams = runs.get(state.tenant_id) ?? [];
      const stuck = deliveries.get(state.tenant_id) ?? [];
      const hintedSince = new Map((hinted.get(state.tenant_id) ?? []).map((one) => [one.stream, one.hintedAt]));
      const departedAt = departures.get(state.tenant_id) ?? [];
      const facts = {
        standing: standing.get(state.tenant_id) ?? [],
        hintedSince,
        streams,
        stuck,
        departedAt,
        untaken: untold.get(state.tenant_id),
      };
      return judgeTenant({ now, state, tenant, activeSince: activeSince(state, tenant, now), ...facts });
    });
    const late = (await listOverdue(store, LATE)).map(lateTrouble);
    const { raised, over } = await alignAlarms(store, [...troubles, ...late]);
    for (const { tenantId, kind, subject, reason: code, message: reason } of raised)
      log.error({ tenantId, kind, subject, code, reason }, 'alarm raised');
    for (const { tenantId, kind, subject } of over) log.info({ tenantId, kind, subject }, 'alarm over');
  };
}

/** Told of the tenant that it has waited for longest. */
function lateTrouble({ tenantId, what, receivedAt }: Overdue): Trouble {
  const came = new Date(receivedAt).toISOString().slice(0, 10);
  const message =
    `${what === 'bodies' ? 'The body of a webhook' : 'A webhook'} that came on ${came} should have been cleared by ` +
    'now. Check that a worker runs, and whether the database keeps up: hirebridge status';
  return { tenantId, kind: 'retention-late', subject: `retention of ${what}`, reason: 'RETENTION_LATE', message };
}
