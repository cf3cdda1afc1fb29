import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { ListedJob } from '../../src/plan/plan-requisition.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { RequisitionRow } from '../../src/store/push-tables.ts';
import type { StreamKey } from '../../src/store/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Elapsed } from '../hire/write-once.ts';
import type { RequisitionSettings } from './wanted-job.ts';

/** One pass over the open requisitions, and what both sides held when it began. */
export interface RequisitionRun {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey;
  runId: string;
  mapping: Mapping;
  settings: RequisitionSettings;
  defined: readonly FieldDefinition[];
  jobs: readonly ListedJob[];
  rows: ReadonlyMap<string, RequisitionRow>;
  /** The database's clock before the jobs were read. */
  now: number;
  /** Time since the jobs were read. */
  sinceLook: Elapsed;
}
