import { readConfig, storeUrl } from '../config.ts';
import { createRegistry, startHealth } from '../health.ts';
import { createLogger } from '../log.ts';
import { isEventName } from '../partner/contract/events.ts';
import { insertDelivery } from '../store/inbox.ts';
import { openStore } from '../store/open-store.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import type { ReceiverTenant } from '../webhooks/admit.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { createReceiverMetrics } from '../webhooks/receiver-metrics.ts';
import type { Places } from './options.ts';

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

/** The receiver as a process: tenant files, store, health pages. Refused tenant files end it before it listens. */
export async function runReceiver(options: RunReceiverOptions): Promise<RunningReceiver> {
  const config = readConfig();
  const log = createLogger('receiver');
  const tenants = receiverTenants(await loadTenants(options.tenantsDir));
  const registry = createRegistry('serve');
  const receiver = await startReceiver({
    port: options.port ?? config.HIREBRIDGE_PORT,
    host: options.host ?? config.HIREBRIDGE_HOST,
    reusePort: options.reusePort ?? config.HIREBRIDGE_REUSE_PORT,
    maxBytes: config.HIREBRIDGE_MAX_WEBHOOK_BYTES,
    tenants: (id) => tenants.get(id),
    // A known event of a stream not built yet is closed by the relay, which knows who acts upon what.
    classify: (event) => (isEventName(event) ? 'waiting' : 'unknown'),
    openStore: () => openDeliveryStore(storeUrl(options.dataDir, config)),
    metrics: createReceiverMetrics(registry),
    log,
  });
  const port = options.healthPort ?? config.HIREBRIDGE_SERVE_HEALTH_PORT;
  const health = await startHealth({ port, registry, ready: () => readiness(receiver) }).catch(
    async (error: unknown) => {
      await receiver.close();
      throw error;
    },
  );
  log.info({ url: receiver.url, health: health.url, tenants: tenants.size }, 'receiving webhooks');
  return {
    url: receiver.url,
    healthUrl: health.url,
    close: async () => void (await Promise.all([receiver.close(), health.close()])),
  };
}

function readiness(receiver: Receiver) {
  return { store: receiver.ready() ? { ok: true } : { ok: false, note: 'not open yet, or the last commit failed' } };
}

/** A tenant that lives by the sweep alone has no webhook address at all. */
function receiverTenants(tenants: readonly Tenant[]): ReadonlyMap<string, ReceiverTenant> {
  const receiving = tenants.filter((tenant) => tenant.partner.webhooks === 'on');
  return new Map(
    receiving.map(({ tenant, partner }) => {
      const company = partner.company === undefined ? {} : { company: partner.company };
      return [tenant, { id: tenant, webhookKeys: partner.webhookKeys.map((ref) => resolveSecret(ref)), ...company }];
    }),
  );
}

async function openDeliveryStore(url: string) {
  const store = await openStore(url);
  return {
    commit: (delivery: Parameters<typeof insertDelivery>[1]) => insertDelivery(store, delivery),
    close: () => store.close(),
  };
}
