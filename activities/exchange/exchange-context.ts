import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { WriteOrigin } from '../../src/store/foreign-writes.ts';
import type { StreamName } from '../../src/streams/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';

/** What every pair of one step is read and written with. */
export interface ExchangeContext {
  deps: ActivityDeps;
  connection: Connection;
  key: { tenantId: string; stream: StreamName };
  runId: string;
  mapping: Mapping;
  /** The partner's custom fields, as they were when the step began. */
  defined: readonly FieldDefinition[];
  origin: WriteOrigin;
  /** A person asked for the run: much may be emptied. */
  full: boolean;
}
