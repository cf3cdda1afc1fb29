import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Client, ScheduleNotFoundError, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { HireTiming } from '../../workflows/messages.ts';
import type { ReconcileInput } from '../../workflows/reconcile-tenant.ts';
import { attributes, sweepScheduleId, taskQueue } from './ids.ts';

export interface SweepSchedule {
  tenantId: string;
  everyMs: number;
  /** A worker that dies in a sweep holds it up no longer than it holds up a hire. */
  timing: HireTiming;
}

/**
 * Makes the tenant's sweep schedule be as its file says; a new one sweeps at once. The store's tenants are the truth, so a changed period or
 * timing is written over whatever stands there.
 */
export async function ensureSweepSchedule(client: Client, installationId: string, sweep: SweepSchedule): Promise<void> {
  const scheduleId = sweepScheduleId(installationId, sweep.tenantId);
  const options = sweepOptions(installationId, sweep);
  const handle = client.schedule.getHandle(scheduleId);
  try {
    const { spec, action } = await handle.describe();
    const [input] = action.args as [ReconcileInput?];
    const isSame = isDeepStrictEqual(input, inputOf(sweep));
    if (spec.intervals?.[0]?.every === sweep.everyMs && isSame) return;
    await handle.update((known) => ({ ...known, spec: options.spec, action: options.action }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await client.schedule.create({ ...options, scheduleId }).catch(ignoreRace);
  }
}

/** Asks for a sweep soon; one that runs is followed by one more, never by many. */
export async function triggerSweep(client: Client, installationId: string, tenantId: string): Promise<void> {
  await client.schedule.getHandle(sweepScheduleId(installationId, tenantId)).trigger(ScheduleOverlapPolicy.BUFFER_ONE);
}

function inputOf({ tenantId, timing }: SweepSchedule): ReconcileInput {
  return { tenantId, timing };
}

function sweepOptions(installationId: string, sweep: SweepSchedule): Omit<ScheduleOptions, 'scheduleId'> {
  const { tenantId, everyMs } = sweep;
  // Tenants are spread over the period, so that a fleet does not sweep all at once.
  const offset = createHash('sha256').update(tenantId).digest().readUInt32BE() % everyMs;
  return {
    spec: { intervals: [{ every: everyMs, offset }] },
    action: {
      type: 'startWorkflow',
      workflowType: 'reconcileTenant',
      workflowId: sweepScheduleId(installationId, tenantId),
      taskQueue: taskQueue(installationId),
      args: [inputOf(sweep)],
      typedSearchAttributes: attributes(tenantId, 'sweep'),
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
