import { type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Logger } from '../log.ts';
import { taskQueue } from './ids.ts';
import { workflowBundle } from './workflow-bundle.ts';

export interface WorkerSettings {
  connection: NativeConnection;
  namespace: string;
  installationId: string;
  activities: object;
  /** Where the bundle of the workflows is kept. */
  cacheDir: string;
  /** How long a dead worker's cached workflows wait before another takes them, ms. */
  stickyMs: number;
}

/** The Temporal worker of one store: hires and reconciles on one queue. */
export async function createWorker(settings: WorkerSettings): Promise<Worker> {
  const { connection, namespace, installationId, activities } = settings;
  return Worker.create({
    connection,
    namespace,
    taskQueue: taskQueue(installationId),
    workflowBundle: await workflowBundle(settings.cacheDir),
    activities,
    maxConcurrentActivityTaskExecutions: 50,
    maxCachedWorkflows: 500,
    stickyQueueScheduleToStartTimeout: settings.stickyMs,
    // Activities end by themselves: one with an open intent is waited for, never cancelled.
    shutdownGraceTime: '8 seconds',
    shutdownForceTime: '9 seconds',
    identity: `${installationId}@${process.pid}`,
  });
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
