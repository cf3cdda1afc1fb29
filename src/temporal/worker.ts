import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '@temporalio/activity';
import {
  type ActivityInboundCallsInterceptor,
  bundleWorkflowCode,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerDeploymentOptions,
  type WorkerInterceptors,
} from '@temporalio/worker';
import type { Logger } from '../log.ts';
import type { TemporalTelemetry } from '../telemetry/telemetry.ts';
import type { MasterKeys } from '../vault/keys.ts';
import { bulkTaskQueue, taskQueue } from './ids.ts';
import { payloadCodec } from './payload-codec.ts';

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
  /** What encrypts payloads, if anything does. */
  keys: MasterKeys | undefined;
  /** Told of each activity how long it waited for a worker, by this machine's clock, and how long it took. */
  timing: {
    started(queue: 'live' | 'bulk', waitedMs: number): void;
    ended(activity: string, ms: number): void;
  };
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

/** A workflow that was started with a trace goes on in a worker that makes none. */
const NO_SPANS: TemporalTelemetry['sinks'] = { spans: { ended: { fn: () => undefined } } };

/** The Temporal workers of one store: workflows and hires on one queue, what reads much on another. */
export async function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const { connection, namespace, installationId, activitiesFor, telemetry } = settings;
  const dataConverter = { payloadCodecs: [payloadCodec(settings.keys)] };
  const common = {
    connection,
    namespace,
    dataConverter,
    shutdownGraceTime: settings.shutdown.graceMs,
    shutdownForceTime: settings.shutdown.forceMs,
    identity: `${installationId}@${process.pid}`,
    maxHeartbeatThrottleInterval: settings.heartbeatMs / BEATS_A_TIMEOUT,
    ...(settings.buildId !== undefined && {
      workerDeploymentOptions: versioned(installationId, settings.buildId),
    }),
    sinks: telemetry?.sinks ?? NO_SPANS,
  } as const;
  const live = Worker.create({
    ...common,
    taskQueue: taskQueue(installationId),
    workflowBundle: await workflowBundle(settings.cacheDir),
    activities: activitiesFor(LIVE_SLOTS),
    interceptors: { activity: interceptorsOf('live', settings) },
    maxConcurrentActivityTaskExecutions: LIVE_SLOTS,
    maxCachedWorkflows: 500,
    stickyQueueScheduleToStartTimeout: settings.stickyMs,
  });
  const bulk = Worker.create({
    ...common,
    taskQueue: bulkTaskQueue(installationId),
    activities: activitiesFor(BULK_SLOTS),
    interceptors: { activity: interceptorsOf('bulk', settings) },
    maxConcurrentActivityTaskExecutions: BULK_SLOTS,
  });
  return Promise.all([live, bulk]);
}

function interceptorsOf(
  queue: 'live' | 'bulk',
  { timing, telemetry }: WorkerSettings,
): NonNullable<WorkerInterceptors['activity']> {
  const timed = ({ info }: Context) => ({
    inbound: {
      execute: (async (input, next) => {
        timing.started(queue, Date.now() - info.currentAttemptScheduledTimestampMs);
        const startedAt = performance.now();
        try {
          return await next(input);
        } finally {
          timing.ended(info.activityType, performance.now() - startedAt);
        }
      }) satisfies ActivityInboundCallsInterceptor['execute'],
    },
  });
  // Within the span, where there is one: an exemplar names it.
  return [...(telemetry?.activity ?? []), timed];
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

/** A package brings its workflows bundled, in this file at the root of its build. */
export const PACKED_BUNDLE = 'workflow-bundle.js';

const workflowsDir = fileURLToPath(new URL('../../workflows/', import.meta.url));
const entry = join(workflowsDir, 'index.ts');
/** What makes the spans of a workflow. */
const tracer = fileURLToPath(new URL('../telemetry/workflow-interceptors.ts', import.meta.url));
/** The place that an import or export names, unless it is of types alone. */
const IMPORTED = /^(?:import|export)\s(?!type\b)[^;]*?['"](\.{1,2}\/[^'"]+)['"]/gm;

/**
 * The workflows as one file: the package's, or in a clone one made once per content and SDK version. Bundling takes
 * about two seconds, which every start of a worker would pay. `cacheDir` is the installation's own.
 */
async function workflowBundle(cacheDir: string): Promise<{ codePath: string }> {
  const packed = fileURLToPath(new URL(`../../${PACKED_BUNDLE}`, import.meta.url));
  if (existsSync(packed)) return { codePath: packed };
  const codePath = join(cacheDir, `workflows-${contentHash()}.js`);
  try {
    readFileSync(codePath);
  } catch {
    const code = await bundleWorkflows();
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    // Another worker may do the same; a rename never shows half a file.
    const temporary = `${codePath}.${process.pid}`;
    writeFileSync(temporary, code);
    renameSync(temporary, codePath);
  }
  return { codePath };
}

/** The workflows of a clone as one script. */
export async function bundleWorkflows(): Promise<string> {
  const options = { workflowsPath: entry, workflowInterceptorModules: [tracer], logger: silent };
  const { code } = await bundleWorkflowCode(options);
  return code;
}

function contentHash(): string {
  const hash = createHash('sha256');
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  hash.update(version);
  for (const [file, text] of bundledFiles()) hash.update(relative(workflowsDir, file)).update(text);
  return hash.digest('hex').slice(0, 16);
}

/** What the bundle is made of, by path: workflows and what they import from other rooms, types left out. */
export function bundledFiles(): Map<string, string> {
  const texts = new Map<string, string>();
  const waiting = [entry, tracer];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (texts.has(file)) continue;
    const text = readFileSync(file, 'utf8');
    texts.set(file, text);
    for (const [, path = ''] of text.matchAll(IMPORTED)) waiting.push(resolve(dirname(file), path));
  }
  return new Map([...texts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const nothing = (): void => undefined;
const silent = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
