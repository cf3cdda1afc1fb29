import { misspeltSettings, type Places, readConfig, storeUrl } from './config.ts';
import { isConnectorError } from './errors.ts';
import { createRegistry, type HealthCheck, startHealth } from './health.ts';
import { createLogger, type Logger } from './log.ts';
import { isEventName } from './partner/contract/events.ts';
import { type Admission, createRefusalNotes, type RefusalNotes } from './receiver/admit.ts';
import { createReceiverMetrics, type Receiver, startReceiver } from './receiver/receiver.ts';
import { createSecretPages } from './receiver/secret-pages.ts';
import type { Store } from './store/open-store.ts';
import { startTelemetry } from './telemetry/start-telemetry.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { traceReceived } from './trace.ts';
import { within } from './within.ts';

interface RunReceiverOptions extends Places {
  port?: number;
  host?: string;
  healthPort?: number;
  reusePort?: boolean;
}

interface RunningReceiver {
  url: string;
  healthUrl: string;
  /** Rejects if the tenants of a first start turn out to be invalid. */
  failed: Promise<never>;
  /** Takes less than five seconds, even if the store hangs. */
  close(): Promise<void>;
}

/** Two seconds for deliveries in flight, plus the store's time to close. */
const CLOSE_MS = 4_000;

/**
 * The receiver as a process. It listens first and loads the rest (store, tenants, drivers: most of its start) while the
 * first deliveries wait: the partner's retries end after 1.4 s, and a closed port would use up that time.
 */
export async function runReceiver(options: RunReceiverOptions): Promise<RunningReceiver> {
  const config = readConfig();
  const log = createLogger('receiver');
  for (const misspelt of misspeltSettings()) log.warn(misspelt);
  const registry = createRegistry('serve');
  const tenants = Promise.withResolvers<Admission['tenants']>();
  const url = storeUrl(options.dataDir, config);
  const refusals = createRefusalNotes();
  const firstTry = Promise.withResolvers<void>();
  const failed = tenants.promise.then(() => new Promise<never>(() => undefined));
  failed.catch(() => undefined);
  let telemetry: Promise<Telemetry | undefined> | undefined;
  let installationId = '';
  let store: Store | undefined;
  const receiver = await startReceiver({
    port: options.port ?? config.HIREBRIDGE_PORT,
    host: options.host ?? config.HIREBRIDGE_HOST,
    reusePort: options.reusePort ?? config.HIREBRIDGE_REUSE_PORT,
    maxBytes: config.HIREBRIDGE_MAX_WEBHOOK_BYTES,
    tenants: tenants.promise,
    // Known events that nothing acts upon are ignored later by the relay, which has the dispatch table.
    classify: (event) => (isEventName(event) ? 'waiting' : 'unknown'),
    openStore: async () => {
      try {
        telemetry ??= startTelemetry('serve', registry);
        await telemetry;
        const opened = await openDeliveryStore(url, options, log, { known: tenants.resolve, refusals });
        installationId = opened.installationId;
        store = opened.store;
        firstTry.resolve();
        return opened;
      } catch (error) {
        // A store that is down is tried again; invalid tenant files end the process.
        if (isConnectorError(error) && error.action === 'reject') tenants.reject(error);
        else firstTry.resolve();
        throw error;
      }
    },
    otherwise: createSecretPages(() => store),
    metrics: createReceiverMetrics(registry),
    onStored: ({ tenantId, bodyHash, event, ids }, ms) =>
      traceReceived(
        { installationId, tenantId, bodyHash },
        { event, jobCandidateIds: ids['jobCandidateId'] ?? [], ms },
      ),
    onRefused: refusals.note,
    log,
  });
  try {
    await Promise.race([firstTry.promise, failed]);
    const port = options.healthPort ?? config.HIREBRIDGE_SERVE_HEALTH_PORT;
    const host = config.HIREBRIDGE_HEALTH_HOST;
    const health = await startHealth({ host, port, registry, ready: () => readiness(receiver) });
    log.info({ url: receiver.url, health: health.url }, 'receiving webhooks');
    const close = async () => {
      const sent = async () => (await telemetry)?.close();
      await within(CLOSE_MS, Promise.all([receiver.close(), health.close(), sent()]));
    };
    return { url: receiver.url, healthUrl: health.url, failed, close };
  } catch (error) {
    await receiver.close();
    throw error;
  }
}

async function readiness(receiver: Receiver): Promise<Record<string, HealthCheck>> {
  const note = await receiver.trouble();
  return { store: note === undefined ? { ok: true } : { ok: false, note } };
}

/** Opens the inbox, and follows the applied tenants from now on. */
async function openDeliveryStore(
  url: string,
  { dataDir, tenantsDir }: Places,
  log: Logger,
  { known, refusals }: { known: (find: Admission['tenants']) => void; refusals: RefusalNotes },
) {
  const [
    { openStore, storeTrouble },
    { createDeliveryBatches },
    { assertFirstFolder, startWithFolder, watchTenants },
    { createReceiverTenants },
    { keepPresence },
    { addWebhookRefusals },
  ] = await Promise.all([
    import('./store/open-store.ts'),
    import('./store/inbox.ts'),
    import('./tenants/current-tenants.ts'),
    import('./receiver/receiver-tenants.ts'),
    import('./store/processes.ts'),
    import('./store/webhook-refusals.ts'),
  ]);
  await assertFirstFolder(dataDir, tenantsDir, 'check');
  const store = await openStore(url);
  try {
    await startWithFolder(store, tenantsDir);
    const tenants = createReceiverTenants();
    const watch = await watchTenants(store, { log, take: tenants.take });
    known(tenants.find);
    const presence = keepPresence(store, 'receiver', log);
    refusals.writeTo((noted) => addWebhookRefusals(store, noted));
    const close = async () => {
      await Promise.all([watch.close(), presence.close(), refusals.close()]);
      await store.close();
    };
    return {
      installationId: store.installationId,
      store,
      commit: createDeliveryBatches(store),
      trouble: () => storeTrouble(store, presence.unwritten()),
      close,
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
