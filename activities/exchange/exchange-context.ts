import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { WriteOrigin } from '../../src/store/foreign-writes.ts';
import type { StreamName } from '../../src/streams/streams.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Reading } from './read-sides.ts';

/** What every pair of one step is read and written with. */
export interface ExchangeContext extends Reading {
  deps: ActivityDeps;
  key: { tenantId: string; stream: StreamName };
  runId: string;
  mapping: Mapping;
  origin: WriteOrigin;
  /** A person asked for the run: much may be emptied. */
  full: boolean;
}
