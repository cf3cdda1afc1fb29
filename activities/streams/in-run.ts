import { type ConnectorError, isConnectorError } from '../../src/errors.ts';
import { assertMayWrite } from '../../src/store/freezes.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import {
  beginRun,
  heldCodes,
  isOfPart,
  type NewRun,
  readStreamState,
  refuseRun,
  type StreamState,
} from '../../src/store/streams.ts';
import { isLookup, type StreamName } from '../../src/streams/streams.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { guarded } from '../guarded.ts';

export type Beat = (details: unknown) => void;

/** The run that an activity is part of. */
interface RunKey {
  tenantId: string;
  stream: StreamName;
  runId: string;
  /** The run has its row in the store: if the row there is another run's, that run took over. */
  begun: boolean;
}

/** What differs between kinds of streams. */
interface RunPart<Step> {
  /** How a new run begins. */
  begins(connection: Connection, state: StreamState | undefined): Promise<Omit<NewRun, 'runId'>>;
  work(connection: Connection, run: StreamRow): Promise<Step>;
  stepOf(run: StreamRow): Step;
  /** The reason for refusing the run, if it says more than the error. */
  refuses?(error: ConnectorError, state: StreamState | undefined): Promise<{ code: string; message: string }>;
}

type EarlyStep = { state: 'refused'; code: string } | { state: 'busy' | 'superseded' };

/**
 * Does one activity's part of a run, for any kind of stream. A cause that only a person can remove ends the run; the
 * schedule starts the next one.
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
    // Check before reading: data that may not be written need not be fetched.
    if (!isLookup(stream)) await assertMayWrite(deps.store, tenantId);
    try {
      return await part.work(connection, run);
    } catch (error) {
      if (isConnectorError(error, 'RUN_SUPERSEDED')) return { state: 'superseded' };
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      const refused = { code: error.code, message: error.withoutWords() };
      const { code, message } = (await part.refuses?.(error, state)) ?? refused;
      await refuseRun(deps.store, key, runId, { code, message, held: Number(error.details?.['held'] ?? 0) });
      deps.log.error({ ...key, code, reason: message }, 'stream refused');
      return { state: 'refused', code };
    }
  });
}

/** A stream that is paused, or held as a whole, does nothing until a person resumes it. */
function stopOf(state: StreamState | undefined): { state: 'refused'; code: string } | undefined {
  const code = heldCodes(state).find((one) => !isOfPart(one)) ?? (state?.paused_at ? 'STREAM_PAUSED' : undefined);
  return code === undefined ? undefined : { state: 'refused', code };
}
