import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallReport } from '../partner/client/types.ts';
import { listAlarms } from '../store/alarms.ts';
import { countHires } from '../store/hires.ts';
import { countOpenHolds } from '../store/holds.ts';
import { viewRateLimits } from '../store/open-rate-limit.ts';
import type { Store } from '../store/open-store.ts';

/** Counts each call to a partner: by tenant, operation and outcome, and how long it took. */
export function createCallMetrics(registry: Registry): (tenantId: string, report: CallReport) => void {
  const calls = new Counter({
    name: 'hirebridge_partner_calls_total',
    help: 'Calls to the partner API by operation and outcome',
    labelNames: ['tenant', 'operation', 'status', 'code'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'hirebridge_partner_call_seconds',
    help: 'Duration of calls to the partner API',
    labelNames: ['operation'],
    registers: [registry],
  });
  return (tenant, { operation, status, code, ms }) => {
    calls.inc({ tenant, operation, status: status ?? 0, code: code ?? '' });
    seconds.observe({ operation }, ms / 1000);
  };
}

/** Raised alarms, counted whenever the metrics are read. */
export function gaugeAlarms(store: Store, registry: Registry): void {
  const alarms = new Gauge({
    name: 'hirebridge_alarms',
    help: 'Raised alarms by tenant, kind and reason',
    labelNames: ['tenant', 'kind', 'reason'],
    registers: [registry],
    async collect() {
      const rows = await listAlarms(store);
      this.reset();
      for (const { tenant_id: tenant, kind, reason } of rows) alarms.inc({ tenant, kind, reason });
    },
  });
}

/** Open holds, counted whenever the metrics are read. */
export function gaugeHolds(store: Store, registry: Registry): void {
  const holds = new Gauge({
    name: 'hirebridge_holds',
    help: 'Open holds by tenant and reason',
    labelNames: ['tenant', 'code'],
    registers: [registry],
    async collect() {
      const rows = await countOpenHolds(store);
      this.reset();
      for (const { tenantId, code, count } of rows) holds.set({ tenant: tenantId, code }, count);
    },
  });
}

/** Hires by state, counted whenever the metrics are read. */
export function gaugeHires(store: Store, registry: Registry): void {
  const hires = new Gauge({
    name: 'hirebridge_hires',
    help: 'Hires by tenant and state',
    labelNames: ['tenant', 'state'],
    registers: [registry],
    async collect() {
      const rows = await countHires(store);
      this.reset();
      for (const { tenantId, state, count } of rows) hires.set({ tenant: tenantId, state }, count);
    },
  });
}

/** What was learned of each rate limit and how its calls fare, read from the store with the metrics: of the fleet. */
export function gaugeRateLimits(store: Store, registry: Registry): void {
  const gauge = (name: string, help: string, labels: readonly string[] = []) =>
    new Gauge({
      name: `hirebridge_rate_limit_${name}`,
      help,
      labelNames: ['tenant', 'upstream', ...labels],
      registers: [registry],
    });
  const shares = gauge('share', 'Of the calls of the last minutes: refused with 429; and used of the learned rate', [
    'of',
  ]);
  const waits = gauge('wait_seconds', 'How long calls waited for a permit in the last minutes', [
    'priority',
    'quantile',
  ]);
  new Gauge({
    name: 'hirebridge_rate_limit_per_second',
    help: 'Calls a second that are allowed now, as learned, by the kind of limit believed in',
    labelNames: ['tenant', 'upstream', 'kind'],
    registers: [registry],
    async collect() {
      const views = await viewRateLimits(store);
      for (const each of [this, shares, waits]) each.reset();
      for (const { tenantId: tenant, upstream, kind, ...view } of views) {
        this.set({ tenant, upstream, kind }, view.rate);
        shares.set({ tenant, upstream, of: '429' }, view.share429);
        shares.set({ tenant, upstream, of: 'used' }, view.use);
        for (const [priority, { p50Ms, p99Ms }] of Object.entries(view.waits)) {
          waits.set({ tenant, upstream, priority, quantile: '0.5' }, p50Ms / 1000);
          waits.set({ tenant, upstream, priority, quantile: '0.99' }, p99Ms / 1000);
        }
      }
    },
  });
}
