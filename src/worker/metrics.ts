import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallReport } from '../partner/client/types.ts';
import { listAlarms } from '../store/alarms.ts';
import { countHires } from '../store/hires.ts';
import { countOpenHolds } from '../store/holds.ts';
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
