import type { HoldCode } from '../hire/holds.ts';
import type { Logger } from '../log.ts';
import { alignAlarms, countStuck } from '../store/derived-alarms.ts';
import { oldestHints } from '../store/hints.ts';
import { openDepartures } from '../store/holds.ts';
import type { Store } from '../store/open-store.ts';
import { listStreamStates } from '../store/stream-states.ts';
import { listStreams } from '../store/streams.ts';
import { readClock, type TenantState } from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';
import { judgeTenant } from './judge-tenants.ts';

/** An event that nobody sends any more is no alarm any more. */
const UNKNOWN_MS = 86_400_000;
/** What is asked about somebody who left. */
const DEPARTURES = ['LEFT_BEFORE_START', 'LEFT_AFTER_EMPLOYEE', 'TOO_MANY_CANCELLATIONS'] as const satisfies HoldCode[];

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
    const [now, runs, deliveries, standing, hinted, departures] = [
      await readClock(store),
      Map.groupBy(await listStreams(store), (run) => run.tenant_id),
      Map.groupBy(await countStuck(store, UNKNOWN_MS), (one) => one.tenantId),
      Map.groupBy(await listStreamStates(store), (one) => one.tenant_id),
      Map.groupBy(await oldestHints(store), (one) => one.tenantId),
      await openDepartures(store, DEPARTURES),
    ];
    const troubles = states.flatMap((state) => {
      const tenant = tenants.get(state.tenant_id);
      const streams = runs.get(state.tenant_id) ?? [];
      const stuck = deliveries.get(state.tenant_id) ?? [];
      const hintedSince = new Map((hinted.get(state.tenant_id) ?? []).map((one) => [one.stream, one.hintedAt]));
      const departedAt = departures.get(state.tenant_id) ?? [];
      const facts = { standing: standing.get(state.tenant_id) ?? [], hintedSince, streams, stuck, departedAt };
      return judgeTenant({ now, state, tenant, activeSince: activeSince(state, tenant, now), ...facts });
    });
    const { raised, over } = await alignAlarms(store, troubles);
    for (const { tenantId, kind, subject, reason: code, message: reason } of raised)
      log.error({ tenantId, kind, subject, code, reason }, 'alarm raised');
    for (const { tenantId, kind, subject } of over) log.info({ tenantId, kind, subject }, 'alarm over');
  };
}
