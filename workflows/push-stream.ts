import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { PushActivities, StreamStep } from '../src/streams/stream-activities.ts';
import type { PushName } from '../src/streams/streams.ts';
import { type Carried, followHints, runIdOf, streamOptions } from './stream-options.ts';

export interface PushRun {
  tenantId: string;
  stream: PushName;
  timing: HireTiming;
  /** Begins at the beginning. */
  full?: boolean;
  /** The run before this one, when it continues it. */
  begun?: boolean;
  /** Started by a hint: only what was hinted at, and more may be on its way. */
  hinted?: boolean;
  /** Of the run before this one, where that was started by a hint. */
  carried?: Carried;
}

/** One pass over what the HRIS tells the partner. Cursor, counts and records are the store's. */
export async function pushStream(input: PushRun): Promise<StreamStep> {
  const { tenantId, stream, full = false, hinted = false, carried } = input;
  const { pushRecords } = proxyActivities<PushActivities>(streamOptions(input));
  if (hinted)
    return followHints(
      { hinted, ...(carried === undefined ? {} : { carried }) },
      {
        take: (round, begun) => pushRecords({ tenantId, stream, runId: runIdOf(round), full: false, begun, hinted }),
        continueWith: (next) => continueAsNew<typeof pushStream>({ ...input, carried: next }),
      },
    );
  const runId = workflowInfo().firstExecutionRunId;
  for (let begun = input.begun ?? false; ; begun = true) {
    const step = await pushRecords({ tenantId, stream, runId, full, begun });
    if (step.state !== 'running') return step;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof pushStream>({ ...input, begun: true });
  }
}
