import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Client, ScheduleNotFoundError, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ReconcileInput } from '../../workflows/reconcile-tenant.ts';
import type { SyncInput } from '../../workflows/sync-stream.ts';
import { streamNames } from '../streams/streams.ts';
import type { Tenant } from '../tenants/schema.ts';
import type { HireClient } from './hire-client.ts';
import { attributes, reconcileScheduleId, streamScheduleId, taskQueue } from './ids.ts';

/** Makes the schedules of a tenant what its file says; a new one triggers at once. */
export async function ensureSchedules(hires: HireClient, { tenant, policies, streams }: Tenant): Promise<void> {
  await ensureReconcileSchedule(hires, tenant, policies.reconcile.every);
  for (const stream of streamNames) await ensureStreamSchedule(hires, tenant, stream, streams[stream].every);
}

async function ensureReconcileSchedule(hires: HireClient, tenantId: string, everyMs: number): Promise<void> {
  // A worker that dies in a reconcile holds it up no longer than it holds up a hire.
  const input: ReconcileInput = { tenantId, timing: hires.timing };
  const scheduleId = reconcileScheduleId(hires.installationId, tenantId);
  await ensureSchedule(hires, { scheduleId, workflow: 'reconcileTenant', flow: 'reconcile', everyMs, input });
}

/** A stream without a period never starts by itself. */
async function ensureStreamSchedule(
  hires: HireClient,
  tenantId: string,
  stream: SyncInput['stream'],
  everyMs: number | undefined,
): Promise<void> {
  const scheduleId = streamScheduleId(hires.installationId, tenantId, stream);
  if (everyMs === undefined) return removeSchedule(hires.client, scheduleId);
  const input: SyncInput = { tenantId, stream, timing: hires.timing };
  await ensureSchedule(hires, { scheduleId, workflow: 'syncStream', flow: stream, everyMs, input });
}

/** Asks for a reconcile soon; one that runs is followed by one more, never by many. */
export async function triggerReconcile({ client, installationId }: HireClient, tenantId: string): Promise<void> {
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

/** The tenant's file is the truth: a changed period or input overwrites what the schedule says. */
async function ensureSchedule({ client, installationId }: HireClient, timed: Timed): Promise<void> {
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
