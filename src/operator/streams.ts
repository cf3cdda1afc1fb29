import { rejected } from '../errors.ts';
import { nearest } from '../in-words.ts';
import { isApplied } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';
import { pauseStream, resumeStream } from '../store/streams.ts';
import { landedNames, type PullName, type StreamName, streamNames } from '../streams/streams.ts';
import { tenantNotApplied } from './tenants.ts';

/** @throws ConnectorError STREAM_UNKNOWN */
export function assertKnownStream(name: string): asserts name is StreamName {
  if (streamNames.some((known) => known === name)) return;
  const near = nearest(name, streamNames);
  const meant = near === undefined ? '' : `Did you mean "${near}"? `;
  throw rejected('STREAM_UNKNOWN', `"${name}" is not a stream. ${meant}They are: ${streamNames.join(', ')}.`);
}

/** @throws ConnectorError STREAM_UNKNOWN, STREAM_NOT_PLANNED */
export function assertPulledStream(name: string): asserts name is PullName {
  assertKnownStream(name);
  if (landedNames.some((known) => known === name)) return;
  throw rejected(
    'STREAM_NOT_PLANNED',
    `"${name}" has no landing table, so it cannot be planned. Name one of: ${landedNames.join(', ')}.`,
  );
}

interface StreamAct {
  tenantId: string;
  stream: string;
  by: string;
}

const acts = { pause: pauseStream, resume: resumeStream } as const;

/**
 * Pauses or resumes a stream. Resuming one that a change limit holds also allows the held change in the next pass.
 * @throws ConnectorError TENANT_UNKNOWN, STREAM_UNKNOWN, STREAM_STATE
 */
export async function steerStream(store: Store, verb: keyof typeof acts, act: StreamAct): Promise<void> {
  const { tenantId, stream, by } = act;
  assertKnownStream(stream);
  if (!(await isApplied(store, tenantId))) throw await tenantNotApplied(store, tenantId);
  if (await acts[verb](store, { tenantId, stream }, by)) return;
  const state = verb === 'pause' ? 'paused already' : 'neither paused nor held';
  throw rejected('STREAM_STATE', `The stream ${stream} of ${tenantId} is ${state}. See: hirebridge status`);
}
