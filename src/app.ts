import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import type { Worker } from '@temporalio/worker';
import type { Registry } from 'prom-client';
import { type ActivityDeps, createConnections } from '../activities/connections.ts';
import { createActivities } from '../activities/create-activities.ts';
import { hrisPaused } from '../activities/guarded.ts';
import { createStageLookup } from '../activities/reconcile/hiring-stages.ts';
import { rememberReconciles } from '../activities/reconcile/last-reconcile.ts';
import packageFile from '../package.json' with { type: 'json' };
import { type Config, misspeltSettings, type Places, readConfig, storeUrl } from './config.ts';
import { armFailpoints, passFailpoint, withFailpoints } from './failpoint.ts';
import { createRegistry, type HealthCheck, startHealth } from './health.ts';
import { sweepKeyrings } from './hris/sftp/ready-files.ts';
import { age } from './in-words.ts';
import { createLogger, type Logger } from './log.ts';
import { type Answering, answerSync, installationMark } from './operator/ask-worker.ts';
import { followStream } from './operator/follow-stream.ts';
import { assertKnownStream } from './operator/streams.ts';
import type { Observation } from './partner/client/types.ts';
import { keepRateLimits } from './rate-limit/kept-rate-limits.ts';
import { actingAs } from './store/audit.ts';
import { assertMayWrite } from './store/freezes.ts';
import { listenForDeliveries } from './store/inbox.ts';
import { openStore, type Store, storeTrouble, writeFailpoints } from './store/open-store.ts';
import { keepPresence, type Presence } from './store/processes.ts';
import { type Limited, openRateLimit } from './store/rate-limits.ts';
import { noteEvidence } from './store/tenant-states.ts';
import { startTelemetry } from './telemetry/start-telemetry.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { checkSearchAttributes, connectTemporal, type TemporalConnection } from './temporal/connection.ts';
import { forgettingIn } from './temporal/forget-hire.ts';
import { createHireClient, type HireClient, paceStarts, signalHire } from './temporal/hire-client.ts';
import { hireWorkflowId } from './temporal/ids.ts';
import { askLastReconcile, hintStream, triggerReconcile } from './temporal/schedules.ts';
import { createWorkers, installRuntime } from './temporal/worker.ts';
import { assertFirstFolder, currentTenants, startWithFolder, watchTenants } from './tenants/current-tenants.ts';
import { createKnownTenants, type KnownTenants } from './tenants/known-tenants.ts';
import { tracedForHire } from './trace.ts';
import { openKeys } from './vault/keys.ts';
import { within } from './within.ts';
import { startChores } from './worker/chores.ts';
import { followNews } from './worker/follow-news.ts';
import { keepSchedules, type ScheduleKeeper } from './worker/keep-schedules.ts';
import { createMetrics, type Metrics } from './worker/metrics.ts';
import { type RunningRelay, startRelay } from './worker/relay.ts';

interface RunningWorker {
  healthUrl: string;
  installationId: string;
  /** Rejects if the worker ends by itself. */
  failed: Promise<never>;
  /** Waits for running work, then closes everything, in less than five seconds. */
  close(): Promise<void>;
}

interface RunWorkerOptions extends Places {
  healthPort?: number;
}

/** The worker as a process: relay, hires, reconciles. Checks everything it needs before anything starts. */
export function runWorker(options: RunWorkerOptions): Promise<RunningWorker> {
  return actingAs('part:worker', () => openWorker(options));
}

async function openWorker(options: RunWorkerOptions): Promise<RunningWorker> {
  const config = readConfig();
  const log = createLogger('worker');
  for (const misspelt of misspeltSettings()) log.warn(misspelt);
  armFailpoints({
    killAt: config.HIREBRIDGE_FAILPOINT_KILL,
    stopAt: config.HIREBRIDGE_FAILPOINT_STOP,
    listFile: config.HIREBRIDGE_FAILPOINT_LIST,
  });
  await sweepKeyrings();
  await assertFirstFolder(options.dataDir, options.tenantsDir, 'check');
  installRuntime(log);
  const registry = createRegistry('worker');
  // Before the store opens: the store makes spans only if telemetry is running by then.
  const telemetry = await startTelemetry('worker', registry);
  const temporal = await connectTemporal();
  const url = storeUrl(options.dataDir, config);
  const plugins = [writeFailpoints(passFailpoint)];
  const store = await openStore(url, { plugins, keys: { ref: config.HIREBRIDGE_KEYS } });
  // Its own connection, so that permits wait neither for transactions nor for the disk. A crash may lose evidence.
  const rateLimits = await openStore(url, { relaxed: true, poolSize: 2, plugins });
  try {
    await checkSearchAttributes(temporal.connection, temporal.namespace);
    await startWithFolder(store, options.tenantsDir);
    const tenants = createKnownTenants();
    const metrics = createMetrics(store, registry, { byTenant: config.HIREBRIDGE_METRICS_BY_TENANT });
    const parts = { options, config, log, registry, metrics, telemetry, tenants, temporal, store, rateLimits };
    return await startWorker(parts);
  } catch (error) {
    await Promise.allSettled([store.close(), rateLimits.close(), temporal.close()]);
    throw error;
  }
}

interface WorkerParts {
  options: RunWorkerOptions;
  config: Config;
  log: Logger;
  registry: Registry;
  metrics: Metrics;
  telemetry: Telemetry | undefined;
  tenants: KnownTenants;
  temporal: TemporalConnection;
  store: Store;
  /** The same store, for rate limits and evidence. */
  rateLimits: Store;
}

async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { options, config, log, registry, telemetry, tenants, temporal, store } = parts;
  const { installationId } = store;
  let following: FollowedTenants | undefined;
  let wasAway = false;
  const presence = keepPresence(parts.rateLimits, 'worker', log, async () => {
    const { note = null } = await temporalCheck(temporal);
    // Temporal may have come back with an empty database.
    if (wasAway && note === null) following?.compareSchedules();
    wasAway = note !== null;
    return note;
  });
  const hires = createHireClient(temporal, installationId, config, telemetry?.temporal);
  const deps = wireActivities(parts, hires, presence);
  const workers = await createWorkers({
    connection: await temporal.nativeConnection(),
    namespace: temporal.namespace,
    installationId,
    activitiesFor: (slots) => createActivities(deps, slots, tenants.areSeveral),
    cacheDir: config.HIREBRIDGE_BUNDLE_DIR ?? join(options.dataDir, 'cache'),
    stickyMs: config.HIREBRIDGE_STICKY_MS,
    heartbeatMs: config.HIREBRIDGE_HEARTBEAT_MS,
    shutdown: SHUTDOWN,
    buildId: config.HIREBRIDGE_BUILD_ID,
    keys: openKeys(config.HIREBRIDGE_KEYS),
    timing: parts.metrics,
    telemetry: telemetry?.temporal,
  });
  following = await followTenants(parts, deps, hires);
  const run = Promise.all(workers.map((worker) => worker.run()));
  const relay = wireRelay(parts, deps, hires);
  deps.hintStream = relay.hint;
  const chores = startChores(deps, tenants.all, config.HIREBRIDGE_PAUSED_MS);
  const news = followNews({ ...deps, tenants, hint: relay.hint });
  const health = await startHealth({
    host: config.HIREBRIDGE_HEALTH_HOST,
    port: options.healthPort ?? config.HIREBRIDGE_WORKER_HEALTH_PORT,
    registry,
    ready: () => readiness(workers, parts, relay, presence),
  });
  const answering = await wireAnswers(parts, hires);
  const build = config.HIREBRIDGE_BUILD_ID;
  log.info({ installationId, build, tenants: tenants.all().length, health: health.url }, 'working');
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
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await endWorker({
        work: () => [
          following?.close(),
          answering.close(),
          relay.close(),
          news.close(),
          chores.close(),
          presence.close(),
          run,
        ],
        connections: () => [health.close(), deps.connections.close(), Promise.resolve(telemetry?.close())],
        stores: () => [store.close(), parts.rateLimits.close(), temporal.close()],
      });
    },
  };
}

/** Checks the worker's two duties: relaying deliveries and running hires. */
async function readiness(
  workers: readonly Worker[],
  { store, temporal }: WorkerParts,
  relay: RunningRelay,
  presence: Presence,
): Promise<Record<string, HealthCheck>> {
  const states = workers.map((worker) => worker.getState());
  const [trouble, server] = await Promise.all([storeTrouble(store, presence.unwritten()), temporalCheck(temporal)]);
  const lookedMs = relay.lookedMs();
  return {
    store: trouble === undefined ? { ok: true } : { ok: false, note: trouble },
    temporal: states.every((state) => state === 'RUNNING') ? server : { ok: false, note: states.join(', ') },
    relay: { ok: lookedMs < STALE_LOOK_MS, note: `looked at the inbox ${age(lookedMs)} ago` },
  };
}

/** A relay whose last look is older than this is stuck. */
const STALE_LOOK_MS = 15_000;

async function temporalCheck(temporal: TemporalConnection): Promise<HealthCheck> {
  const note = await temporal.trouble();
  return note === undefined ? { ok: true } : { ok: false, note };
}

interface FollowedTenants {
  compareSchedules(): void;
  close(): Promise<void>;
}

/** Follows applied, paused and removed tenants in this process and on the server. */
async function followTenants(parts: WorkerParts, deps: ActivityDeps, hires: HireClient): Promise<FollowedTenants> {
  const { store, tenants, log } = parts;
  let keeper: ScheduleKeeper | undefined;
  const watch = await watchTenants(store, {
    log,
    async take(changed) {
      await tenants.take(changed);
      for (const { tenantId } of changed) await deps.connections.reopen(tenantId);
      keeper?.changed();
    },
  });
  const schedules = await keepSchedules({ hires, store, tenants, refresh: watch.look, log });
  keeper = schedules;
  return {
    compareSchedules: schedules.changed,
    close: async () => void (await Promise.all([watch.close(), schedules.close()])),
  };
}

function wireRelay(
  { options, config, tenants }: WorkerParts,
  { store, log, signalHire: signal, connections }: ActivityDeps,
  hires: HireClient,
): RunningRelay {
  const news = listenForDeliveries(storeUrl(options.dataDir, config), () => relay.look());
  const relay: RunningRelay = startRelay({
    store,
    log,
    signalHire: signal,
    triggerReconcile: (tenantId) =>
      withFailpoints('temporal.triggerReconcile', () => triggerReconcile(hires, tenantId)),
    hintStream: (stream) => withFailpoints('temporal.hintStream', () => hintStream(hires, stream)),
    runsByItself: (tenantId, stream) =>
      tenants.all().some((one) => one.tenant === tenantId && one.streams[stream].every !== undefined),
    isReadable: (tenantId) => !tenants.unreadable().includes(tenantId),
    isHiringStage: createStageLookup(connections),
    isShared: tenants.areSeveral,
    isTold: news.isHearing,
  });
  return { ...relay, close: async () => void (await Promise.all([news.close(), relay.close()])) };
}

/** Answers `hirebridge sync` commands on this machine. */
function wireAnswers({ options, config, log, store, temporal }: WorkerParts, hires: HireClient): Promise<Answering> {
  const { dataDir, tenantsDir } = options;
  return answerSync({
    dataDir,
    log,
    version: packageFile.version,
    mark: installationMark(storeUrl(dataDir, config), tenantsDir),
    async follow(request, onLook, signal) {
      assertKnownStream(request.stream);
      const tenants = await currentTenants(store, tenantsDir);
      const following = followStream({ store, hires, tenants }, request, onLook, signal);
      return following.catch((error: unknown) => Promise.reject(temporal.explain(error) as Error));
    },
  });
}

function wireActivities(
  { options, config, log, metrics, tenants, store, rateLimits }: WorkerParts,
  hires: HireClient,
  presence: Presence,
): ActivityDeps {
  const pausedHris = new Set<string>();
  return {
    store,
    log,
    connections: createConnections(tenants.get, {
      requestMs: config.HIREBRIDGE_REQUEST_MS,
      rateLimitOf: keepRateLimits((limited: Limited) => openRateLimit(rateLimits, limited, log)),
      log,
      onCall: metrics.called,
      onAnswered: presence.answered,
      onObserved: createEvidenceKeeper(rateLimits, log),
      beforeWrite: (tenantId) => assertMayWrite(store, tenantId),
      assertOwnHris: tenants.assertOwnHris,
      assertHrisWorks(tenantId) {
        if (pausedHris.has(tenantId)) throw hrisPaused(tenantId, config.HIREBRIDGE_PAUSED_MS);
      },
    }),
    signalHire: paceStarts((hire, about, options) =>
      tracedForHire('signal hire', { installationId: store.installationId, ...hire }, {}, () =>
        withFailpoints('temporal.signalHire', () => signalHire(hires, hire, about, options)),
      ),
    ),
    followedHires: (tenantId) => followedHires(hires, tenantId),
    lastReconcile: rememberReconciles((tenantId) => askLastReconcile(hires, tenantId)),
    hired: metrics.hired,
    forgetting: forgettingIn(hires),
    dataDir: options.dataDir,
    pausedHris,
    limits: {
      giveUpMs: config.HIREBRIDGE_GIVE_UP_MS,
      partnerLagMs: config.HIREBRIDGE_PARTNER_LAG_MS,
      pausedMs: config.HIREBRIDGE_PAUSED_MS,
    },
  };
}

/**
 * The job candidates of a tenant whose hire has a running workflow, by Temporal's visibility, which may miss one that
 * has just begun. One call per thousand.
 */
async function followedHires({ client, installationId }: HireClient, tenantId: string): Promise<Set<string>> {
  const prefix = hireWorkflowId(installationId, tenantId, '');
  const query = `TenantId = '${tenantId}' AND Flow = 'hire' AND ExecutionStatus = 'Running'`;
  const followed = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1_000 }))
    if (workflowId.startsWith(prefix)) followed.add(workflowId.slice(prefix.length));
  return followed;
}

/** Starts the closing of some parts, when their turn comes. */
type Ends = () => readonly Promise<unknown>[];

/** The parts that a worker closes, in this order. */
export interface WorkerEnds {
  /** Relay, chores and activities. */
  work: Ends;
  /** What the work used. */
  connections: Ends;
  /** What all of these used. */
  stores: Ends;
}

/**
 * When running activities are cancelled, which ends their reads, and when waiting for a sent write stops, ms. That
 * write's outcome is looked up later, as after a killed process.
 */
export const SHUTDOWN = { graceMs: 2_000, forceMs: 3_000 } as const;
const WORK_MS = SHUTDOWN.forceMs + 300;
const REST_MS = 500;

/** Closes a worker in less than five seconds, whatever hangs. A part that fails to close blocks no other. */
export async function endWorker({ work, connections, stores }: WorkerEnds): Promise<void> {
  await within(WORK_MS, Promise.allSettled(work()));
  await within(REST_MS, Promise.allSettled(connections()));
  await within(REST_MS, Promise.allSettled(stores()));
}

/**
 * Stores what answers show about the assumptions, for `doctor`. A process writes each tenant's first confirmation and
 * first contradiction of an assumption and nothing after that, so a busy tenant costs no writes.
 */
function createEvidenceKeeper(
  store: Store,
  log: Logger,
): (tenantId: string, observations: readonly Observation[]) => void {
  const written = new Set<string>();
  // Runs outside the activity whose call showed it, because the time of this write is arbitrary.
  const outside = AsyncLocalStorage.snapshot();
  return (tenantId, observations) => {
    for (const { assumption, holds } of observations) {
      const verdict = holds ? 'confirmed' : 'contradicted';
      const key = `${tenantId} ${assumption} ${verdict}`;
      if (written.has(key)) continue;
      written.add(key);
      if (!holds) log.warn({ tenantId, assumption }, 'assumption contradicted, see hirebridge doctor');
      outside(() => noteEvidence(store, { tenantId, assumption, verdict })).catch(() => written.delete(key));
    }
  };
}
