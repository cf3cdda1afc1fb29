import { setTimeout as pause } from 'node:timers/promises';
import { ScheduleNotFoundError } from '@temporalio/client';
import { type ConnectorError, rejected } from '../errors.ts';
import type { SavedRateLimit } from '../rate-limit/saved-rate-limit.ts';
import { readTrouble } from '../store/alarms.ts';
import { audit } from '../store/audit.ts';
import { addHints } from '../store/hints.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { readQuarantine } from '../store/quarantine.ts';
import { readRateLimit } from '../store/rate-limits.ts';
import type { StreamRow } from '../store/schema.ts';
import type { StreamMode } from '../store/stream-tables.ts';
import { readStream } from '../store/streams.ts';
import { compareAnew, readTenantState } from '../store/tenant-states.ts';
import { hintOfAsk } from '../streams/stream.ts';
import type { StreamStep } from '../streams/stream-activities.ts';
import type { StreamName } from '../streams/streams.ts';
import { endOfSync, type SyncRun, startSync, syncBusy, triggerReconcile } from '../temporal/schedules.ts';
import type { OperatorParts } from './open-tenant.ts';
import { readProcesses } from './status.ts';
import { assertWrites, knownTenant } from './tenants.ts';

export interface StreamRequest {
  tenantId: string;
  stream: StreamName;
  /** What to read: hinted records, and the whole list if that is due; the whole list; or one record. */
  mode: StreamMode;
  /** Writes every row again, whatever its hash says. */
  rewrite: boolean;
  /** Only with `mode: one`. */
  recordId?: string;
  /** The person who asks for it. */
  by: string;
}

/** The current state of a run. */
export interface StreamLook {
  /** Reported once, when the run is started; anyone can follow the run with it. */
  run?: SyncRun;
  /** Present while the run is in progress. */
  row?: StreamRow;
  /** Calls per second that the fleet may make to this partner, as learned so far. */
  callsPerSecond?: number;
  /** Why the run waits, and what to do about it. */
  waiting?: string;
}

export interface StreamResult {
  state: StreamStep['state'];
  counts: StreamStep['counts'];
  seconds?: number;
  /** Records left out, with the reason: field names and codes, never a value. */
  leftOut: { record: string; page: number; reason: string; since: string }[];
}

const LOOK_MS = 500;
const PATIENCE_MS = 10_000;

/**
 * Starts a run of a stream and follows it to its end; `onLook` gets its state every half second. Aborting `signal`
 * stops the following, not the run.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_PAUSED, TENANT_OBSERVES, SYNC_BUSY, or a refused run's code
 */
export async function followStream(
  parts: OperatorParts,
  request: StreamRequest,
  onLook: (look: StreamLook) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<StreamResult> {
  const { workflowId, firstExecutionRunId: runId } = await beginStream(parts, request);
  onLook({ run: { workflowId, runId } });
  return followRun(parts, { ...request, run: { workflowId, runId } }, onLook, signal);
}

/** Follows a run that was started before. */
export async function followRun(
  { store, hires }: OperatorParts,
  { run, ...request }: StreamRequest & { run: SyncRun },
  onLook: (look: StreamLook) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<StreamResult> {
  const ended = endOfSync(hires, run, signal);
  ended.catch(() => undefined);
  const lateAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const over = new AbortController();
    const next = pause(LOOK_MS, undefined, { signal: AbortSignal.any([over.signal, signal]) }).catch(() => undefined);
    // Without the abort, the pause would keep the process alive after the run's end.
    const step = await Promise.race([ended, next]).finally(() => over.abort());
    signal.throwIfAborted();
    onLook(await look(store, request, run, performance.now() > lateAt));
    if (step !== undefined) return readResult(store, request, step);
  }
}

/** Starts a run of a stream. @throws ConnectorError TENANT_UNKNOWN, TENANT_PAUSED, TENANT_OBSERVES, SYNC_BUSY */
export async function beginStream({ store, hires, tenants }: OperatorParts, request: StreamRequest) {
  const { tenantId, stream, mode, rewrite, by, recordId } = request;
  knownTenant(tenants, tenantId);
  await assertNotPaused(store, tenantId);
  await assertWrites(store, tenantId);
  // Asking again for the same job must be a new run, which costs credits again.
  const askedAt = Math.round((await readClock(store)) / 1000);
  if (stream === 'rescoring' && recordId !== undefined)
    await addHints(store, tenantId, stream, [hintOfAsk({ jobId: recordId, askedAt })]);
  const wanted = { tenantId, stream, mode, rewrite, ...(recordId === undefined ? {} : { recordId }) };
  const handle = await startSync(hires, wanted);
  const details = [stream, mode, ...(rewrite ? ['every row again'] : [])].join(', ');
  await audit(store, { by, tenantId, act: 'sync-asked', details });
  return handle;
}

async function look(
  store: Store,
  { tenantId, stream }: StreamRequest,
  { runId }: SyncRun,
  isLate: boolean,
): Promise<StreamLook> {
  const row = await readStream(store, { tenantId, stream });
  const running = row?.state === 'running' ? row : undefined;
  // A worker that took it wrote its id, whether it is still running or over.
  const isTaken = row?.run_id.split('/')[0] === runId;
  const waiting =
    (await whyItWaits(store, tenantId, isLate && running === undefined && !isTaken)) ??
    (running === undefined ? undefined : await whyItRepeats(store, running));
  const told = waiting === undefined ? {} : { waiting };
  if (running === undefined) return told;
  const limit = (await readRateLimit(store, { tenantId, upstream: 'partner' })) as SavedRateLimit | undefined;
  return { ...told, row: running, ...(limit === undefined ? {} : { callsPerSecond: limit.rate }) };
}

/** A run of a paused tenant would only wait, and so would the command. */
export async function assertNotPaused(store: Store, tenantId: string): Promise<void> {
  const why = await whyPaused(store, tenantId);
  if (why === undefined) return;
  throw rejected(
    'TENANT_PAUSED',
    `${tenantId} is paused, and nothing was started: ${why} It continues by itself once the cause is fixed.`,
  );
}

/** A run in progress also waits while its tenant is paused, with or without a worker. */
async function whyItWaits(store: Store, tenantId: string, isLate: boolean): Promise<string | undefined> {
  const why = await whyPaused(store, tenantId);
  if (why !== undefined)
    return `${tenantId} is paused, and this run waits with it: ${why} It continues by itself once the cause is fixed.`;
  if (!isLate) return undefined;
  const roles = await readProcesses(store, await readClock(store), []);
  return roles.some(({ role, running }) => role === 'worker' && running.length > 0)
    ? 'A worker runs, but it has not taken this yet: it is busy, or the run before goes on. See: hirebridge status'
    : 'No worker has taken it yet. Start one: hirebridge up, or hirebridge worker.';
}

/** A call that fails is repeated for as long as it fails, which is an alarm only after a quarter of an hour. */
async function whyItRepeats(store: Store, { tenant_id: tenantId, stream, started_at: from }: StreamRow) {
  const trouble = await readTrouble(store, tenantId, stream);
  if (trouble === undefined || trouble.last_seen_at < from) return undefined;
  return `A call failed, and it is repeated until it works: ${trouble.message} [${trouble.reason}]`;
}

async function whyPaused(store: Store, tenantId: string): Promise<string | undefined> {
  const { state, paused_code: code, paused_message: message } = await readTenantState(store, tenantId);
  return state === 'paused' ? `${message ?? ''} [${code ?? ''}]` : undefined;
}

async function readResult(store: Store, request: StreamRequest, step: StreamStep): Promise<StreamResult> {
  const { tenantId, stream } = request;
  if (step.state === 'busy' || step.state === 'superseded') throw syncBusy(tenantId, stream);
  const row = await readStream(store, { tenantId, stream });
  if (step.state === 'refused') throw refusedRun(step, row);
  const quarantined = await readQuarantine(store, { tenantId, stream });
  return {
    state: step.state,
    counts: step.counts,
    ...(row === undefined || row.ended_at === null ? {} : { seconds: (row.ended_at - row.started_at) / 1000 }),
    leftOut: quarantined.map((one) => ({
      record: one.record_key,
      page: one.page,
      reason: one.reason,
      since: new Date(Number(one.since)).toISOString(),
    })),
  };
}

function refusedRun(step: StreamStep, row: StreamRow | undefined): ConnectorError {
  if (step.code !== 'STREAM_PAUSED')
    return rejected(step.code ?? 'SYNC_REFUSED', row?.refused_message ?? 'The run was refused.');
  const stream = row === undefined ? 'TENANT STREAM' : `${row.tenant_id} ${row.stream}`;
  return rejected('STREAM_PAUSED', `The stream is paused. To resume it: hirebridge resume ${stream}`);
}

/**
 * Runs a tenant's reconcile now, as its schedule does; if one is running, one more follows it. With `full` the next one
 * compares everything.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_PAUSED, NOT_SCHEDULED
 */
export async function reconcileNow(
  { store, hires, tenants }: OperatorParts,
  { tenantId, full, by }: { tenantId: string; full: boolean; by: string },
): Promise<void> {
  knownTenant(tenants, tenantId);
  const { state, paused_message: why } = await readTenantState(store, tenantId);
  if (state === 'paused')
    throw rejected(
      'TENANT_PAUSED',
      `${tenantId} is paused, so nothing is compared: ${why} Remove the cause, or resume the tenant.`,
    );
  await audit(store, { by, tenantId, act: 'reconcile-asked', details: full ? 'everything' : 'what seems changed' });
  if (full) await compareAnew(store, tenantId);
  try {
    await triggerReconcile(hires, tenantId);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw rejected(
      'NOT_SCHEDULED',
      `Temporal has no schedule of ${tenantId} yet. Start a worker: it makes the schedule and reconciles.`,
      { cause: error },
    );
  }
}
