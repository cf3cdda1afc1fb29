import { sql } from 'kysely';
import { countOf, didChange, given, has, type Store, tenantsIn } from './open-store.ts';
import { type AlarmKind, type AlarmRow, derivedAlarms } from './schema.ts';
import { changeTenant } from './tenant-states.ts';

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

/** What a comparison found: an alarm once it was found for `afterMs` (0 by default), no matter by which process. */
export interface Found extends Trouble {
  afterMs?: number;
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
  const key = alarmColumns(trouble);
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
  return { raised: await raise(store, trouble, afterMs), times };
}

function raise(store: Store, key: AlarmKey, afterMs: number): Promise<boolean> {
  const raising = rowOf(store, key)
    .set({ raised_at: store.now })
    .where('raised_at', 'is', null)
    .where(sql<boolean>`since + ${afterMs} <= ${store.now}`);
  return didChange(raising);
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
  const gone = store.kysely.deleteFrom('alarms').where(has(alarmColumns(key)));
  const row = await gone.returning('raised_at').executeTakeFirst();
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
  const raised = store.kysely.selectFrom('alarms').selectAll().where('raised_at', 'is not', null).orderBy('since');
  return raised.$call(given({ tenant_id: tenantId })).execute();
}

/** The newest failure of a stream or a hire, even if it is too young to be an alarm. */
export async function readTrouble(store: Store, tenantId: string, of: string): Promise<AlarmRow | undefined> {
  return store.kysely
    .selectFrom('alarms')
    .selectAll()
    .where(has({ tenant_id: tenantId, kind: 'activity-failing' }))
    .where('subject', 'like', `% of ${of}`)
    .orderBy('last_seen_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function rowOf(store: Store, key: AlarmKey) {
  return store.kysely.updateTable('alarms').where(has(alarmColumns(key)));
}

function alarmColumns({ tenantId: tenant_id, kind, subject }: AlarmKey) {
  return { tenant_id, kind, subject };
}

/**
 * Makes the derived alarms match these troubles: raises new ones and ends those that are over; exactly one process
 * reports each. Alarms that stay as they are cost no write.
 */
export async function alignAlarms(
  store: Store,
  troubles: readonly Found[],
): Promise<{ raised: Trouble[]; over: AlarmKey[] }> {
  const rows = await store.kysely
    .selectFrom('alarms')
    .select(['tenant_id', 'kind', 'subject', 'reason', 'message', 'raised_at'])
    .where('kind', 'in', derivedAlarms)
    .execute();
  const known = rows.map(({ tenant_id: tenantId, ...row }) => ({ tenantId, ...row }));
  const wantedKeys = new Set(troubles.map(keyText));
  const knownByKey = new Map(known.map((one) => [keyText(one), one]));
  const raised: Trouble[] = [];
  for (const trouble of troubles) {
    const before = knownByKey.get(keyText(trouble));
    const { afterMs = 0 } = trouble;
    if (before !== undefined) await renewTrouble(store, before, trouble);
    const isAlarm = before === undefined && (await noteTrouble(store, trouble, afterMs)).raised;
    if (isAlarm || (before?.raised_at === null && (await raise(store, trouble, afterMs)))) raised.push(trouble);
  }
  const over: AlarmKey[] = [];
  for (const key of known.filter((one) => !wantedKeys.has(keyText(one))))
    if (await clearTrouble(store, key)) over.push(key);
  return { raised, over };
}

/** Gives an alarm the latest reason and message. Another reason is told anew. */
async function renewTrouble(store: Store, before: Trouble, { reason, message, ...key }: Trouble): Promise<void> {
  if (before.reason === reason && before.message === message) return;
  const told = before.reason === reason ? {} : { notified_at: null };
  await rowOf(store, key)
    .set({ reason, message, last_seen_at: store.now, ...told })
    .execute();
}

function keyText({ tenantId, kind, subject }: AlarmKey): string {
  return JSON.stringify([tenantId, kind, subject]);
}

/** Deliveries of one event without effect. */
export interface StuckDeliveries {
  tenantId: string;
  state: 'unknown' | 'undeliverable';
  event: string;
  count: number;
}

/** Counts undeliverable deliveries, and deliveries of an unknown event received within the last `unknownMs`. */
export async function countStuck(store: Store, unknownMs: number): Promise<StuckDeliveries[]> {
  return (
    store.kysely
      .selectFrom('inbox')
      .select(['tenant_id as tenantId', 'state', 'event', (eb) => eb.fn.countAll<number>().as('count')])
      // Written literally, so that the planner uses the partial index.
      .where(sql<boolean>`state in ('unknown', 'undeliverable')`)
      .where((eb) =>
        eb.or([
          eb('state', '=', 'undeliverable'),
          eb('received_at', '>', sql<number>`${store.now} - ${sql.lit(unknownMs)}`),
        ]),
      )
      .groupBy(['tenant_id', 'state', 'event'])
      .orderBy('tenant_id')
      .orderBy('event')
      .$narrowType<Pick<StuckDeliveries, 'state'>>()
      .execute()
  );
}

/** Tenants with an open hold or a raised alarm that was not notified yet. */
export async function tenantsToTell(store: Store): Promise<Set<string>> {
  const holds = store.kysely.selectFrom('holds').select('tenant_id');
  const untold = holds.where(sql<boolean>`notified_at is null and closed_at is null`);
  return tenantsIn(untold.union(untoldAlarms(store).select('tenant_id')));
}

/** A tenant's raised alarms that were not notified yet, oldest first. */
export async function unnotifiedAlarms(store: Store, tenantId: string, limit: number): Promise<AlarmRow[]> {
  return untoldAlarms(store).selectAll().where('tenant_id', '=', tenantId).orderBy('since').limit(limit).execute();
}

/** A failure may have two reasons in turn: each further one is told after this time. */
const NEXT_REASON_MS = 3_600_000;

function untoldAlarms(store: Store) {
  return store.kysely
    .selectFrom('alarms')
    .where('raised_at', 'is not', null)
    .where(
      sql<boolean>`(notified_at is null or
        (notified_reason <> reason and notified_at <= ${store.now} - ${sql.lit(NEXT_REASON_MS)}))`,
    );
}

/** By tenant, since when its oldest hold or alarm waits to be told. */
export async function untoldSince(store: Store): Promise<Map<string, number>> {
  const holds = store.kysely
    .selectFrom('holds')
    .select(['tenant_id', 'opened_at as at'])
    .where(sql<boolean>`notified_at is null and closed_at is null`);
  const alarms = untoldAlarms(store).where('kind', '<>', 'notices-waiting').select(['tenant_id', 'raised_at as at']);
  const rows = await store.kysely
    .selectFrom(holds.unionAll(alarms.$castTo<{ tenant_id: string; at: number }>()).as('untold'))
    .select(['tenant_id', (eb) => eb.fn.min('at').as('at')])
    .groupBy('tenant_id')
    .execute();
  return new Map(rows.map(({ tenant_id, at }) => [tenant_id, Number(at)]));
}

export async function markAlarmNotified(
  store: Store,
  { tenant_id: tenantId, kind, subject, reason }: Pick<AlarmRow, 'tenant_id' | 'kind' | 'subject' | 'reason'>,
): Promise<void> {
  await rowOf(store, { tenantId, kind, subject }).set({ notified_at: store.now, notified_reason: reason }).execute();
}

/** Reserves the right to notify this tenant's address for `ms`; false while another process has it. */
export async function leaseNotices(store: Store, tenantId: string, ms: number): Promise<boolean> {
  return didChange(
    store.kysely
      .updateTable('tenants')
      .set({ notify_until: sql<number>`${store.now} + ${ms}` })
      .where('tenant_id', '=', tenantId)
      .where((eb) => eb.or([eb('notify_until', 'is', null), eb('notify_until', '<=', store.now)])),
  );
}

export async function releaseNotices(store: Store, tenantId: string): Promise<void> {
  await changeTenant(store, tenantId, { notify_until: null });
}

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
  const holds = store.kysely.selectFrom('holds').where('tenant_id', '=', tenantId);
  const opened = await countOf(holds.where('opened_at', '>=', from).where('opened_at', '<', to));
  const waiting = await holds
    .select(['hold_id', 'job_candidate_id', 'code', 'opened_at'])
    .where('closed_at', 'is', null)
    .orderBy('opened_at')
    .execute();
  return {
    tenantId,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    hires: await readHires(store, tenantId, from, to),
    holds: { opened, open: waiting.length, waiting: waiting.slice(0, MOST_NAMED).map(holdFacts) },
    alarms: (await listAlarms(store, tenantId)).map(({ kind, subject, reason, message }) => ({
      kind,
      subject,
      reason,
      message,
    })),
  };
}

async function readHires(store: Store, tenantId: string, from: number, to: number): Promise<Digest['hires']> {
  const own = store.kysely.selectFrom('hires').where('tenant_id', '=', tenantId);
  const over = await own
    .select(['job_candidate_id', 'state'])
    .where('ended_at', '>=', from)
    .where('ended_at', '<', to)
    .where('state', '!=', 'before-go-live')
    .orderBy('ended_at')
    .execute();
  const opened = own.where('opened_at', '>=', from).where('opened_at', '<', to);
  const begun = await countOf(opened.where('state', '!=', 'before-go-live'));
  const open = await countOf(own.where('state', '=', 'open'));
  const byState = Map.groupBy(over, ({ state }) => state);
  const ended = Object.fromEntries([...byState].map(([state, rows]) => [state, rows.length]));
  const done = (byState.get('done') ?? []).slice(0, MOST_NAMED).map((row) => row.job_candidate_id);
  return { begun, ended, open, done };
}

function holdFacts(row: { hold_id: string; job_candidate_id: string | null; code: string; opened_at: number }) {
  return {
    holdId: row.hold_id,
    jobCandidateId: row.job_candidate_id,
    code: row.code,
    since: new Date(row.opened_at).toISOString(),
    command: `hirebridge hold show ${row.hold_id}`,
  };
}

/** Records that the tenant was sent its digest of this day. */
export async function recordDigest(store: Store, tenantId: string, day: string): Promise<void> {
  await changeTenant(store, tenantId, { digested_on: day });
}
