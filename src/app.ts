import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { Counter, Gauge, Histogram } from 'prom-client';
import { createConnections } from '../activities/connections.ts';
import { createActivities } from '../activities/create-activities.ts';
import type { ActivityDeps } from '../activities/deps.ts';
import { createStageLookup } from '../activities/reconcile/hiring-stages.ts';
import type { HireTiming } from '../workflows/messages.ts';
import type { Places } from './cli/options.ts';
import { type Config, readConfig, storeUrl } from './config.ts';
import { armFailpoints, inActivity, passFailpoint, withFailpoints } from './failpoint.ts';
import { createRegistry, startHealth } from './health.ts';
import { createLogger, type Logger } from './log.ts';
import type { SharedRateLimitState } from './rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from './rate-limit/shared-rate-limit.ts';
import { openStore, type Store } from './store/open-store.ts';
import { changeRateLimit } from './store/rate-limits.ts';
import { writeFailpoints } from './store/write-failpoints.ts';
import { streamNames } from './streams/streams.ts';
import { checkSearchAttributes } from './temporal/check-search-attributes.ts';
import { connectTemporal, type TemporalConnection } from './temporal/connection.ts';
import { ensureReconcileSchedule, ensureStreamSchedule, triggerReconcile } from './temporal/schedules.ts';
import { type HireClient, signalHire } from './temporal/signal-hire.ts';
import { createWorker, installRuntime } from './temporal/worker.ts';
import { loadTenants } from './tenants/load-tenants.ts';
import type { Tenant } from './tenants/schema.ts';
import { checkHris } from './worker/check-hris.ts';
import { notifyHolds } from './worker/notify-holds.ts';
import { startRelay } from './worker/relay.ts';
import { resumePaused } from './worker/resume-paused.ts';

export interface RunningWorker {
  healthUrl: string;
  installationId: string;
  /** Rejects when the worker ends by itself. */
  failed: Promise<never>;
  /** Lets running work end, then closes everything. */
  close(): Promise<void>;
}

/** The worker as a process: relay, hires, reconciles. Everything it needs is checked before anything starts. */
export async function runWorker(options: Places & { healthPort?: number }): Promise<RunningWorker> {
  const config = readConfig();
  const log = createLogger('worker');
  armFailpoints({
    killAt: config.HIREBRIDGE_FAILPOINT_KILL,
    stopAt: config.HIREBRIDGE_FAILPOINT_STOP,
    listFile: config.HIREBRIDGE_FAILPOINT_LIST,
  });
  const tenants = await loadTenants(options.tenantsDir);
  installRuntime(log);
  const temporal = await connectTemporal();
  const store = await openStore(storeUrl(options.dataDir, config), { plugins: [writeFailpoints(passFailpoint)] });
  // A connection of its own: no turn waits for a transaction, and none for the disk.
  const rateLimits = await openStore(storeUrl(options.dataDir, config), {
    relaxed: true,
    poolSize: 2,
    plugins: [writeFailpoints(passFailpoint)],
  });
  try {
    await checkSearchAttributes(temporal.connection, temporal.namespace);
    return await startWorker({ options, config, log, tenants, temporal, store, rateLimits });
  } catch (error) {
    await Promise.allSettled([store.close(), rateLimits.close(), temporal.close()]);
    throw error;
  }
}

interface WorkerParts {
  options: Places & { healthPort?: number };
  config: Config;
  log: Logger;
  tenants: Tenant[];
  temporal: TemporalConnection;
  store: Store;
  /** The same store, for the rate limits alone. */
  rateLimits: Store;
}

async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { options, config, log, tenants, temporal, store, rateLimits } = parts;
  const { installationId } = store;
  const registry = createRegistry('worker');
  const hires = hireClient(temporal, installationId, config);
  const deps = wireActivities(parts, hires, registry);
  const worker = await createWorker({
    connection: await temporal.nativeConnection(),
    namespace: temporal.namespace,
    installationId,
    activities: createActivities(deps),
    cacheDir: config.HIREBRIDGE_BUNDLE_DIR ?? join(options.dataDir, 'cache'),
    stickyMs: config.HIREBRIDGE_STICKY_MS,
  });
  for (const tenant of tenants) await ensureSchedules(hires, tenant);
  const run = worker.run();
  const relay = startRelay({
    store,
    log,
    signalHire: deps.signalHire,
    triggerReconcile: (tenantId) =>
      withFailpoints('temporal.triggerReconcile', () => triggerReconcile(hires.client, installationId, tenantId)),
    isHiringStage: createStageLookup(deps.connections),
  });
  const chores = startChores(deps, tenants, config.HIREBRIDGE_PAUSED_MS);
  const health = await startHealth({
    port: options.healthPort ?? config.HIREBRIDGE_WORKER_HEALTH_PORT,
    registry,
    ready: () => ({ temporal: { ok: worker.getState() === 'RUNNING', note: worker.getState() } }),
  });
  log.info({ installationId, tenants: tenants.length, health: health.url }, 'working');
  let closing = false;
  const failed = run.then(() =>
    closing ? new Promise<never>(() => undefined) : Promise.reject(new Error('The Temporal worker ended by itself')),
  );
  failed.catch(() => undefined);
  return {
    healthUrl: health.url,
    installationId,
    failed,
    async close() {
      closing = true;
      await relay.close();
      await chores.close();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await run.catch(() => undefined);
      await Promise.allSettled([health.close(), deps.connections.close()]);
      await Promise.allSettled([store.close(), rateLimits.close(), temporal.close()]);
    },
  };
}

async function ensureSchedules({ client, installationId, timing }: HireClient, tenant: Tenant): Promise<void> {
  const tenantId = tenant.tenant;
  await ensureReconcileSchedule(client, installationId, { tenantId, everyMs: tenant.policies.reconcile.every, timing });
  for (const stream of streamNames)
    await ensureStreamSchedule(client, installationId, {
      tenantId,
      stream,
      everyMs: tenant.streams[stream].every,
      timing,
    });
}

/** How hires are reached, by workers and by single commands alike. */
export function hireClient(temporal: TemporalConnection, installationId: string, config: Config): HireClient {
  // By default the identity is the machine's name, and histories keep it.
  const client = new Client({
    connection: temporal.connection,
    namespace: temporal.namespace,
    identity: `${installationId}@${process.pid}`,
  });
  return { client, installationId, timing: timingOf(config) };
}

function timingOf(config: Config): HireTiming {
  return {
    heartbeatMs: config.HIREBRIDGE_HEARTBEAT_MS,
    attemptMs: config.HIREBRIDGE_GIVE_UP_MS * 2 + 60_000,
    retryMs: config.HIREBRIDGE_RETRY_MS,
  };
}

function wireActivities(
  { config, log, tenants, store, rateLimits }: WorkerParts,
  hires: HireClient,
  registry: ReturnType<typeof createRegistry>,
): ActivityDeps {
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
  gaugeHires(store, registry);
  const connections = createConnections(tenants, {
    requestMs: config.HIREBRIDGE_REQUEST_MS,
    rateLimitOf: (tenantId) => openRateLimit(rateLimits, tenantId, log),
    onCall(tenant, { operation, status, code, ms }) {
      calls.inc({ tenant, operation, status: status ?? 0, code: code ?? '' });
      seconds.observe({ operation }, ms / 1000);
    },
  });
  return {
    store,
    connections,
    log,
    signalHire: (hire, about, options) =>
      withFailpoints('temporal.signalHire', () => signalHire(hires, hire, about, options)),
    closedGates: new Set(),
    limits: {
      giveUpMs: config.HIREBRIDGE_GIVE_UP_MS,
      partnerLagMs: config.HIREBRIDGE_PARTNER_LAG_MS,
      pausedMs: config.HIREBRIDGE_PAUSED_MS,
    },
  };
}

/** One rate limit for a tenant's partner, shared by every worker of this store. */
function openRateLimit(store: Store, tenantId: string, log: Logger): SharedRateLimit {
  return createSharedRateLimit(
    (change) =>
      // Whichever activity happens to ask, the turns are for all of them.
      inActivity('rateLimit', () =>
        changeRateLimit(store, { tenantId, upstream: 'partner' }, (saved, now) =>
          change((saved ?? {}) as Partial<SharedRateLimitState>, now),
        ),
      ),
    Math.random,
    (error) => log.error({ tenantId, err: error }, 'the shared rate limit is not to be had, calls to the partner wait'),
  );
}

/** Hires by state, counted when somebody looks. */
function gaugeHires(store: Store, registry: ReturnType<typeof createRegistry>): void {
  const hires = new Gauge({
    name: 'hirebridge_hires',
    help: 'Hires by tenant and state',
    labelNames: ['tenant', 'state'],
    registers: [registry],
    async collect() {
      const rows = await store.kysely
        .selectFrom('hires')
        .select((eb) => ['tenant_id', 'state', eb.fn.countAll<number>().as('count')])
        .groupBy(['tenant_id', 'state'])
        .execute();
      this.reset();
      for (const row of rows) hires.set({ tenant: row.tenant_id, state: row.state }, Number(row.count));
    },
  });
}

/** What happens beside the work: paused tenants are tried again, new holds are told of. */
function startChores(deps: ActivityDeps, tenants: readonly Tenant[], everyMs: number): { close(): Promise<void> } {
  const addresses = new Map(tenants.map((tenant) => [tenant.tenant, tenant.notify]));
  let running: Promise<unknown> = Promise.resolve();
  const chores = async (): Promise<void> => {
    await notifyHolds(deps.store, (tenantId) => addresses.get(tenantId), deps.log);
    for (const tenant of tenants) {
      await resumePaused(deps, tenant.tenant);
      await checkHris(deps, tenant.tenant);
    }
  };
  const turn = (): void => {
    running = running.then(chores).catch((error: unknown) => deps.log.error({ err: error }, 'chores failed'));
  };
  turn();
  const timer = setInterval(turn, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
