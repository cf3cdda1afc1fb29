import type { StreamInput, StreamStep } from '../../src/streams/stream-activities.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Beat } from './in-run.ts';
import { pullPages } from './pull-pages.ts';

/** A pass over the whole list, as workflows of earlier versions ask for it. */
export function syncPages(deps: ActivityDeps, input: StreamInput, beat?: Beat): Promise<StreamStep> {
  const { tenantId, stream, runId, full, begun } = input;
  return pullPages(deps, { tenantId, stream, runId, begun, mode: 'full', rewrite: full }, beat);
}
