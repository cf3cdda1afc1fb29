import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Counters of the receiver. Labels are tenant ids and our own codes, never text from outside. */
export function createReceiverMetrics(registry: Registry) {
  const registers = [registry];
  return {
    deliveries: new Counter({
      name: 'hirebridge_webhook_deliveries_total',
      help: 'Webhook deliveries answered, by tenant (empty when unknown), status and code.',
      labelNames: ['tenant', 'status', 'code'] as const,
      registers,
    }),
    unknownEvents: new Counter({
      name: 'hirebridge_webhook_unknown_events_total',
      help: 'Deliveries with an event name that the contract does not know; stored without effect.',
      labelNames: ['tenant'] as const,
      registers,
    }),
    foreignEvents: new Counter({
      name: 'hirebridge_webhook_foreign_company_total',
      help: 'Deliveries that name another company than the tenant file; stored without effect.',
      labelNames: ['tenant'] as const,
      registers,
    }),
    held: new Gauge({ name: 'hirebridge_webhook_held', help: 'Deliveries waiting for the store.', registers }),
    seconds: new Histogram({
      name: 'hirebridge_webhook_seconds',
      help: 'From the end of the headers to the answer.',
      buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.4, 5, 10],
      registers,
    }),
  };
}
export type ReceiverMetrics = ReturnType<typeof createReceiverMetrics>;
