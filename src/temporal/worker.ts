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
import { payloadCodec } from './hire-client.ts';
import { bulkTaskQueue, taskQueue } from './ids.ts';

interface WorkerSettings {
  connection: NativeConnection;
  namespace: string;
  installationId: string;
  /** The activities for a queue whose worker runs this many at once. */
  activitiesFor: (slots: number) => object;
  /** The folder for the bundle of the workflows. */
  cacheDir: string;
  /** How long a dead worker's cached workflows wait before another worker takes them, ms. */
  stickyMs: number;
  /** After this silence an activity is given to another worker, ms. */
  heartbeatMs: number;
  /** When running activities are cancelled after the worker stops, and when it ends without them, ms. */
  shutdown: { readonly graceMs: number; readonly forceMs: number };
  /** The version of this worker in a versioned rollout; a worker without one takes any work. */
  buildId: string | undefined;
  /** The keys that encrypt payloads, if there are any. */
  keys: MasterKeys | undefined;
  /** Called for each activity with its wait for a worker, by this machine's clock, and its duration. */
  timing: {
    started(queue: 'live' | 'bulk', waitedMs: number): void;
    ended(activity: string, ms: number): void;
  };
  /** Makes spans, if telemetry is on. */
  telemetry: TemporalTelemetry | undefined;
}

/** Activities of hires that one process runs at once. */
const LIVE_SLOTS = 200;
/** The same for reconciles and streams, whose activities each make several calls at once. */
const BULK_SLOTS = 16;

/**
 * By default the SDK sends a heartbeat after four fifths of the timeout, which tolerates only a pause of the last
 * fifth: with a short timeout, activities of a healthy worker would be given up.
 */
const BEATS_A_TIMEOUT = 4;

/** Lets a workflow that was started with a trace continue in a worker without telemetry. */
const NO_SPANS: TemporalTelemetry['sinks'] = { spans: { ended: { fn: () => undefined } } };

/** The Temporal workers of one store: one queue for workflows and hires, another for bulk reads. */
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
  // Inside the span, if there is one, because the exemplar names it.
  return [...(telemetry?.activity ?? []), timed];
}

/** A hire lasts for months, so it moves to a new version, whose workflows replay the earlier version's history. */
function versioned(deploymentName: string, buildId: string): WorkerDeploymentOptions {
  return {
    version: { deploymentName, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  };
}

/** Sends Temporal's log lines through our logger: one format, one redaction. Call it once, before native code. */
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

/** A package contains its workflows as a bundle in this file, at the root of its build. */
export const PACKED_BUNDLE = 'workflow-bundle.js';

const workflowsDir = fileURLToPath(new URL('../../workflows/', import.meta.url));
const entry = join(workflowsDir, 'index.ts');
/** Makes the spans of a workflow. */
const tracer = fileURLToPath(new URL('../telemetry/workflow-interceptors.ts', import.meta.url));
/** The path of an import or export, unless it is for types only. */
const IMPORTED = /^(?:import|export)\s(?!type\b)[^;]*?['"](\.{1,2}\/[^'"]+)['"]/gm;

/**
 * The workflows as one file: the package's or, in a clone, one built for each content and SDK version. Bundling takes
 * about two seconds, which every worker start would cost. `cacheDir` belongs to the installation.
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
    // Another worker may do the same; a rename never exposes half a file.
    const temporary = `${codePath}.${process.pid}`;
    writeFileSync(temporary, code);
    renameSync(temporary, codePath);
  }
  return { codePath };
}

/** Bundles the workflows of a clone into one script. */
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

/** The bundle's sources by path: workflows and what they import from other rooms, without types. */
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
