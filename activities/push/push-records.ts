import { isConnectorError } from '../../src/errors.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import { endPushRun } from '../../src/store/push-runs.ts';
import { readStreamState } from '../../src/store/stream-states.ts';
import { beginRun, readStream, refuseRun } from '../../src/store/streams.ts';
import { stepOf } from '../../src/streams/page-outcome.ts';
import type { PushInput } from '../../src/streams/push-activities.ts';
import type { StreamStep } from '../../src/streams/stream-activities.ts';
import type { PushName } from '../../src/streams/streams.ts';
import type { ActivityDeps } from '../deps.ts';
import { pushEmployment } from '../employment/push-employment.ts';
import { guarded } from '../guarded.ts';
import { pushRequisitions } from '../requisitions/push-requisitions.ts';
import { stopOf } from '../streams/stop-of.ts';
import type { PushContext, Verdict } from './push-context.ts';

type Beat = (details: unknown) => void;

const pushers: Record<PushName, (context: PushContext, beat: () => void) => Promise<Verdict[]>> = {
  employment: pushEmployment,
  requisitions: pushRequisitions,
};

/** One pass of a push stream. A repeat finds in the store what was done, so nothing is done twice. */
export function pushRecords(deps: ActivityDeps, input: PushInput, beat: Beat = () => undefined): Promise<StreamStep> {
  const { tenantId, stream, runId, full } = input;
  const key = { tenantId, stream };
  return guarded(deps, tenantId, async (connection) => {
    const stop = stopOf(await readStreamState(deps.store, key));
    if (stop !== undefined) return stop;
    const run = await beginRun(deps.store, key, { runId, full, firstPage: 0 });
    if (run === undefined) return { state: input.begun ? 'superseded' : 'busy' };
    if (run.state !== 'running') return stepOf(run);
    await assertMayWrite(deps.store, tenantId);
    try {
      const verdicts = await pushers[stream]({ deps, connection, key, runId, full }, () => beat({ runId }));
      if (!(await endPushRun(deps.store, key, runId, verdicts))) return { state: 'superseded' };
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      await refuseRun(deps.store, key, runId, error);
      deps.log.error({ ...key, code: error.code, reason: error.message }, 'stream refused');
      return { state: 'refused', code: error.code };
    }
    const ended = await readStream(deps.store, key);
    return ended?.run_id === runId ? stepOf(ended) : { state: 'superseded' };
  });
}
