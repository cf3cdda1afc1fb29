import type { CustomFieldUse } from '../../src/mapping/custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { WriteOrigin } from '../../src/store/foreign-writes.ts';
import type { StreamName } from '../../src/streams/streams.ts';
import type { ActivityDeps } from '../connections.ts';
import type { Reading } from './read-sides.ts';

/** Everything that one step of a run needs to read and write its pairs. */
export interface ExchangeContext extends Reading {
  deps: ActivityDeps;
  key: { tenantId: string; stream: StreamName };
  runId: string;
  mapping: Mapping;
  /** The custom fields that the mapping names. */
  uses: readonly CustomFieldUse[];
  origin: WriteOrigin;
  /** A person asked for this run. */
  full: boolean;
}
