import { type ConnectorError, isConnectorError } from '../../src/errors.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import { heldCodes, isOfPart, readStreamState, type StreamState } from '../../src/store/stream-states.ts';
import { beginRun, type NewRun, refuseRun } from '../../src/store/streams.ts';
import { isLookup, type StreamName } from '../../src/streams/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded } from '../guarded.ts';

export type Beat = (details: unknown) => void;

/** The run that an activity has a part in. */
interface RunKey {
  tenantId: string;
  stream: StreamName;
  runId: string;
  /** It has its row in the store: finding another's there means that it was taken over. */
  begun: boolean;
}

/** What the kinds of streams do differently. */
interface RunPart<Step> {
  /** How the run begins where it is new. */
  begins(connection: Connection, state: StreamState | undefined): Promise<Omit<NewRun, 'runId'>>;
  work(connection: Connection, run: StreamRow): Promise<Step>;
  stepOf(run: StreamRow): Step;
  /** Why the run is refused, where that is more than the error says. */
  refuses?(error: ConnectorError, state: StreamState | undefined): Promise<{ code: string; message: string }>;
}

type EarlyStep = { state: 'refused'; code: string } | { state: 'busy' | 'superseded' };

/**
 * One activity's part of a run, whatever the stream's kind. A cause that only a person can remove ends the run, and
 * the schedule begins the next.
 */
export function inRun<Step>(
  deps: ActivityDeps,
  { tenantId, stream, runId, begun }: RunKey,
  part: RunPart<Step>,
): Promise<Step | EarlyStep> {
  const key = { tenantId, stream };
  return guarded(deps, tenantId, async (connection) => {
    const state = await readStreamState(deps.store, key);
    const stop = stopOf(state);
    if (stop !== undefined) return stop;
    const run = await beginRun(deps.store, key, { runId, ...(await part.begins(connection, state)) });
    if (run === undefined) return { state: begun ? 'superseded' : 'busy' };
    if (run.state !== 'running') return part.stepOf(run);
    // Before anything is read: what may not be written need not be fetched.
    if (!isLookup(stream)) await assertMayWrite(deps.store, tenantId);
    try {
      return await part.work(connection, run);
    } catch (error) {
      if (isConnectorError(error, 'RUN_SUPERSEDED')) return { state: 'superseded' };
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      const { code, message } = (await part.refuses?.(error, state)) ?? error;
      await refuseRun(deps.store, key, runId, { code, message, held: Number(error.details?.['held'] ?? 0) });
      deps.log.error({ ...key, code, reason: message }, 'stream refused');
      return { state: 'refused', code };
    }
  });
}

/** A stream that is paused or held as a whole, whatever its kind, does nothing until a person resumes it. */
function stopOf(state: StreamState | undefined): { state: 'refused'; code: string } | undefined {
  const code = heldCodes(state).find((one) => !isOfPart(one)) ?? (state?.paused_at ? 'STREAM_PAUSED' : undefined);
  return code === undefined ? undefined : { state: 'refused', code };
}
