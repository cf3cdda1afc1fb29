import type { Store } from '../store/open-store.ts';
import { countQuarantined } from '../store/quarantine.ts';
import type { StreamRow } from '../store/schema.ts';
import type { StreamState } from '../store/stream-tables.ts';
import { listStreams } from '../store/streams.ts';

/** The latest run of one stream, and what stands in quarantine now. */
export interface StreamStatus {
  stream: string;
  state: StreamState;
  /** Since the run ended, or wrote last. */
  ageMs: number;
  counts: { read: number; unchanged: number; created: number; updated: number };
  /** Of all records, where the partner says. */
  total?: number;
  quarantined: number;
  /** Why the run was refused. */
  refused?: { code: string; message: string };
}

/** By tenant, each in the order of its streams' names. */
export async function readStreams(store: Store, now: number): Promise<Map<string, StreamStatus[]>> {
  const [runs, left] = await Promise.all([listStreams(store), countQuarantined(store)]);
  const leftOut = new Map(left.map((row) => [`${row.tenantId} ${row.stream}`, row.count]));
  const byTenant = Map.groupBy(runs, (run) => run.tenant_id);
  const view = (run: StreamRow): StreamStatus =>
    viewStream(run, leftOut.get(`${run.tenant_id} ${run.stream}`) ?? 0, now);
  return new Map([...byTenant].map(([tenantId, own]) => [tenantId, own.map(view)]));
}

function viewStream(run: StreamRow, quarantined: number, now: number): StreamStatus {
  const { stream, state, seen, unchanged, created, updated, total } = run;
  return {
    stream,
    state,
    ageMs: now - Number(run.ended_at ?? run.updated_at),
    counts: { read: seen, unchanged, created, updated },
    ...(total === null ? {} : { total }),
    quarantined,
    ...(run.refused_code === null ? {} : { refused: { code: run.refused_code, message: run.refused_message ?? '' } }),
  };
}
