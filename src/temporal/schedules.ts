import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type Client,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleSpec,
  type ScheduleSpecDescription,
  type ScheduleSummary,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
  WorkflowIdConflictPolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import pLimit from 'p-limit';
import { streamHintSignal } from '../../workflows/messages.ts';
import type { ReconcileInput } from '../../workflows/reconcile-tenant.ts';
import { ConnectorError } from '../errors.ts';
import type { HireTiming } from '../hire/hire.ts';
import type { Reconciled } from '../hire/hire-activities.ts';
import type { StreamMode } from '../store/stream-tables.ts';
import type { StreamStep } from '../streams/stream-activities.ts';
import { isLookup, type StreamName, streamNames, workflowOf } from '../streams/streams.ts';
import type { Tenant } from '../tenants/schema.ts';
import type { HireClient } from './hire-client.ts';
import { attributes, reconcileScheduleId, streamScheduleId, taskQueue } from './ids.ts';

/** The input of every stream workflow of any kind. */
export interface StreamStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  /** `incremental` if absent. */
  mode?: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** Only with `mode: one`. */
  recordId?: string;
  /** The run was started by a hint, and more hints may follow. */
  hinted?: boolean;
  /** Like `mode: full`, for workflows of streams that have no other mode. */
  full?: boolean;
}

type SyncWorkflow = (input: StreamStart) => Promise<StreamStep>;

/** A run that was started; it may be over. */
export interface SyncRun {
  workflowId: string;
  runId: string;
}

const CATCH_UP_MS = 60_000;
const MOST_JITTER_MS = 30_000;
/** Schedules described or written at the same time. */
const AT_ONCE = 8;

/** A tenant whose schedules the server should have; those of a paused tenant are paused there. */
interface ScheduledTenant extends Pick<Tenant, 'tenant' | 'mode' | 'policies' | 'streams'> {
  paused: boolean;
}

interface Timed {
  scheduleId: string;
  workflow: string;
  flow: string;
  everyMs: number;
  paused: boolean;
  input: ReconcileInput | StreamStart;
}

/**
 * Every schedule that a tenant should have: its reconcile, and each stream with a period. A tenant in observe mode has
 * only lookup tables among its streams.
 */
function schedulesOf({ installationId, timing }: HireClient, scheduled: ScheduledTenant): Timed[] {
  const { tenant: tenantId, mode, policies, streams, paused } = scheduled;
  const reconcile: Timed = {
    scheduleId: reconcileScheduleId(installationId, tenantId),
    workflow: 'reconcileTenant',
    flow: 'reconcile',
    everyMs: policies.reconcile.every,
    paused,
    // A worker that dies in a reconcile delays it no longer than it would delay a hire.
    input: { tenantId, timing },
  };
  const timed = streamNames.flatMap((stream): Timed[] => {
    const { every: everyMs } = streams[stream];
    if (everyMs === undefined || (mode === 'observe' && !isLookup(stream))) return [];
    const scheduleId = streamScheduleId(installationId, tenantId, stream);
    return [
      { scheduleId, workflow: workflowOf(stream), flow: stream, everyMs, paused, input: { tenantId, stream, timing } },
    ];
  });
  return [reconcile, ...timed];
}

/** This installation's schedules on the server, by id: one call for a thousand. */
export async function listSchedules({ client, installationId }: HireClient): Promise<Map<string, ScheduleSummary>> {
  const listed = new Map<string, ScheduleSummary>();
  for await (const schedule of client.schedule.list({ pageSize: 1_000 }))
    if (schedule.scheduleId.startsWith(`${installationId}/`)) listed.set(schedule.scheduleId, schedule);
  return listed;
}

/**
 * Makes the server's schedules equal to those of these tenants, undoing edits by hand. `listed` must be read before the
 * tenants, because schedules that belong to none of them are deleted. Compares only what a list shows; with `deep`,
 * everything. If a tenant's reconcile has no schedule, awaits `beforeMade`. Returns how many were corrected.
 */
export async function alignSchedules(
  hires: HireClient,
  listed: ReadonlyMap<string, ScheduleSummary>,
  tenants: readonly ScheduledTenant[],
  { deep, beforeMade }: { deep: boolean; beforeMade: (tenantId: string) => Promise<void> },
): Promise<number> {
  const wanted = new Map(tenants.flatMap((tenant) => schedulesOf(hires, tenant)).map((one) => [one.scheduleId, one]));
  const wrong = [...wanted.values()].filter((timed) => deep || !looksRight(listed.get(timed.scheduleId), timed));
  const unknown = [...listed.keys()].filter((id) => !wanted.has(id));
  const limit = pLimit(AT_ONCE);
  const righted = await Promise.all([
    ...wrong.map((timed) => limit(() => ensureSchedule(hires, timed, beforeMade))),
    ...unknown.map((id) => limit(() => removeSchedule(hires.client, id))),
  ]);
  return righted.filter(Boolean).length;
}

function looksRight(listed: ScheduleSummary | undefined, timed: Timed): boolean {
  return listed?.state.paused === timed.paused && isDeepStrictEqual(timesOf(listed.spec), timesOf(specOf(timed)));
}

/** Requests a reconcile soon; if one is running, one more follows it, never several. */
export async function triggerReconcile({ client, installationId }: HireClient, tenantId: string): Promise<void> {
  await client.schedule
    .getHandle(reconcileScheduleId(installationId, tenantId))
    .trigger(ScheduleOverlapPolicy.BUFFER_ONE);
}

/** The definition is authoritative: a schedule that differs is overwritten. True if it differed. */
async function ensureSchedule(
  { client, installationId }: HireClient,
  timed: Timed,
  beforeMade: (tenantId: string) => Promise<void>,
): Promise<boolean> {
  const options = optionsOf(installationId, timed);
  const handle = client.schedule.getHandle(timed.scheduleId);
  try {
    if (isAsWanted(await handle.describe(), options)) return false;
    const { spec, action, policies, state } = options;
    await handle.update((known) => ({ ...known, spec, action, policies, state }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    if (timed.flow === 'reconcile') await beforeMade(timed.input.tenantId);
    const state = { ...options.state, triggerImmediately: !timed.paused };
    await client.schedule.create({ ...options, state, scheduleId: timed.scheduleId }).catch(ignoreRace);
  }
  return true;
}

function isAsWanted({ spec, action, policies, state }: ScheduleDescription, wanted: Scheduled): boolean {
  const { args, workflowType, taskQueue: queue, workflowId } = wanted.action;
  return (
    isDeepStrictEqual(timesOf(spec), timesOf(wanted.spec)) &&
    isDeepStrictEqual([action.args, action.workflowType, action.taskQueue], [args, workflowType, queue]) &&
    action.workflowId === workflowId &&
    policies.overlap === wanted.policies.overlap &&
    policies.catchupWindow === wanted.policies.catchupWindow &&
    state.paused === wanted.state.paused &&
    state.remainingActions === undefined
  );
}

/** A schedule's times in a comparable form; an edit by hand may have added any of these. */
function timesOf(spec: ScheduleSpecDescription | ScheduleSpec | undefined): unknown {
  const { intervals = [], calendars = [], skip = [], jitter, startAt, endAt } = spec ?? {};
  const times = intervals.map(({ every, offset }) => [every, offset ?? 0]);
  return { times, calendars: calendars.length, skip: skip.length, jitter: jitter ?? 0, startAt, endAt };
}

/** Returns whether there was one. */
export async function removeSchedule(client: Client, scheduleId: string): Promise<boolean> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** Spreads tenants and their streams over the period, so that a fleet does not do everything at once. */
function specOf({ workflow, input, flow, everyMs }: Timed) {
  const seed = workflow === 'reconcileTenant' ? input.tenantId : `${input.tenantId}/${flow}`;
  const offset = createHash('sha256').update(seed).digest().readUInt32BE() % everyMs;
  // Whole seconds: the server drops the rest of an offset, which would look like an edit by hand.
  return {
    intervals: [{ every: everyMs, offset: offset - (offset % 1_000) }],
    jitter: Math.min(MOST_JITTER_MS, Math.floor(everyMs / 10)),
  };
}

type Scheduled = ReturnType<typeof optionsOf>;

function optionsOf(installationId: string, timed: Timed) {
  const { scheduleId, workflow, flow, input, paused } = timed;
  return {
    spec: specOf(timed),
    action: {
      type: 'startWorkflow' as const,
      workflowType: workflow,
      workflowId: scheduleId,
      taskQueue: taskQueue(installationId),
      args: [input],
      typedSearchAttributes: attributes(input.tenantId, flow),
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_MS },
    state: { paused },
  };
}

/** Two workers that start at the same time both find no schedule; the other one made it. */
function ignoreRace(error: unknown): void {
  if (error instanceof Error && error.name === 'ScheduleAlreadyRunning') return;
  throw error;
}

const TERMINATED_AT_ONCE = 10;

/**
 * Terminates every running workflow of a tenant and returns how many it found. The server's list lags a little, so only
 * a later pass that finds none proves that none is left.
 */
export async function endWorkflows(
  { client, installationId }: HireClient,
  tenantId: string,
  reason: string,
): Promise<number> {
  const query = `TenantId = "${tenantId}" and ExecutionStatus = "Running"`;
  const running: { workflowId: string; runId: string }[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query }))
    if (workflowId.startsWith(`${installationId}/`)) running.push({ workflowId, runId });
  const limit = pLimit(TERMINATED_AT_ONCE);
  await Promise.all(
    running.map(({ workflowId, runId }) =>
      limit(() => client.workflow.getHandle(workflowId, runId).terminate(reason).then(noop, unlessGone)),
    ),
  );
  return running.length;
}

function noop(): void {}

function unlessGone(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

/** When the last reconcile that Temporal shows ended; two calls. Undefined if none says so. */
export async function askLastReconcile(
  { client, installationId }: HireClient,
  tenantId: string,
): Promise<number | undefined> {
  const prefix = reconcileScheduleId(installationId, tenantId);
  const query = `TenantId = '${tenantId}' AND Flow = 'reconcile' AND ExecutionStatus = 'Completed'`;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: 10 })) {
    if (!workflowId.startsWith(prefix)) continue;
    const { reconciledAt } = (await client.workflow.getHandle(workflowId, runId).result()) as Partial<Reconciled>;
    return reconciledAt;
  }
  return undefined;
}

/** Waits for the end of a run that anybody may have started. */
export function endOfSync(
  { client }: HireClient,
  { workflowId, runId }: SyncRun,
  signal: AbortSignal,
): Promise<StreamStep> {
  const handle = client.workflow.getHandle<SyncWorkflow>(workflowId, runId);
  return client.withAbortSignal(signal, () => handle.result());
}

/** Has hinted records read again: by the run that an earlier hint began, or a new one. */
export async function hintStream(
  { client, installationId, timing }: HireClient,
  { tenantId, stream }: Pick<StreamStart, 'tenantId' | 'stream'>,
): Promise<void> {
  await client.workflow.signalWithStart(workflowOf(stream), {
    workflowId: `${streamScheduleId(installationId, tenantId, stream)}/hints`,
    taskQueue: taskQueue(installationId),
    args: [{ tenantId, stream, timing, hinted: true } satisfies StreamStart],
    signal: streamHintSignal,
    typedSearchAttributes: attributes(tenantId, stream),
    priority: { priorityKey: 3, fairnessKey: tenantId },
  });
}

/**
 * Starts a run of a stream by hand, or returns the one started by hand that still runs. A request for more than an
 * incremental run always needs a run of its own.
 */
export async function startSync(
  { client, installationId, timing }: HireClient,
  asked: Omit<StreamStart, 'timing' | 'hinted' | 'full'>,
): Promise<WorkflowHandleWithFirstExecutionRunId<SyncWorkflow>> {
  const { tenantId, stream, mode = 'incremental', rewrite = false } = asked;
  const isPlain = mode === 'incremental' && !rewrite;
  try {
    return await client.workflow.start<SyncWorkflow>(workflowOf(stream), {
      // The schedule's own runs have this id followed by a time; the store decides which of two may work.
      workflowId: streamScheduleId(installationId, tenantId, stream),
      workflowIdConflictPolicy: isPlain ? WorkflowIdConflictPolicy.USE_EXISTING : WorkflowIdConflictPolicy.FAIL,
      taskQueue: taskQueue(installationId),
      args: [{ ...asked, timing, full: mode === 'full' }],
      typedSearchAttributes: attributes(tenantId, stream),
      priority: { priorityKey: 3, fairnessKey: tenantId },
    });
  } catch (error) {
    throw error instanceof WorkflowExecutionAlreadyStartedError ? syncBusy(tenantId, stream) : error;
  }
}

export function syncBusy(tenantId: string, stream: string): ConnectorError {
  return new ConnectorError({
    code: 'SYNC_BUSY',
    action: 'retry',
    message:
      `Another run of ${tenantId} ${stream} is under way. Start this one when it has ended: hirebridge status ` +
      'shows it.',
  });
}
