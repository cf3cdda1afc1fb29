import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import {
  BY_ITSELF,
  type NewWrite,
  recordWrites,
  settleWrites,
  type WriteOrigin,
} from '../../src/store/foreign-writes.ts';
import { touchRun } from '../../src/store/quarantine.ts';
import type { StreamKey } from '../../src/store/streams.ts';
import type { ActivityDeps, Connection } from '../connections.ts';

/** One run of a push stream. */
export interface PushContext {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey;
  runId: string;
  /** Starts from the first record. */
  full: boolean;
  /** Looks only at records with hints. */
  hinted?: boolean;
}

/** A run's result for one record. `reason` says why it was left out: field names, ids and codes only. */
export interface Verdict {
  id: string;
  kind: 'unchanged' | 'created' | 'updated' | 'skipped' | 'quarantined' | 'held';
  reason?: string;
}

type OwnRun = Pick<PushContext, 'key' | 'runId'>;

/** Origin of a run's own writes; `mappingHash` if a mapping decides the values. */
export function originOf({ key, runId }: OwnRun, mappingHash: string | null = null): WriteOrigin {
  return { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash };
}

/**
 * Makes a write with its stored note: intent before, outcome after. A refusal is stored as such and thrown like any
 * other error; a write without an answer stays open.
 */
export async function noted(
  context: OwnRun & Pick<PushContext, 'deps'>,
  writes: readonly NewWrite[],
  send: () => Promise<unknown>,
  refusedBy: readonly ConnectorError['action'][] = ['reject'],
): Promise<void> {
  const { store } = context.deps;
  const batchId = await recordWrites(store, originOf(context), writes);
  try {
    await send();
  } catch (error) {
    if (isConnectorError(error) && refusedBy.includes(error.action)) await settleWrites(store, batchId, 'refused');
    throw error;
  }
  await settleWrites(store, batchId, 'done');
}

/** How long a request without an answer may still arrive or stay invisible; 0 or less once it can be looked up. */
export function leftMs(
  { deps }: Pick<PushContext, 'deps'>,
  { give_up_at: until }: { give_up_at: number | null },
  now: number,
): number {
  return Number(until ?? 0) + deps.limits.partnerLagMs - now;
}

/** After so many failures in a row, the other side is to blame and not the records. */
const MOST_FAILURES = 3;

/**
 * Lets a pass go on after a record that fails for a while, so that it stops no other record. `end` throws the first
 * failure, so that the pass is tried again for such records once it is through.
 */
export function createFailures() {
  let first: ConnectorError | undefined;
  let inRow = 0;
  return {
    async tryOne<T>(work: () => Promise<T>): Promise<{ done: T } | { failed: ConnectorError }> {
      try {
        const done = await work();
        inRow = 0;
        return { done };
      } catch (error) {
        if (!isConnectorError(error) || (error.action !== 'retry' && error.action !== 'unknown')) throw error;
        first ??= error;
        inRow += 1;
        if (inRow === MOST_FAILURES) throw error;
        return { failed: error };
      }
    },
    end(): void {
      if (first !== undefined) throw first;
    },
  };
}

/** Shows that the run is alive. @throws ConnectorError RUN_SUPERSEDED */
export async function assertOurs({ deps, key, runId }: OwnRun & Pick<PushContext, 'deps'>): Promise<void> {
  if (await touchRun(deps.store, key, runId)) return;
  throw new ConnectorError({
    code: 'RUN_SUPERSEDED',
    action: 'retry',
    message: `Another run of ${key.tenantId} ${key.stream} took over. This one writes nothing more.`,
  });
}
