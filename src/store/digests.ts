import { listAlarms } from './alarms.ts';
import type { Store } from './open-store.ts';

/** Each list names at most this many; the counts cover all. */
const MOST_NAMED = 100;

/** Events of a tenant's hires in a span of time, and what waits for a person. Ids and codes only. */
export interface Digest {
  tenantId: string;
  from: string;
  to: string;
  hires: { begun: number; ended: Record<string, number>; open: number; done: string[] };
  /** `opened` counts holds opened in the span; `waiting` lists holds open now, with the command that shows each. */
  holds: {
    opened: number;
    open: number;
    waiting: { holdId: string; jobCandidateId: string | null; code: string; since: string; command: string }[];
  };
  alarms: { kind: string; subject: string; reason: string; message: string }[];
}

/** The tenant's digest of a span (ms since 1970). What is open is reported as of now. */
export async function readDigest(store: Store, tenantId: string, from: number, to: number): Promise<Digest> {
  const [ended, done, begun, open] = await readHires(store, tenantId, from, to);
  const holds = store.kysely.selectFrom('holds').where('tenant_id', '=', tenantId);
  const opened = await holds
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('opened_at', '>=', from)
    .where('opened_at', '<', to)
    .executeTakeFirstOrThrow();
  const waiting = await holds
    .select(['hold_id', 'job_candidate_id', 'code', 'opened_at'])
    .where('closed_at', 'is', null)
    .orderBy('opened_at')
    .execute();
  return {
    tenantId,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    hires: { begun, ended, open, done },
    holds: { opened: Number(opened.count), open: waiting.length, waiting: waiting.slice(0, MOST_NAMED).map(holdFacts) },
    alarms: (await listAlarms(store, tenantId)).map(({ kind, subject, reason, message }) => ({
      kind,
      subject,
      reason,
      message,
    })),
  };
}

async function readHires(
  store: Store,
  tenantId: string,
  from: number,
  to: number,
): Promise<[ended: Record<string, number>, done: string[], begun: number, open: number]> {
  const own = store.kysely.selectFrom('hires').where('tenant_id', '=', tenantId);
  const over = await own
    .select(['job_candidate_id', 'state'])
    .where('ended_at', '>=', from)
    .where('ended_at', '<', to)
    .where('state', '!=', 'before-go-live')
    .orderBy('ended_at')
    .execute();
  const count = own.select((eb) => eb.fn.countAll<number>().as('count'));
  const begun = await count
    .where('opened_at', '>=', from)
    .where('opened_at', '<', to)
    .where('state', '!=', 'before-go-live')
    .executeTakeFirstOrThrow();
  const open = await count.where('state', '=', 'open').executeTakeFirstOrThrow();
  const byState = Map.groupBy(over, ({ state }) => state);
  const ended = Object.fromEntries([...byState].map(([state, rows]) => [state, rows.length]));
  const done = (byState.get('done') ?? []).slice(0, MOST_NAMED).map((row) => row.job_candidate_id);
  return [ended, done, Number(begun.count), Number(open.count)];
}

function holdFacts(row: { hold_id: string; job_candidate_id: string | null; code: string; opened_at: number }) {
  return {
    holdId: row.hold_id,
    jobCandidateId: row.job_candidate_id,
    code: row.code,
    since: new Date(Number(row.opened_at)).toISOString(),
    command: `hirebridge hold show ${row.hold_id}`,
  };
}

/** Records that the tenant was sent its digest of this day. */
export async function recordDigest(store: Store, tenantId: string, day: string): Promise<void> {
  await store.kysely.updateTable('tenants').set({ digested_on: day }).where('tenant_id', '=', tenantId).execute();
}
