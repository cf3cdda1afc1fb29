import { sql } from 'kysely';
import type { Store } from './open-store.ts';
import type { AlarmKind, AlarmRow } from './schema.ts';

/** The activity of one hire, or the value of one field, that an alarm is about. */
export interface AlarmKey {
  tenantId: string;
  kind: AlarmKind;
  /** Ids, names of activities and fields, or codes; no personal data. */
  subject: string;
}

export interface Trouble extends AlarmKey {
  /** A code. */
  reason: string;
  /** Says what happened, why, and the next step; no personal data. */
  message: string;
}

/**
 * Notes trouble, and raises its alarm once the trouble has lasted `afterMs`. `raised` is true only for the call that
 * raised the alarm, so that the alarm is logged once; `times` counts the notes so far.
 */
export async function noteTrouble(
  store: Store,
  trouble: Trouble,
  afterMs: number,
): Promise<{ raised: boolean; times: number }> {
  const { reason, message } = trouble;
  const key = { tenant_id: trouble.tenantId, kind: trouble.kind, subject: trouble.subject };
  const { times } = await store.kysely
    .insertInto('alarms')
    .values({ ...key, reason, message, since: store.now, last_seen_at: store.now, times: 1 })
    .onConflict((c) =>
      c
        .columns(['tenant_id', 'kind', 'subject'])
        .doUpdateSet((eb) => ({ reason, message, last_seen_at: store.now, times: eb('alarms.times', '+', 1) })),
    )
    .returning('times')
    .executeTakeFirstOrThrow();
  const raised = await rowOf(store, trouble)
    .set({ raised_at: store.now })
    .where('raised_at', 'is', null)
    .where(sql<boolean>`since + ${afterMs} <= ${store.now}`)
    .executeTakeFirst();
  return { raised: raised.numUpdatedRows === 1n, times };
}

/** Leaves the next `ms` out of the trouble's age: the work waits, so nobody can tell whether it would fail. */
export async function postponeTrouble(store: Store, key: AlarmKey, ms: number): Promise<void> {
  await rowOf(store, key)
    .set((eb) => ({ since: eb('since', '+', Math.ceil(ms)) }))
    .where('raised_at', 'is', null)
    .execute();
}

/** Ends trouble. Returns whether an alarm was raised for it. */
export async function clearTrouble(store: Store, key: AlarmKey): Promise<boolean> {
  const row = await store.kysely
    .deleteFrom('alarms')
    .where('tenant_id', '=', key.tenantId)
    .where('kind', '=', key.kind)
    .where('subject', '=', key.subject)
    .returning('raised_at')
    .executeTakeFirst();
  return row !== undefined && row.raised_at !== null;
}

/** Forgets trouble that was not noted for `unseenMs`: its work was given up. */
export async function forgetTrouble(store: Store, kind: AlarmKind, unseenMs: number): Promise<void> {
  await store.kysely
    .deleteFrom('alarms')
    .where('kind', '=', kind)
    .where(sql<boolean>`last_seen_at + ${unseenMs} <= ${store.now}`)
    .execute();
}

/** Every raised alarm, oldest first. */
export async function listAlarms(store: Store, tenantId?: string): Promise<AlarmRow[]> {
  let query = store.kysely.selectFrom('alarms').selectAll().where('raised_at', 'is not', null).orderBy('since');
  if (tenantId !== undefined) query = query.where('tenant_id', '=', tenantId);
  return query.execute();
}

/** What fails for a stream or a hire now, even if it is too young to be an alarm; the newest. */
export async function readTrouble(store: Store, tenantId: string, of: string): Promise<AlarmRow | undefined> {
  return store.kysely
    .selectFrom('alarms')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'activity-failing')
    .where('subject', 'like', `% of ${of}`)
    .orderBy('last_seen_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function rowOf(store: Store, key: AlarmKey) {
  return store.kysely
    .updateTable('alarms')
    .where('tenant_id', '=', key.tenantId)
    .where('kind', '=', key.kind)
    .where('subject', '=', key.subject);
}
