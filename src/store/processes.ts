import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import packageFile from '../../package.json' with { type: 'json' };
import type { Logger } from '../log.ts';
import { within } from '../within.ts';
import { given, has, put, type Store } from './open-store.ts';

export type Role = 'worker' | 'receiver';
type Side = 'partner' | 'hris';

/** A process as it was last seen, by the database's clock. */
export interface SeenProcess {
  role: Role;
  version: string;
  host: string;
  startedAt: number;
  seenAt: number;
  endedAt: number | null;
  /** Why it can do no work although it runs. */
  trouble: string | null;
}

/** Processes not seen for this long are forgotten. */
const FORGET_MS = 7 * 86_400_000;

export interface Presence {
  /** A side of a tenant has answered; stored with the next beat. */
  answered(tenantId: string, side: Side): void;
  /** Why the last beat could not be stored; undefined if it was. */
  unwritten(): string | undefined;
  close(): Promise<void>;
}

/** How often a process reports that it runs. */
const BEAT_MS = 10_000;
const MOST_AT_ONCE = 500;

/** Reports this process to the store while it runs. A failed report is repeated with the next beat. */
export function keepPresence(
  store: Store,
  role: Role,
  log: Logger,
  trouble: () => Promise<string | null> = async () => null,
): Presence {
  const own = { processId: randomUUID(), role, version: packageFile.version, host: `${hostname()} (${process.pid})` };
  const answers = new Map<string, { tenantId: string; side: Side }>();
  let beating: Promise<void> | undefined;
  let unwritten: string | undefined;
  const beat = async (): Promise<void> => {
    await noteProcess(store, { ...own, trouble: await trouble() });
    const told = [...answers].slice(0, MOST_AT_ONCE);
    for (const [key] of told) answers.delete(key);
    await noteAnswers(
      store,
      told.map(([, one]) => one),
    );
  };
  const tick = (): void => {
    beating ??= beat()
      .then(() => {
        unwritten = undefined;
      })
      .catch((error: unknown) => {
        const { code } = error as { code?: unknown };
        unwritten = typeof code === 'string' ? code : 'error';
        log.debug({ err: error }, 'no word could be left in the store');
      })
      .finally(() => {
        beating = undefined;
      });
  };
  tick();
  void forgetProcesses(store).catch(() => undefined);
  const timer = setInterval(tick, BEAT_MS);
  return {
    unwritten: () => unwritten,
    answered: (tenantId, side) => void answers.set(`${side} ${tenantId}`, { tenantId, side }),
    async close() {
      clearInterval(timer);
      await beating;
      await endProcess(store, own.processId).catch(() => undefined);
    },
  };
}

/** Reports that a process runs. Idempotent. */
export async function noteProcess(
  { kysely, now }: Store,
  own: { processId: string; role: Role; version: string; host: string; trouble?: string | null },
): Promise<void> {
  const { processId, role, version, host, trouble = null } = own;
  const row = { process_id: processId, role, version, host, started_at: now, seen_at: now, ended_at: null, trouble };
  await put({ kysely }, 'processes', [row], { key: ['process_id'], set: ['seen_at', 'trouble'] });
}

async function endProcess({ kysely, now }: Store, processId: string): Promise<void> {
  await kysely
    .updateTable('processes')
    .set({ seen_at: now, ended_at: now })
    .where('process_id', '=', processId)
    .execute();
}

/** Every process seen in the last week, latest first. */
export async function listProcesses({ kysely }: Store, now: number): Promise<SeenProcess[]> {
  return kysely
    .selectFrom('processes')
    .select(['role', 'version', 'host', 'started_at as startedAt', 'seen_at as seenAt', 'ended_at as endedAt'])
    .select('trouble')
    .where('seen_at', '>', now - FORGET_MS)
    .orderBy('seen_at', 'desc')
    .execute();
}

/** Records that these sides answered just now. */
async function noteAnswers(
  { kysely, now }: Store,
  answered: readonly { tenantId: string; side: Side }[],
): Promise<void> {
  const rows = answered.map(({ tenantId, side }) => ({ tenant_id: tenantId, side, answered_at: now }));
  await put({ kysely }, 'answers', rows, { key: ['tenant_id', 'side'], set: ['answered_at'] });
}

/** When each side last answered, by tenant: of these, or of all. */
export async function listAnswers(
  { kysely }: Store,
  tenantIds?: readonly string[],
): Promise<Map<string, Partial<Record<Side, number>>>> {
  const found = new Map<string, Partial<Record<Side, number>>>();
  const rows = kysely.selectFrom('answers').selectAll();
  for (const { tenant_id: tenantId, side, answered_at: at } of await rows
    .$call(given({ tenant_id: tenantIds }))
    .execute())
    found.set(tenantId, { ...found.get(tenantId), [side]: at });
  return found;
}

async function forgetProcesses({ kysely, now }: Store): Promise<void> {
  await kysely
    .deleteFrom('processes')
    .where((eb) => eb('seen_at', '<', eb(now, '-', FORGET_MS)))
    .execute();
}

/**
 * chores: timed work for the whole fleet. schedules: maintains Temporal's schedules. events: sends a tenant's events.
 * erasures: carries out a tenant's erasures, one at a time. news: asks HR systems whose records were edited. doctor:
 * tries whether the store takes writes.
 */
type LeaseName = 'chores' | 'schedules' | 'news' | 'doctor' | `erasures ${string}` | `events ${string}`;

export interface Lease {
  /** Whether this process has the lease, for `forMs` unless it takes it again. */
  take(forMs: number): Promise<boolean>;
  /** Releases the lease, so that another process can take it at once. */
  end(): Promise<void>;
  /** Releases the lease at a process's end, within `mostMs`: a lease that cannot be released expires by itself. */
  leave(mostMs: number): Promise<void>;
}

/** Longer than a lease of another process, which may take it for longer than this one. */
const LONGEST_MS = 3_600_000;

/** A lease on work that one process does for the whole fleet. Its holder keeps it as long as it renews it in time. */
export function createLease({ kysely, now }: Store, name: LeaseName): Lease {
  const holder = randomUUID();
  const end = async (): Promise<void> => {
    await kysely.deleteFrom('leases').where(has({ name, holder })).execute();
  };
  return {
    async take(forMs) {
      const taken = await kysely
        .insertInto('leases')
        .values({ name, holder, leased_until: sql<number>`${now} + ${sql.lit(forMs)}` })
        .onConflict((c) =>
          c
            .column('name')
            .doUpdateSet((eb) => ({ holder, leased_until: eb.ref('excluded.leased_until') }))
            .where((eb) => {
              const until = eb.ref('leases.leased_until');
              // Taken before the clock was set back: its holder would be waited for by as much.
              const isBefore = eb(until, '>', sql<number>`${now} + ${sql.lit(Math.max(2 * forMs, LONGEST_MS))}`);
              return eb.or([eb('leases.holder', '=', holder), eb(until, '<=', now), isBefore]);
            }),
        )
        .returning('name')
        .executeTakeFirst();
      return taken !== undefined;
    },
    end,
    async leave(mostMs) {
      await within(
        mostMs,
        end().catch(() => undefined),
      );
    },
  };
}
