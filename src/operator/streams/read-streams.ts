import { oldestHints } from '../../store/hints.ts';
import type { Store } from '../../store/open-store.ts';
import { countQuarantined } from '../../store/quarantine.ts';
import type { StreamRow } from '../../store/schema.ts';
import { listStreamStates, type StreamState as Standing } from '../../store/stream-states.ts';
import type { StreamState } from '../../store/stream-tables.ts';
import { listStreams } from '../../store/streams.ts';

/** The latest run of one stream, and what stands in quarantine now. */
export interface StreamStatus {
  stream: string;
  state: StreamState;
  /** Since the run ended, or wrote last. */
  ageMs: number;
  counts: { read: number; unchanged: number; created: number; updated: number; skipped: number; held: number };
  /** Of all records, where the partner says. */
  total?: number;
  quarantined: number;
  /** Why the run was refused. */
  refused?: { code: string; message: string };
  /** Who paused it; until it is resumed nothing runs. */
  pausedBy?: string;
  /** Records as the latest pass over the whole list found them: on either side, and how long ago it began. */
  coverage?: { partner: number; hris: number; ageMs: number };
  /** How long the oldest hint has waited. */
  hintsWaitMs?: number;
}

/** By tenant, each in the order of its streams' names. */
export async function readStreams(store: Store, now: number): Promise<Map<string, StreamStatus[]>> {
  const [runs, left, standing, hinted] = await Promise.all([
    listStreams(store),
    countQuarantined(store),
    listStreamStates(store),
    oldestHints(store),
  ]);
  const standOf = new Map(standing.map((row) => [`${row.tenant_id} ${row.stream}`, row]));
  const hintedAt = new Map(hinted.map((row) => [`${row.tenantId} ${row.stream}`, row.hintedAt]));
  const leftOut = new Map(left.map((row) => [`${row.tenantId} ${row.stream}`, row.count]));
  const byTenant = Map.groupBy(runs, (run) => run.tenant_id);
  const view = (run: StreamRow): StreamStatus => {
    const name = `${run.tenant_id} ${run.stream}`;
    const since = hintedAt.get(name);
    const waits = since === undefined ? {} : { hintsWaitMs: now - since };
    return { ...viewStream(run, leftOut.get(name) ?? 0, now), ...viewStanding(standOf.get(name), now), ...waits };
  };
  return new Map([...byTenant].map(([tenantId, own]) => [tenantId, own.map(view)]));
}

function viewStream(run: StreamRow, quarantined: number, now: number): StreamStatus {
  const { stream, state, seen, unchanged, created, updated, skipped, held, total } = run;
  return {
    stream,
    state,
    ageMs: now - Number(run.ended_at ?? run.updated_at),
    counts: { read: seen, unchanged, created, updated, skipped, held },
    ...(total === null ? {} : { total }),
    quarantined,
    ...(run.refused_code === null ? {} : { refused: { code: run.refused_code, message: run.refused_message ?? '' } }),
  };
}

function viewStanding(standing: Standing | undefined, now: number): Pick<StreamStatus, 'pausedBy' | 'coverage'> {
  if (standing === undefined) return {};
  const { paused_by: by, whole_at: wholeAt, listed, landed } = standing;
  const paused = by === null ? {} : { pausedBy: by };
  if (wholeAt === null) return paused;
  return { ...paused, coverage: { partner: listed ?? 0, hris: landed ?? 0, ageMs: now - Number(wholeAt) } };
}
