import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import {
  BY_ITSELF,
  type NewWrite,
  recordWrites,
  settleWrites,
  type WriteOrigin,
} from '../../src/store/foreign-writes.ts';
import { touchRun } from '../../src/store/push-runs.ts';
import type { StreamKey } from '../../src/store/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';

/** One run of a push stream. */
export interface PushContext {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey;
  runId: string;
  /** Begins at the beginning. */
  full: boolean;
  /** Looks at what was hinted at alone. */
  hinted?: boolean;
}

/** What a run did with one record; `reason` where it was left out: field names, ids and codes. */
export interface Verdict {
  id: string;
  kind: 'unchanged' | 'created' | 'updated' | 'skipped' | 'quarantined' | 'held';
  reason?: string;
}

type OwnRun = Pick<PushContext, 'key' | 'runId'>;

/** Of what a run writes by itself; `mappingHash` where a mapping says what. */
export function originOf({ key, runId }: OwnRun, mappingHash: string | null = null): WriteOrigin {
  return { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash };
}

/**
 * A write beside its note: intent before, outcome after. What is refused is noted as that, and thrown like any other
 * error; a write without an answer stays open.
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

/** How long a request without an answer may still arrive, or not be shown yet; 0 or less once it can be looked up. */
export function leftMs(
  { deps }: Pick<PushContext, 'deps'>,
  { give_up_at: until }: { give_up_at: number | null },
  now: number,
): number {
  return Number(until ?? 0) + deps.limits.partnerLagMs - now;
}

/** Shows that the run is alive. @throws ConnectorError RUN_SUPERSEDED */
export async function assertOurs({ deps, key, runId }: OwnRun & Pick<PushContext, 'deps'>): Promise<void> {
  if (await touchRun(deps.store, key, runId)) return;
  throw new ConnectorError({
    code: 'RUN_SUPERSEDED',
    action: 'retry',
    message: `Another run of ${key.tenantId} ${key.stream} took over. This one writes nothing any more.`,
  });
}
