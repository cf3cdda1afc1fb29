import { sql } from 'kysely';
import { listHolds } from '../../store/holds.ts';
import type { Store } from '../../store/open-store.ts';
import type { HireState, InboxState } from '../../store/schema.ts';
import { readClock } from '../../store/tenant-states.ts';
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
  const [states, hires, inbox, holds, streams] = await Promise.all([
    readStates(store),
    countHires(store),
    countInbox(store),
    listHolds(store),
    readStreams(store, now),
  ]);
  const ids = [...new Set([...known, ...states.keys()])].sort();
  const tenants = ids.map((tenantId): TenantStatus => {
    const mine = inbox.filter((row) => row.tenant_id === tenantId);
    const oldest = mine.find((row) => row.state === 'waiting')?.oldest;
    return {
      tenantId,
      ...tenantFacts(states.get(tenantId), now),
      hires: Object.fromEntries(
        hires.filter((row) => row.tenant_id === tenantId).map((row) => [row.state, Number(row.count)]),
      ),
      inbox: {
        counts: Object.fromEntries(mine.map((row) => [row.state, Number(row.count)])),
        ...(oldest === undefined ? {} : { oldestWaitingMs: now - Number(oldest) }),
      },
      streams: streams.get(tenantId) ?? [],
    };
  });
  return { installationId: store.installationId, tenants, holds: holds.map((hold) => holdFacts(hold, now)) };
}

type StateRow = Awaited<ReturnType<typeof readStates>> extends Map<string, infer Row> ? Row : never;

async function readStates(store: Store) {
  const rows = await store.kysely.selectFrom('tenants').selectAll().execute();
  return new Map(rows.map((row) => [row.tenant_id, row]));
}

function tenantFacts(
  row: StateRow | undefined,
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

async function countHires(store: Store) {
  return store.kysely
    .selectFrom('hires')
    .select(['tenant_id', 'state', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy(['tenant_id', 'state'])
    .execute();
}

async function countInbox(store: Store) {
  return store.kysely
    .selectFrom('inbox')
    .select([
      'tenant_id',
      'state',
      (eb) => eb.fn.countAll<number>().as('count'),
      sql<number>`min(received_at)`.as('oldest'),
    ])
    .groupBy(['tenant_id', 'state'])
    .execute();
}

function holdFacts(hold: Awaited<ReturnType<typeof listHolds>>[number], now: number): Status['holds'][number] {
  const { hold_id: holdId, tenant_id: tenantId, job_candidate_id: jobCandidateId, code, message } = hold;
  return { holdId, tenantId, jobCandidateId, code, message, ageMs: now - Number(hold.opened_at) };
}
