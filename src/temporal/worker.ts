import { type NativeConnection, Runtime, Worker, type WorkerDeploymentOptions } from '@temporalio/worker';
import type { Logger } from '../log.ts';
import type { TemporalTelemetry } from '../telemetry/telemetry.ts';
import { bulkTaskQueue, taskQueue } from './ids.ts';
import { workflowBundle } from './workflow-bundle.ts';

export interface WorkerSettings {
  connection: NativeConnection;
  namespace: string;
  installationId: string;
  /** The activities, for a queue whose worker runs so many of them at once. */
  activitiesFor: (slots: number) => object;
  /** Where the bundle of the workflows is kept. */
  cacheDir: string;
  /** How long a dead worker's cached workflows wait before another takes them, ms. */
  stickyMs: number;
  /** After so much silence an activity is given to another worker, ms. */
  heartbeatMs: number;
  /** When activities under way are cancelled once the worker stops, and when it ends without them, ms. */
  shutdown: { readonly graceMs: number; readonly forceMs: number };
  /** The version of this worker, where versions are rolled out; without it a worker takes any work. */
  buildId: string | undefined;
  /** What makes spans, if anything does. */
  telemetry: TemporalTelemetry | undefined;
}

/** Hires' activities at once in one process. */
const LIVE_SLOTS = 200;
/** Those of reconciles and streams, each of which makes several calls at once. */
const BULK_SLOTS = 16;

/**
 * Of itself the SDK lets a heartbeat leave after four fifths of the timeout, which tolerates a worker that stands still
 * for the last fifth alone: a short timeout would give up activities whose worker is well.
 */
const BEATS_A_TIMEOUT = 4;

/** The Temporal workers of one store: workflows and hires on one queue, what reads much on another. */
export async function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const { connection, namespace, installationId, activitiesFor, telemetry } = settings;
  const common = {
    connection,
    namespace,
    shutdownGraceTime: settings.shutdown.graceMs,
    shutdownForceTime: settings.shutdown.forceMs,
    identity: `${installationId}@${process.pid}`,
    maxHeartbeatThrottleInterval: settings.heartbeatMs / BEATS_A_TIMEOUT,
    ...(settings.buildId !== undefined && {
      workerDeploymentOptions: versioned(installationId, settings.buildId),
    }),
    ...(telemetry && { interceptors: { activity: telemetry.activity }, sinks: telemetry.sinks }),
  } as const;
  const live = Worker.create({
    ...common,
    taskQueue: taskQueue(installationId),
    workflowBundle: await workflowBundle(settings.cacheDir, telemetry === undefined ? 'plain' : 'traced'),
    activities: activitiesFor(LIVE_SLOTS),
    maxConcurrentActivityTaskExecutions: LIVE_SLOTS,
    maxCachedWorkflows: 500,
    stickyQueueScheduleToStartTimeout: settings.stickyMs,
  });
  const bulk = Worker.create({
    ...common,
    taskQueue: bulkTaskQueue(installationId),
    activities: activitiesFor(BULK_SLOTS),
    maxConcurrentActivityTaskExecutions: BULK_SLOTS,
  });
  return Promise.all([live, bulk]);
}

/** A hire goes on for months: it moves to a new version, whose workflows replay what the one before began. */
function versioned(deploymentName: string, buildId: string): WorkerDeploymentOptions {
  return {
    version: { deploymentName, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  };
}

/** Sends Temporal's log lines through ours: one format, one redaction. Once per process, before anything native. */
export function installRuntime(log: Logger): void {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta?: Record<string, unknown>): void =>
      log[level]({ ...meta }, message);
  const logger = {
    log: (level: string, message: string, meta?: Record<string, unknown>) => log.info({ level, ...meta }, message),
    trace: write('debug'),
    debug: write('debug'),
    info: write('debug'),
    warn: write('warn'),
    error: write('error'),
  };
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}
