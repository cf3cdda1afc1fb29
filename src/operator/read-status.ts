import type { HireState } from '../hire/hire-state.ts';
import { countHires } from '../store/hires.ts';
import { listHolds } from '../store/holds.ts';
import { countDeliveries, type InboxCount } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import type { InboxState, TenantRow } from '../store/schema.ts';
import { listTenantStates, readClock } from '../store/tenant-states.ts';
import { readStreams, type StreamStatus } from './read-streams.ts';

/** What `status` shows: counts, ages in milliseconds on the database's clock, and codes. No personal data. */
export interface Status {
  installationId: string;
  tenants: TenantStatus[];
  holds: {
    holdId: string;
    tenantId: string;
    jobCandidateId: string | null;
    code: string;
    message: string;
    ageMs: number;
  }[];
}

export interface TenantStatus {
  tenantId: string;
  state: 'active' | 'paused' | 'not seen yet';
  /** Why it is paused. */
  paused?: { code: string; message: string };
  baseline: 'done' | 'running' | 'not started';
  reconcileAgeMs?: number;
  creditGateClosed: boolean;
  hires: Partial<Record<HireState, number>>;
  inbox: { counts: Partial<Record<InboxState, number>>; oldestWaitingMs?: number };
  /** The latest run of each stream that ever ran. */
  streams: StreamStatus[];
}

/** Reads the state of these tenants and of every tenant the store knows. */
export async function readStatus(store: Store, known: readonly string[]): Promise<Status> {
  const now = await readClock(store);
  const [rows, hires, deliveries, holds, streams] = await Promise.all([
    listTenantStates(store),
    countHires(store),
    countDeliveries(store),
    listHolds(store),
    readStreams(store, now),
  ]);
  const states = new Map(rows.map((row) => [row.tenant_id, row]));
  const hiresOf = Map.groupBy(hires, ({ tenantId }) => tenantId);
  const deliveriesOf = Map.groupBy(deliveries, ({ tenantId }) => tenantId);
  const ids = [...new Set([...known, ...states.keys()])].sort();
  const tenants = ids.map((tenantId) => ({
    tenantId,
    ...tenantFacts(states.get(tenantId), now),
    hires: countsByState(hiresOf.get(tenantId) ?? []),
    inbox: inboxFacts(deliveriesOf.get(tenantId) ?? [], now),
    streams: streams.get(tenantId) ?? [],
  }));
  return { installationId: store.installationId, tenants, holds: holds.map((hold) => holdFacts(hold, now)) };
}

function tenantFacts(
  row: TenantRow | undefined,
  now: number,
): Omit<TenantStatus, 'tenantId' | 'hires' | 'inbox' | 'streams'> {
  if (row === undefined) return { state: 'not seen yet', baseline: 'not started', creditGateClosed: false };
  const paused =
    row.state === 'paused' ? { paused: { code: row.paused_code ?? '', message: row.paused_message ?? '' } } : {};
  const reconciled = row.reconciled_at === null ? {} : { reconcileAgeMs: now - Number(row.reconciled_at) };
  const begun = row.baseline_started_at === null ? 'not started' : 'running';
  const baseline = row.baseline_done_at === null ? begun : 'done';
  return { state: row.state, baseline, creditGateClosed: row.credit_gate !== null, ...paused, ...reconciled };
}

function inboxFacts(deliveries: readonly InboxCount[], now: number): TenantStatus['inbox'] {
  const waiting = deliveries.find(({ state }) => state === 'waiting');
  const oldest = waiting === undefined ? {} : { oldestWaitingMs: now - waiting.oldestAt };
  return { counts: countsByState(deliveries), ...oldest };
}

function countsByState<State extends string>(
  rows: readonly { state: State; count: number }[],
): Partial<Record<State, number>> {
  return Object.fromEntries(rows.map(({ state, count }) => [state, count])) as Partial<Record<State, number>>;
}

function holdFacts(hold: Awaited<ReturnType<typeof listHolds>>[number], now: number): Status['holds'][number] {
  const { hold_id: holdId, tenant_id: tenantId, job_candidate_id: jobCandidateId, code, message } = hold;
  return { holdId, tenantId, jobCandidateId, code, message, ageMs: now - Number(hold.opened_at) };
}
