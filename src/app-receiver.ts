import { type Places, readConfig, storeUrl } from './config.ts';
import { createRegistry, startHealth } from './health.ts';
import { createLogger } from './log.ts';
import { isEventName } from './partner/contract/events.ts';
import type { ReceiverTenant } from './receiver/admit.ts';
import { type Receiver, startReceiver } from './receiver/receiver.ts';
import { createReceiverMetrics } from './receiver/receiver-metrics.ts';
import { createRefusalNotes, type NotedRefusal } from './receiver/refusal-notes.ts';
import type { Delivery } from './store/inbox.ts';

export interface RunReceiverOptions extends Places {
  port?: number;
  host?: string;
  healthPort?: number;
  reusePort?: boolean;
}

export interface RunningReceiver {
  url: string;
  healthUrl: string;
  close(): Promise<void>;
}

/**
 * The receiver as a process. It listens first and loads the rest (tenant files, store, drivers: most of its start-up)
 * while the first deliveries wait: the partner's retries end after 1.4 s, and a closed port uses that time up.
 */
export async function runReceiver(options: RunReceiverOptions): Promise<RunningReceiver> {
  const config = readConfig();
  const log = createLogger('receiver');
  const registry = createRegistry('serve');
  const tenants = Promise.withResolvers<ReadonlyMap<string, ReceiverTenant>>();
  const url = storeUrl(options.dataDir, config);
  const refusals = createRefusalNotes((noted) => writeRefusals(url, noted));
  const receiver = await startReceiver({
    port: options.port ?? config.HIREBRIDGE_PORT,
    host: options.host ?? config.HIREBRIDGE_HOST,
    reusePort: options.reusePort ?? config.HIREBRIDGE_REUSE_PORT,
    maxBytes: config.HIREBRIDGE_MAX_WEBHOOK_BYTES,
    tenants: tenants.promise.then((known) => (id: string) => known.get(id)),
    // The relay ignores known events that nothing acts upon: it knows the dispatch table.
    classify: (event) => (isEventName(event) ? 'waiting' : 'unknown'),
    openStore: () => openDeliveryStore(url),
    metrics: createReceiverMetrics(registry),
    onRefused: refusals.note,
    log,
  });
  try {
    const known = await receiverTenants(options.tenantsDir);
    tenants.resolve(known);
    const port = options.healthPort ?? config.HIREBRIDGE_SERVE_HEALTH_PORT;
    const health = await startHealth({ port, registry, ready: () => readiness(receiver) });
    log.info({ url: receiver.url, health: health.url, tenants: known.size }, 'receiving webhooks');
    const close = async () => {
      await Promise.all([receiver.close(), health.close()]);
      await refusals.close();
    };
    return { url: receiver.url, healthUrl: health.url, close };
  } catch (error) {
    tenants.reject(error);
    await receiver.close();
    throw error;
  }
}

function readiness(receiver: Receiver) {
  return { store: receiver.ready() ? { ok: true } : { ok: false, note: 'not open yet, or the last commit failed' } };
}

/** A tenant that lives by the reconcile alone has no webhook address at all. */
async function receiverTenants(tenantsDir: string): Promise<ReadonlyMap<string, ReceiverTenant>> {
  const [{ loadTenants }, { resolveSecret }] = await Promise.all([
    import('./tenants/load-tenants.ts'),
    import('./tenants/secrets.ts'),
  ]);
  const receiving = (await loadTenants(tenantsDir)).filter((tenant) => tenant.partner.webhooks === 'on');
  return new Map(
    receiving.map(({ tenant, partner }) => {
      const company = partner.company === undefined ? {} : { company: partner.company };
      return [tenant, { id: tenant, webhookKeys: partner.webhookKeys.map((ref) => resolveSecret(ref)), ...company }];
    }),
  );
}

async function openDeliveryStore(url: string) {
  const [{ openStore }, { insertDelivery }] = await Promise.all([
    import('./store/open-store.ts'),
    import('./store/inbox.ts'),
  ]);
  const store = await openStore(url);
  return { commit: (delivery: Delivery) => insertDelivery(store, delivery), close: () => store.close() };
}

/** Opened for one write: refusals are rare, and no delivery waits for this connection. */
async function writeRefusals(url: string, noted: readonly NotedRefusal[]): Promise<void> {
  const [{ openStore }, { addWebhookRefusals }] = await Promise.all([
    import('./store/open-store.ts'),
    import('./store/webhook-refusals.ts'),
  ]);
  const store = await openStore(url, { poolSize: 1 });
  try {
    await addWebhookRefusals(store, noted);
  } finally {
    await store.close();
  }
}
