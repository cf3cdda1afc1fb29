import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Client, ScheduleNotFoundError, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { HireTiming } from '../../workflows/messages.ts';
import type { ReconcileInput } from '../../workflows/reconcile-tenant.ts';
import type { SyncInput } from '../../workflows/sync-stream.ts';
import { attributes, reconcileScheduleId, streamScheduleId, taskQueue } from './ids.ts';

export interface ReconcileSchedule {
  tenantId: string;
  everyMs: number;
  /** A worker that dies in a reconcile holds it up no longer than it holds up a hire. */
  timing: HireTiming;
}

export interface StreamSchedule extends Omit<ReconcileSchedule, 'everyMs'> {
  stream: SyncInput['stream'];
  /** Never by itself where absent. */
  everyMs: number | undefined;
}

/** Makes the tenant's reconcile schedule be as its file says; a new one reconciles at once. */
export async function ensureReconcileSchedule(
  client: Client,
  installationId: string,
  reconcile: ReconcileSchedule,
): Promise<void> {
  const { tenantId, everyMs, timing } = reconcile;
  const input: ReconcileInput = { tenantId, timing };
  const scheduleId = reconcileScheduleId(installationId, tenantId);
  await ensureSchedule(client, installationId, {
    scheduleId,
    workflow: 'reconcileTenant',
    flow: 'reconcile',
    everyMs,
    input,
  });
}

/** The same for one of its streams; a stream that its file no longer times is no longer begun. */
export async function ensureStreamSchedule(
  client: Client,
  installationId: string,
  { tenantId, stream, everyMs, timing }: StreamSchedule,
): Promise<void> {
  const scheduleId = streamScheduleId(installationId, tenantId, stream);
  if (everyMs === undefined) return removeSchedule(client, scheduleId);
  const input: SyncInput = { tenantId, stream, timing };
  await ensureSchedule(client, installationId, { scheduleId, workflow: 'syncStream', flow: stream, everyMs, input });
}

/** Asks for a reconcile soon; one that runs is followed by one more, never by many. */
export async function triggerReconcile(client: Client, installationId: string, tenantId: string): Promise<void> {
  await client.schedule
    .getHandle(reconcileScheduleId(installationId, tenantId))
    .trigger(ScheduleOverlapPolicy.BUFFER_ONE);
}

interface Timed {
  scheduleId: string;
  workflow: 'reconcileTenant' | 'syncStream';
  flow: string;
  everyMs: number;
  input: ReconcileInput | SyncInput;
}

/** The tenant's file is the truth, so a changed period or input is written over whatever stands there. */
async function ensureSchedule(client: Client, installationId: string, timed: Timed): Promise<void> {
  const options = optionsOf(installationId, timed);
  const handle = client.schedule.getHandle(timed.scheduleId);
  try {
    const { spec, action } = await handle.describe();
    const isSame = isDeepStrictEqual(action.args?.[0], timed.input);
    if (spec.intervals?.[0]?.every === timed.everyMs && isSame) return;
    await handle.update((known) => ({ ...known, spec: options.spec, action: options.action }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await client.schedule.create({ ...options, scheduleId: timed.scheduleId }).catch(ignoreRace);
  }
}

async function removeSchedule(client: Client, scheduleId: string): Promise<void> {
  await client.schedule
    .getHandle(scheduleId)
    .delete()
    .catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    });
}

function optionsOf(installationId: string, timed: Timed): Omit<ScheduleOptions, 'scheduleId'> {
  const { scheduleId, workflow, flow, everyMs, input } = timed;
  // Tenants and their streams are spread over the period, so that a fleet does not do it all at once.
  const seed = workflow === 'reconcileTenant' ? input.tenantId : `${input.tenantId}/${flow}`;
  const offset = createHash('sha256').update(seed).digest().readUInt32BE() % everyMs;
  return {
    spec: { intervals: [{ every: everyMs, offset }] },
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: scheduleId,
      taskQueue: taskQueue(installationId),
      args: [input],
      typedSearchAttributes: attributes(input.tenantId, flow),
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
    state: { triggerImmediately: true },
  };
}

/** Two workers that start at once both find no schedule; one of them made it. */
function ignoreRace(error: unknown): void {
  if (error instanceof Error && error.name === 'ScheduleAlreadyRunning') return;
  throw error;
}
