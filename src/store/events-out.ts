import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { audit } from './audit.ts';
import { changedRows, has, inTransaction, onceNow, type Store, tenantsIn } from './open-store.ts';
import type { EventOutRow, Tables } from './schema.ts';

/** Matches tenants that send events out; the triggers use the same text. */
const IS_TOLD = sql<boolean>`coalesce(receives, '') like '%"events":true%'`;

/** Tenants with events to send now. One index lookup per tenant, however many events wait. */
export async function tenantsWithEvents({ kysely, now }: Store): Promise<Set<string>> {
  const waiting = kysely
    .selectFrom('tenants')
    .select('tenant_id')
    .where(IS_TOLD)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('events_out')
          .select('event_no')
          .whereRef('events_out.tenant_id', '=', 'tenants.tenant_id')
          .where('taken_at', 'is', null)
          .where('due_at', '<=', now),
      ),
    );
  return tenantsIn(waiting);
}

/** For each tenant with an undelivered event: when its oldest event occurred (ms), and the last try's error. */
export async function oldestUntaken({ kysely }: Store): Promise<Map<string, { at: number; error: string | null }>> {
  const rows = await kysely
    .selectFrom('tenants')
    .innerJoin('events_out', (join) =>
      join.on('event_no', '=', (eb) =>
        eb
          .selectFrom('events_out as first')
          .select('first.event_no')
          .whereRef('first.tenant_id', '=', 'tenants.tenant_id')
          .where('first.taken_at', 'is', null)
          .orderBy('first.event_no')
          .limit(1),
      ),
    )
    .select(['tenants.tenant_id', 'events_out.at', 'events_out.last_error'])
    .where(IS_TOLD)
    .execute();
  return new Map(rows.map((row) => [row.tenant_id, { at: row.at, error: row.last_error }]));
}

/**
 * The first undelivered event of each hire, if it is due: the hire's later events wait for it. Alarms belong to no hire
 * and wait for no event.
 */
export async function firstEvents({ kysely, now }: Store, tenantId: string, most: number): Promise<EventOutRow[]> {
  return kysely
    .selectFrom('events_out as first')
    .selectAll()
    .where(has({ tenant_id: tenantId, taken_at: null }))
    .where('due_at', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('events_out as before')
            .select('before.event_no')
            .whereRef('before.tenant_id', '=', 'first.tenant_id')
            .whereRef('before.job_candidate_id', '=', 'first.job_candidate_id')
            .where('before.job_candidate_id', '!=', '')
            .whereRef('before.event_no', '<', 'first.event_no')
            .where('before.taken_at', 'is', null),
        ),
      ),
    )
    .orderBy('event_no')
    .limit(most)
    .execute();
}

export async function markEventTaken({ kysely, now }: Store, eventId: string): Promise<void> {
  await kysely.updateTable('events_out').set({ taken_at: now }).where('event_id', '=', eventId).execute();
}

/** Tries the event again after `againMs`; later events of its hire wait for it. */
export async function markEventRefused(
  { kysely, now }: Store,
  eventId: string,
  { error, againMs }: { error: string; againMs: number },
): Promise<void> {
  await kysely
    .updateTable('events_out')
    .set((eb) => ({
      tries: eb('tries', '+', 1),
      last_error: error,
      due_at: sql<number>`${now} + ${sql.lit(Math.ceil(againMs))}`,
    }))
    .where('event_id', '=', eventId)
    .execute();
}

export interface WhichEvents {
  tenantId: string;
  /** Selects one event. */
  eventId?: string | undefined;
  jobCandidateId?: string | undefined;
  /** Selects events of the last `sinceMs` ms. */
  sinceMs?: number | undefined;
}

/** Latest first; `waiting` lists only undelivered events. */
export async function listEvents(
  store: Store,
  which: WhichEvents,
  { waiting, limit }: { waiting: boolean; limit?: number | undefined },
): Promise<EventOutRow[]> {
  let query = store.kysely.selectFrom('events_out').selectAll().where(chosen(store, which)).orderBy('event_no', 'desc');
  if (waiting) query = query.where('taken_at', 'is', null);
  return (limit === undefined ? query : query.limit(limit)).execute();
}

/** Sends events once more, in their order and with their ids. Returns how many. */
export async function replayEvents(store: Store, which: WhichEvents, by: string): Promise<number> {
  return inTransaction(store, async (open) => {
    const again = { taken_at: null, due_at: 0, tries: 0, last_error: null };
    const count = await changedRows(open.kysely.updateTable('events_out').set(again).where(chosen(open, which)));
    const { tenantId, eventId, jobCandidateId, sinceMs } = which;
    const details = JSON.stringify({ count, eventId, jobCandidateId, sinceMs });
    if (count > 0) await audit(open, { by, tenantId, act: 'events-replayed', details });
    return count;
  });
}

function chosen({ now }: Store, { tenantId, eventId, jobCandidateId, sinceMs }: WhichEvents) {
  return (eb: ExpressionBuilder<Tables, 'events_out'>): Expression<SqlBool> =>
    eb.and([
      eb('tenant_id', '=', tenantId),
      ...(eventId === undefined ? [] : [eb('event_id', '=', eventId)]),
      ...(jobCandidateId === undefined ? [] : [eb('job_candidate_id', '=', jobCandidateId)]),
      ...(sinceMs === undefined ? [] : [sql<boolean>`at >= ${now} - ${sql.lit(sinceMs)}`]),
    ]);
}

/** Deletes events delivered longer ago than `keptMs`, and undelivered ones of tenants that no longer send any. */
export async function purgeEvents(store: Store, keptMs: number): Promise<void> {
  const { kysely } = store;
  await kysely
    .deleteFrom('events_out')
    .where('taken_at', '<=', sql<number>`${onceNow(store)} - ${sql.lit(keptMs)}`)
    .execute();
  await kysely
    .deleteFrom('events_out')
    .where('taken_at', 'is', null)
    .where('tenant_id', 'in', (eb) => eb.selectFrom('tenants').select('tenant_id').where(sql<boolean>`not ${IS_TOLD}`))
    .execute();
}
