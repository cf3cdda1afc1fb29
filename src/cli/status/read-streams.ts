import type { Store } from '../../store/open-store.ts';
import type { StreamState } from '../../store/schema.ts';

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
  const [runs, left] = await Promise.all([
    store.kysely.selectFrom('streams').selectAll().orderBy('tenant_id').orderBy('stream').execute(),
    store.kysely
      .selectFrom('quarantine')
      .select(['tenant_id', 'stream', (eb) => eb.fn.countAll<number>().as('count')])
      .groupBy(['tenant_id', 'stream'])
      .execute(),
  ]);
  const leftOut = new Map(left.map((row) => [`${row.tenant_id} ${row.stream}`, Number(row.count)]));
  const byTenant = Map.groupBy(runs, (run) => run.tenant_id);
  return new Map(
    [...byTenant].map(([tenantId, own]) => [
      tenantId,
      own.map(
        ({ stream, state, seen, unchanged, created, updated, total, ...run }): StreamStatus => ({
          stream,
          state,
          ageMs: now - Number(run.ended_at ?? run.updated_at),
          counts: { read: seen, unchanged, created, updated },
          ...(total === null ? {} : { total }),
          quarantined: leftOut.get(`${tenantId} ${stream}`) ?? 0,
          ...(run.refused_code === null
            ? {}
            : { refused: { code: run.refused_code, message: run.refused_message ?? '' } }),
        }),
      ),
    ]),
  );
}
