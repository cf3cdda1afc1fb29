import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/common';
import { hintSignal } from '../../workflows/messages.ts';
import type { SignalHire } from '../hire/hire.ts';
import type { HireClient } from './hire-client.ts';
import { hireStartOptions, hireWorkflowId } from './ids.ts';

/**
 * Sends one hint to a hire. With `start`, a workflow starts if none runs; without it, `false` means that none runs.
 * Harmless when repeated: the workflow reads the facts from the store.
 */
export async function signalHire(
  { client, installationId, timing }: HireClient,
  ...[hire, about, options]: Parameters<SignalHire>
): Promise<boolean> {
  if (options.start) {
    const { adopt = false, watch = false, behind } = options;
    // A run that is about to end learns of `adopt` only through the signal.
    const told = adopt ? 'adopt' : about;
    await client.workflow.signalWithStart(
      'hire',
      hireStartOptions(installationId, { ...hire, timing, adopt, watch, ...(behind && { behind }) }, told),
    );
    return true;
  }
  const handle = client.workflow.getHandle(hireWorkflowId(installationId, hire.tenantId, hire.jobCandidateId));
  try {
    await handle.signal(hintSignal, about);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Starts by one process: more than any day brings, fewer than an outage leaves behind. */
const STARTS = { aSecond: 50, atOnce: 100 } as const;

/**
 * Spreads starts over time: the hires that waited through an outage of Temporal, or that an emptied one lost, would
 * otherwise all start in the same second. Starts take their turns in the order requested; signals that start nothing do
 * not wait.
 */
export function paceStarts(
  signal: SignalHire,
  { aSecond, atOnce }: { aSecond: number; atOnce: number } = STARTS,
  now = () => performance.now(),
): SignalHire {
  const apartMs = 1_000 / aSecond;
  let turn = Number.NEGATIVE_INFINITY;
  return async (hire, about, options) => {
    if (!options.start) return signal(hire, about, options);
    turn = Math.max(turn + apartMs, now() - (atOnce - 1) * apartMs);
    const waitMs = turn - now();
    if (waitMs > 0) await pause(waitMs);
    return signal(hire, about, options);
  };
}
