import type { Store } from './open-store.ts';

export type Role = 'worker' | 'receiver';
export type Side = 'partner' | 'hris';

/** A process as it was last seen, by the database's clock. */
export interface SeenProcess {
  role: Role;
  version: string;
  host: string;
  startedAt: number;
  seenAt: number;
  endedAt: number | null;
}

/** Processes that were seen no more for this long are forgotten. */
const FORGET_MS = 7 * 86_400_000;

/** Says that a process runs. Idempotent. */
export async function noteProcess(
  { kysely, now }: Store,
  { processId, role, version, host }: { processId: string; role: Role; version: string; host: string },
): Promise<void> {
  await kysely
    .insertInto('processes')
    .values({ process_id: processId, role, version, host, started_at: now, seen_at: now, ended_at: null })
    .onConflict((c) => c.column('process_id').doUpdateSet({ seen_at: now }))
    .execute();
}

export async function endProcess({ kysely, now }: Store, processId: string): Promise<void> {
  await kysely
    .updateTable('processes')
    .set({ seen_at: now, ended_at: now })
    .where('process_id', '=', processId)
    .execute();
}

/** Every process seen in the last week, latest first. */
export async function listProcesses({ kysely }: Store, now: number): Promise<SeenProcess[]> {
  const rows = await kysely
    .selectFrom('processes')
    .selectAll()
    .where('seen_at', '>', now - FORGET_MS)
    .orderBy('seen_at', 'desc')
    .execute();
  return rows.map((row) => ({
    role: row.role,
    version: row.version,
    host: row.host,
    startedAt: Number(row.started_at),
    seenAt: Number(row.seen_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
  }));
}

/** These sides have answered just now. */
export async function noteAnswers(
  { kysely, now }: Store,
  answered: readonly { tenantId: string; side: Side }[],
): Promise<void> {
  if (answered.length === 0) return;
  await kysely
    .insertInto('answers')
    .values(answered.map(({ tenantId, side }) => ({ tenant_id: tenantId, side, answered_at: now })))
    .onConflict((c) => c.columns(['tenant_id', 'side']).doUpdateSet({ answered_at: now }))
    .execute();
}

/** When each side last answered, by tenant. */
export async function listAnswers({ kysely }: Store): Promise<Map<string, Partial<Record<Side, number>>>> {
  const found = new Map<string, Partial<Record<Side, number>>>();
  for (const { tenant_id: tenantId, side, answered_at: at } of await kysely.selectFrom('answers').selectAll().execute())
    found.set(tenantId, { ...found.get(tenantId), [side]: Number(at) });
  return found;
}

export async function forgetProcesses({ kysely, now }: Store): Promise<void> {
  await kysely
    .deleteFrom('processes')
    .where((eb) => eb('seen_at', '<', eb(now, '-', FORGET_MS)))
    .execute();
}
