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
