import { WorkflowNotFoundError } from '@temporalio/common';
import { hintSignal } from '../../workflows/messages.ts';
import type { HintAbout } from '../hire/hire-run.ts';
import type { HireClient } from './hire-client.ts';
import { hireStartOptions, hireWorkflowId } from './ids.ts';

/**
 * Sends one hint to a hire. With `start` a workflow begins where none runs; without it, `false` says that none runs.
 * Harmless when repeated: the workflow asks the store what is true.
 */
export async function signalHire(
  { client, installationId, timing }: HireClient,
  hire: { tenantId: string; jobCandidateId: string },
  about: HintAbout,
  options: { start: boolean; adopt?: boolean; watch?: boolean },
): Promise<boolean> {
  if (options.start) {
    const { adopt = false, watch = false } = options;
    await client.workflow.signalWithStart(
      'hire',
      // A run that is about to end knows of the word by the signal alone.
      hireStartOptions(installationId, { ...hire, timing, adopt, watch }, adopt ? 'adopt' : about),
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
