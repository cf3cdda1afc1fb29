import type { HireState } from '../hire/hire.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import { listAlarms } from '../store/alarms.ts';
import { listFreezes } from '../store/freezes.ts';
import { countHires } from '../store/hires.ts';
import { countOpenHolds } from '../store/holds.ts';
import { countBegunByHour, countHoldCauses, type HoldCause, listHoldsPage } from '../store/listings.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { viewRateLimits } from '../store/rate-limits.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import { type HoldView, viewHold } from './holds.ts';
import {
  alarmFacts,
  type KnownTenant,
  readProcesses,
  readStreams,
  type Status,
  type StreamStatus,
  type TenantFacts,
  type TenantStatus,
  tenantFacts,
} from './status.ts';

/** A fleet at a glance: counts and codes, no personal data. Like `status`, without its long lists. */
export interface Overview {
  /** UTC. */
  at: string;
  processes: Status['processes'];
  freezes: Status['freezes'];
  /** Open holds by code, with those that have waited longest. */
  causes: (Omit<HoldCause, 'oldestAt'> & { oldestMs: number; oldest: (HoldView & { ageMs: number })[] })[];
  alarms: (TenantStatus['alarms'][number] & { tenantId: string })[];
  /** Tenants that need a person first, then by name. */
  tenants: TenantLine[];
}

export interface TenantLine extends TenantFacts {
  isFrozen: boolean;
  hires: Partial<Record<HireState, number>>;
  /** Number of open holds. */
  holds: number;
  alarms: number;
}

/** At most this many holds of one code are listed. */
const MOST_NAMED = 3;

/** Reads the state of every applied or known tenant, or of some of them. */
export async function readOverview(
  store: Store,
  known: readonly KnownTenant[],
  scope?: readonly string[],
): Promise<Overview> {
  const now = await readClock(store);
  const [states, hires, held, counted, alarms, freezes, processes] = await Promise.all([
    listTenantStates(store),
    countHires(store),
    countOpenHolds(store),
    countHoldCauses(store, scope),
    listAlarms(store),
    listFreezes(store),
    readProcesses(store, now, known),
  ]);
  const isShown = (tenantId: string | undefined): boolean =>
    scope === undefined || tenantId === undefined || scope.includes(tenantId);
  const causes = counted.map(async ({ oldestAt, ...cause }) => {
    const rows = await listHoldsPage(store, { tenantIds: scope, code: cause.code, limit: MOST_NAMED });
    const oldest = rows.map((row) => ({ ...viewHold(row), ageMs: now - Number(row.opened_at) }));
    return { ...cause, oldestMs: now - oldestAt, oldest };
  });
  const rows = new Map(states.map((row) => [row.tenant_id, row]));
  const hiresOf = Map.groupBy(hires, ({ tenantId }) => tenantId);
  const holdsOf = Map.groupBy(held, ({ tenantId }) => tenantId);
  const alarmsOf = Map.groupBy(alarms, (alarm) => alarm.tenant_id);
  const frozen = new Set(freezes.map(({ tenantId }) => tenantId));
  const ids = [...new Set([...known.map(({ tenantId }) => tenantId), ...rows.keys()])].filter(isShown);
  const tenants = ids.map(
    (tenantId): TenantLine => ({
      ...tenantFacts(tenantId, rows.get(tenantId), now),
      isFrozen: frozen.has(undefined) || frozen.has(tenantId),
      hires: Object.fromEntries((hiresOf.get(tenantId) ?? []).map(({ state, count }) => [state, count])),
      holds: (holdsOf.get(tenantId) ?? []).reduce((sum, { count }) => sum + count, 0),
      alarms: alarmsOf.get(tenantId)?.length ?? 0,
    }),
  );
  return {
    at: new Date(now).toISOString(),
    processes,
    freezes: freezes
      .filter(({ tenantId }) => isShown(tenantId))
      .map(({ since, ...freeze }) => ({ ...freeze, ageMs: now - since })),
    causes: await Promise.all(causes),
    alarms: alarms
      .filter((alarm) => isShown(alarm.tenant_id))
      .map((alarm) => ({ tenantId: alarm.tenant_id, ...alarmFacts(alarm, now) })),
    tenants: tenants.sort(neediestFirst),
  };
}

/** Tenants that wait for a person first, removed ones last, each by name. */
function neediestFirst(a: TenantLine, b: TenantLine): number {
  return needOf(b) - needOf(a) || (a.tenantId < b.tenantId ? -1 : 1);
}

function needOf({ state, isFrozen, holds, alarms }: TenantLine): number {
  if (state === 'removed') return -1;
  return (state === 'paused' || isFrozen ? 1_000 : 0) + holds + alarms;
}

/** Figures shown in a tenant's line. */
export interface TenantFigures {
  /** Hires begun in each of the last 24 hours, oldest hour first. */
  begun: number[];
  streams: StreamStatus[];
  rateLimits: RateLimitView[];
}

/** Figures of the tenants that are shown. */
export async function readFigures(store: Store, tenantIds: readonly string[]): Promise<Map<string, TenantFigures>> {
  if (tenantIds.length === 0) return new Map();
  const now = await readClock(store);
  const [begun, streams, limits] = await Promise.all([
    countBegunByHour(store, tenantIds, now),
    readStreams(store, now, tenantIds),
    viewRateLimits(store, tenantIds),
  ]);
  const limitsOf = Map.groupBy(limits, ({ tenantId }) => tenantId);
  return new Map(
    tenantIds.map((id) => [
      id,
      { begun: begun.get(id) ?? [], streams: streams.get(id) ?? [], rateLimits: limitsOf.get(id) ?? [] },
    ]),
  );
}
