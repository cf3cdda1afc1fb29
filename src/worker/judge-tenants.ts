import type { Trouble } from '../store/alarms.ts';
import type { StuckDeliveries } from '../store/derived-alarms.ts';
import type { StreamRow } from '../store/schema.ts';
import { PAUSED_BY_PERSON, type TenantState } from '../store/tenant-states.ts';
import { streamNames } from '../streams/streams.ts';
import type { Tenant } from '../tenants/schema.ts';

/** So many periods without a result are an alarm. */
const STALE_PERIODS = 3;
/** Unknown events of one tenant that are told apart: whoever has its webhook key may invent more. */
const MOST_EVENTS = 20;

/** What a tenant's tables hold; times are milliseconds on the database's clock. */
export interface TenantFacts {
  now: number;
  state: TenantState;
  /** Its definition, where it can be read. */
  tenant?: Tenant | undefined;
  /** Since when this process has known it as active, with this definition. */
  activeSince: number;
  streams: readonly Pick<StreamRow, 'stream' | 'state' | 'refused_code' | 'refused_message' | 'updated_at'>[];
  stuck: readonly StuckDeliveries[];
}

/** What a person should know of a tenant, by what its tables hold. */
export function judgeTenant(facts: TenantFacts): Trouble[] {
  const { state, stuck } = facts;
  if (state.state === 'removed') return [];
  const deliveries = stuckTroubles(state.tenant_id, stuck);
  if (state.state === 'paused') return [...pauseTroubles(state), ...deliveries];
  return [...reconcileTroubles(facts), ...streamTroubles(facts), ...deliveries];
}

/** A pause by a person is no surprise to anybody. */
function pauseTroubles({ tenant_id: tenantId, paused_code: code, paused_message: why }: TenantState): Trouble[] {
  if (code === PAUSED_BY_PERSON) return [];
  return [{ tenantId, kind: 'tenant-paused', subject: 'tenant', reason: code ?? 'PAUSED', message: why ?? '' }];
}

function reconcileTroubles({ now, state, tenant, activeSince }: TenantFacts): Trouble[] {
  const every = tenant?.policies.reconcile.every;
  // A baseline takes as long as the company is large; one that fails has an alarm of its own.
  const isBaseline = state.baseline_started_at !== null && state.baseline_done_at === null;
  if (every === undefined || isBaseline || !isStale(now, activeSince, every, state.reconciled_at)) return [];
  const message =
    'The last reconcile ended more than three periods ago, so hires without a webhook are not found. ' +
    'Check that a worker runs and that Temporal and the partner answer: hirebridge status';
  return [{ tenantId: state.tenant_id, kind: 'reconcile-stale', subject: 'reconcile', reason: 'STALE', message }];
}

function streamTroubles(facts: TenantFacts): Trouble[] {
  const { now, state, tenant, activeSince, streams } = facts;
  return streamNames.flatMap((name): Trouble[] => {
    const every = tenant?.streams[name].every;
    if (every === undefined) return [];
    const run = streams.find(({ stream }) => stream === name);
    const trouble = { tenantId: state.tenant_id, kind: 'stream-stale', subject: `stream ${name}` } as const;
    if (run?.state === 'refused')
      return [{ ...trouble, reason: run.refused_code ?? 'REFUSED', message: run.refused_message ?? '' }];
    if (!isStale(now, activeSince, every, run?.updated_at ?? null)) return [];
    const message =
      `The stream ${name} moved nothing for more than three periods. ` +
      `Run it by hand to see why: hirebridge sync ${state.tenant_id} ${name}`;
    return [{ ...trouble, reason: 'STALE', message }];
  });
}

/** After a start, a pause or a change of the definition, a period may pass before old times count. */
function isStale(now: number, activeSince: number, every: number, last: number | null): boolean {
  if (last === null) return now - activeSince > STALE_PERIODS * every;
  return now - Number(last) > STALE_PERIODS * every && now - activeSince > every;
}

function stuckTroubles(tenantId: string, stuck: readonly StuckDeliveries[]): Trouble[] {
  const unknown = stuck.filter(({ state }) => state === 'unknown').slice(0, MOST_EVENTS);
  const events = unknown.map(({ event }): Trouble => {
    // Anything may stand in a name; what does not look like one is not shown.
    const shown = /^[\w.-]{1,60}$/.test(event) ? event : '(not a name)';
    const message =
      `The partner sent the event ${shown}, which hirebridge does not know; it is stored and nothing acts upon it. ` +
      `See: hirebridge inbox list --tenant ${tenantId} --state unknown`;
    return { tenantId, kind: 'unknown-event', subject: `event ${shown}`, reason: 'EVENT_UNKNOWN', message };
  });
  if (!stuck.some(({ state }) => state === 'undeliverable')) return events;
  const message =
    'Webhooks could not be relayed after ten tries. ' +
    `See: hirebridge inbox list --tenant ${tenantId}; relay again: hirebridge inbox retry --all --tenant ${tenantId}`;
  return [...events, { tenantId, kind: 'undeliverable', subject: 'inbox', reason: 'UNDELIVERABLE', message }];
}
