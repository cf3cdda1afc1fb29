import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { GivenAnswer } from '../hire/answers.ts';
import type { HireRef } from '../hire/hire.ts';
import {
  countOf,
  didChange,
  findsAny,
  given,
  has,
  hireColumns,
  inTransaction,
  ofHire,
  readInBatches,
  type Store,
  tenantsIn,
} from './open-store.ts';
import type { HoldRow } from './schema.ts';
import { sealed } from './sealed-values.ts';

interface NewHold {
  tenantId: string;
  /** Absent for a hold of the whole tenant. */
  jobCandidateId?: string;
  period?: number;
  /** Upper snake case, stable. */
  code: string;
  /** Says what happened, why, and the next step; no personal data. */
  message: string;
  answers: readonly string[];
  /** Ids and field names only. */
  details?: Record<string, unknown>;
}

/** An answer after which the same hold was opened again. */
interface EarlierAnswer {
  answer: string;
  by: string | null;
  /** By the database's clock, ms. */
  at: number;
}

/**
 * Opens a hold for a hire or a tenant; returns the open hold of the same hire and code if there is one. If the last
 * such hold was answered `retry` and asked the same, that hold is opened again with its id and answers. Another
 * question has another id, so that no answer reaches a question that its giver did not see.
 */
export async function openHold(store: Store, hold: NewHold): Promise<{ holdId: string; fresh: boolean }> {
  const goesOn = await reopenRetried(store, hold);
  if (goesOn !== undefined) return { holdId: goesOn, fresh: true };
  const holdId = randomUUID().slice(0, 8);
  // The unique index on open holds decides if several processes open the same hold at once.
  const making = store.kysely
    .insertInto('holds')
    .values({
      hold_id: holdId,
      tenant_id: hold.tenantId,
      job_candidate_id: hold.jobCandidateId ?? null,
      period: hold.period ?? null,
      code: hold.code,
      message: await sealed(store, 'holds.message', hold.tenantId, hold.message),
      answers: JSON.stringify(hold.answers),
      details: JSON.stringify(hold.details ?? {}),
      opened_at: store.now,
    })
    .onConflict((c) => c.doNothing());
  if (await didChange(making)) return { holdId, fresh: true };
  const open = await openHoldLike(store, hold).executeTakeFirst();
  // The hold was closed between the two statements, or the id was in use.
  return open === undefined ? openHold(store, hold) : { holdId: open.hold_id, fresh: false };
}

/** Hires only: a tenant's question that comes again gets a new hold. */
async function reopenRetried(store: Store, hold: NewHold): Promise<string | undefined> {
  const { tenantId, jobCandidateId, period, code, answers } = hold;
  if (jobCandidateId === undefined || period === undefined) return undefined;
  const key = { tenantId, jobCandidateId, period };
  const last = await store.kysely
    .selectFrom('holds')
    .selectAll()
    .where(has({ ...hireColumns(key), code }))
    .where('opened_at', '>=', openedAt(store, key))
    .orderBy('opened_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last === undefined || last.closed_at === null || last.answer !== 'retry') return undefined;
  const details = JSON.stringify(hold.details ?? {});
  if (withoutDays(last.details) !== withoutDays(details)) return undefined;
  if (last.details === details && last.message !== hold.message) return undefined;
  const earlier: EarlierAnswer = { answer: last.answer, by: last.answered_by, at: Number(last.answered_at) };
  const reopening = store.kysely
    .updateTable('holds')
    .set({
      message: await sealed(store, 'holds.message', tenantId, hold.message),
      details,
      answers: JSON.stringify(answers),
      answer: null,
      answer_arguments: null,
      answered_at: null,
      answered_by: null,
      closed_at: null,
      notified_at: null,
      history: JSON.stringify([...earlierAnswers(last), earlier]),
    })
    .where(has({ hold_id: last.hold_id, closed_at: last.closed_at }));
  return (await didChange(reopening)) ? last.hold_id : undefined;
}

/** A question is the same on the next day, although it says for how many days it waits. */
function withoutDays(details: string): string {
  const { days: _waits, daysSince: _left, ...rest } = JSON.parse(details) as Record<string, unknown>;
  return JSON.stringify(rest);
}

export function earlierAnswers({ history }: Pick<HoldRow, 'history'>): EarlierAnswer[] {
  return JSON.parse(history) as EarlierAnswer[];
}

/**
 * Keeps what a refusal said until the hire's question about it is opened: the workflow that opens it is only told the
 * code, because words of an HR system may speak of somebody.
 */
export async function keepRefusal(
  store: Store,
  key: HireRef,
  { code, message }: Pick<NewHold, 'code' | 'message'>,
): Promise<void> {
  const kept = { code, message: await sealed(store, 'refusals.message', key.tenantId, message), refused_at: store.now };
  // From the hire's row: a late answer about somebody who was erased meanwhile leaves nothing.
  await store.kysely
    .insertInto('refusals')
    .columns(['tenant_id', 'job_candidate_id', 'period', 'code', 'message', 'refused_at'])
    .expression((eb) =>
      eb
        .selectFrom('hires')
        .select(['tenant_id', 'job_candidate_id', 'period'])
        .select([eb.val(code).as('code'), eb.val(kept.message).as('message'), store.now.as('refused_at')])
        .where(eb.and(hireColumns(key))),
    )
    .onConflict((c) => c.columns(['tenant_id', 'job_candidate_id', 'period']).doUpdateSet(kept))
    .execute();
}

/**
 * What the last refusal said, if this question is about it: the question then has … in place of the words. The hold
 * keeps them from now on.
 */
export async function takeRefusal(
  { kysely }: Store,
  key: HireRef,
  asked: Pick<NewHold, 'code' | 'message'>,
): Promise<string | undefined> {
  const taken = await kysely
    .deleteFrom('refusals')
    .where(ofHire(key))
    .returning(['code', 'message'])
    .executeTakeFirst();
  const [own, rest] = asked.message.split('…', 2);
  const isAbout = rest !== undefined && taken?.code === asked.code && taken.message.startsWith(own ?? '');
  return isAbout ? taken.message : undefined;
}

/** Whether this hire has an open hold with this code. */
export function isAsking(store: Store, key: HireRef, code: string): Promise<boolean> {
  return findsAny(openHoldLike(store, { ...key, code }));
}

function openHoldLike(store: Store, { tenantId, jobCandidateId, period, code }: Omit<NewHold, 'message' | 'answers'>) {
  return store.kysely
    .selectFrom('holds')
    .select('hold_id')
    .where(has({ tenant_id: tenantId, job_candidate_id: jobCandidateId ?? null, period: period ?? null }))
    .where(has({ code, closed_at: null }));
}

/** A tenant's own questions of this code, open or answered. */
export function tenantHoldsOf({ kysely }: Store, tenantId: string, code: string): Promise<HoldRow[]> {
  return kysely
    .selectFrom('holds')
    .selectAll()
    .where(has({ tenant_id: tenantId, job_candidate_id: null, code }))
    .execute();
}

/** Replaces an open question by one about more people. Does nothing if somebody answered or replaced it first. */
export async function askAnew(store: Store, holdId: string, hold: NewHold): Promise<void> {
  await inTransaction(store, async (trx) => {
    const closed = closing(trx, { hold_id: holdId }).where('answered_at', 'is', null);
    if (await didChange(closed)) await openHold(trx, hold);
  });
}

/** The open question that a closed one's hire asks now, or its tenant with the same code. */
export function questionAfter({ kysely }: Store, was: HoldRow): Promise<HoldRow | undefined> {
  const query = kysely
    .selectFrom('holds')
    .selectAll()
    .where(has({ tenant_id: was.tenant_id, closed_at: null, answered_at: null }));
  const own =
    was.job_candidate_id === null
      ? query.where(has({ job_candidate_id: null, code: was.code }))
      : query.where('job_candidate_id', '=', was.job_candidate_id);
  return own.executeTakeFirst();
}

/** Every hold of a hire, open or closed, oldest first. */
export function holdsOfHire({ kysely }: Store, key: HireRef): Promise<HoldRow[]> {
  return kysely.selectFrom('holds').selectAll().where(ofHire(key)).orderBy('opened_at').execute();
}

export async function readHold(store: Store, holdId: string): Promise<HoldRow | undefined> {
  return store.kysely.selectFrom('holds').selectAll().where('hold_id', '=', holdId).executeTakeFirst();
}

/** Open holds on which work waits: nothing of a removed tenant does. Written literally, so that its index is used. */
export const WAITING = sql<boolean>`closed_at is null
  and tenant_id not in (select tenant_id from tenants where state = 'removed')`;

export interface HoldFilter {
  tenantId?: string | undefined;
  tenantIds?: readonly string[] | undefined;
  code?: string | undefined;
  /** Includes closed ones, and those of removed tenants. */
  all?: boolean;
  /** Holds after this one. */
  after?: readonly [openedAt: number, holdId: string] | undefined;
  limit?: number;
}

/** Holds, oldest first. */
export async function listHolds(
  { kysely, now }: Store,
  { tenantId, tenantIds, code, all = false, after, limit }: HoldFilter = {},
): Promise<Array<HoldRow & { now: number }>> {
  let query = kysely.selectFrom('holds').selectAll().select(now.as('now')).orderBy('opened_at');
  query = query.$call(given({ tenant_id: tenantId ?? tenantIds, code }));
  if (!all) query = query.where(WAITING);
  if (after !== undefined) query = query.where(sql<boolean>`(opened_at, hold_id) > (${after[0]}, ${after[1]})`);
  return (limit === undefined ? query : query.orderBy('hold_id').limit(limit)).execute();
}

/** Open holds of each tenant, by code. */
export async function countOpenHolds(store: Store): Promise<{ tenantId: string; code: string; count: number }[]> {
  return store.kysely
    .selectFrom('holds')
    .select(['tenant_id as tenantId', 'code', (eb) => eb.fn.countAll<number>().as('count')])
    .where(WAITING)
    .groupBy(['tenant_id', 'code'])
    .execute();
}

/** Open holds of a tenant, also of a removed one. */
export async function countHoldsLeft({ kysely }: Store, tenantId: string): Promise<number> {
  return countOf(kysely.selectFrom('holds').where('tenant_id', '=', tenantId).where(sql<boolean>`closed_at is null`));
}

interface PersonsAnswer {
  answer: string;
  arguments: readonly string[];
  /** The person who answers. */
  by: string;
}

/** Stores a person's answer. False if the hold is closed or answered: the first answer stands. */
export async function answerHold(store: Store, holdId: string, given: PersonsAnswer): Promise<boolean> {
  return didChange(
    store.kysely
      .updateTable('holds')
      .set({
        answer: given.answer,
        answer_arguments: JSON.stringify(given.arguments),
        answered_at: store.now,
        answered_by: given.by,
      })
      .where(has({ hold_id: holdId, closed_at: null, answered_at: null })),
  );
}

/**
 * False if it is closed already. `answeredAt`: the answer that is acted upon; also false if the hold was opened again
 * since, and has another answer.
 */
export async function closeHold(store: Store, holdId: string, answeredAt?: number): Promise<boolean> {
  const hold = closing(store, { hold_id: holdId });
  return didChange(answeredAt === undefined ? hold : hold.where('answered_at', '=', answeredAt));
}

/** Closes the open holds of a hire that ended. */
export async function closeHoldsOf(store: Store, key: HireRef): Promise<void> {
  await closing(store, hireColumns(key)).execute();
}

/**
 * Closes a hire's unanswered holds, apart from the code `except`, because their cause is gone. `openedBy`: when the
 * cause was looked at, ms on the database's clock; a worker that stood still must not close what was asked since. False
 * if a person answered first or no such hold is open.
 */
export async function closeUnanswered(
  store: Store,
  key: HireRef,
  { except = '', openedBy }: { except?: string; openedBy?: number } = {},
): Promise<boolean> {
  const unanswered = closing(store, hireColumns(key)).where('answered_at', 'is', null).where('code', '<>', except);
  return didChange(openedBy === undefined ? unanswered : unanswered.where('opened_at', '<=', openedBy));
}

function closing(store: Store, of: Partial<Pick<HoldRow, 'hold_id' | 'tenant_id' | 'job_candidate_id' | 'period'>>) {
  return store.kysely
    .updateTable('holds')
    .set({ closed_at: store.now })
    .where(has({ ...of, closed_at: null }));
}

/** Closes a tenant's holds whose cause is gone: those with this code, or with all codes like `HRIS_%`. */
export async function closeTenantHolds(store: Store, tenantId: string, code: string): Promise<void> {
  await closing(store, { tenant_id: tenantId })
    .where('code', 'like', code)
    .where('job_candidate_id', 'is', null)
    .execute();
}

/**
 * Closes every open hold of a tenant and its hires that nobody answered: nobody is to answer for a tenant that is no
 * more. An answer is heard when the tenant comes back.
 */
export async function closeAllHolds(store: Store, tenantId: string): Promise<void> {
  await closing(store, { tenant_id: tenantId }).where('answered_at', 'is', null).execute();
}

/** Tenants with an open tenant-wide hold whose code matches this pattern. */
export async function tenantsHeldLike({ kysely }: Store, pattern: string): Promise<Set<string>> {
  const open = kysely
    .selectFrom('holds')
    .select('tenant_id')
    .where(has({ closed_at: null, job_candidate_id: null }));
  return tenantsIn(open.where('code', 'like', pattern));
}

/** Up to `limit` open holds of a tenant without a notification yet, oldest first. */
export async function unnotifiedHolds(store: Store, tenantId: string, limit: number): Promise<HoldRow[]> {
  return store.kysely
    .selectFrom('holds')
    .selectAll()
    .where(has({ tenant_id: tenantId, notified_at: null, closed_at: null }))
    .orderBy('opened_at')
    .limit(limit)
    .execute();
}

export async function markNotified(store: Store, holdId: string): Promise<void> {
  await store.kysely.updateTable('holds').set({ notified_at: store.now }).where('hold_id', '=', holdId).execute();
}

/**
 * Open holds that were answered so long ago and still not acted upon: the oldest of each tenant first, so that one with
 * hundreds of them holds up no other.
 */
export async function unheardAnswers(
  { kysely, now }: Store,
  afterMs: number,
): Promise<Array<HoldRow & { now: number }>> {
  return kysely
    .selectFrom('holds')
    .selectAll()
    .select(now.as('now'))
    .where(WAITING)
    .where('answered_at', '<=', sql<number>`${now} - ${sql.lit(afterMs)}`)
    .orderBy(sql`row_number() over (partition by tenant_id order by answered_at)`)
    .orderBy('answered_at')
    .limit(200)
    .execute();
}

/** The latest answered hold of this hire since the hire was opened; it may be closed. */
export async function lastAnswered(store: Store, key: HireRef): Promise<HoldRow | undefined> {
  return store.kysely
    .selectFrom('holds')
    .selectAll()
    .where(ofHire(key))
    .where('answered_at', 'is not', null)
    .where('opened_at', '>=', openedAt(store, key))
    .orderBy('answered_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** People's answers about this hire since it was opened, oldest first. */
export async function answersOf(store: Store, key: HireRef): Promise<GivenAnswer[]> {
  const rows = await store.kysely
    .selectFrom('holds')
    .select(['code', 'answer', 'answer_arguments', 'details', 'answered_at', 'closed_at', 'former_hris'])
    .where(ofHire(key))
    .where('answered_at', 'is not', null)
    .where('opened_at', '>=', openedAt(store, key))
    .orderBy('answered_at')
    .execute();
  return rows.map((row) => ({
    code: row.code,
    answer: row.answer ?? '',
    argument: (JSON.parse(row.answer_arguments ?? '[]') as string[])[0],
    details: JSON.parse(row.details) as Record<string, unknown>,
    at: Number(row.answered_at),
    isTaken: row.closed_at !== null,
    isOfFormerHris: row.former_hris !== null,
  }));
}

/** Earlier answers do not count: a reopened hire must not act upon the cancel that ended it. */
function openedAt(store: Store, key: HireRef) {
  return store.kysely.selectFrom('hires').select('hires.opened_at').where(ofHire(key));
}

/** Job candidates whose hire has an open hold with this code. */
export async function hiresHeld({ kysely }: Store, tenantId: string, code: string): Promise<Set<string | null>> {
  const rows = await kysely
    .selectFrom('holds')
    .select('job_candidate_id')
    .where(has({ tenant_id: tenantId, code, closed_at: null }))
    .execute();
  return new Set(rows.map((row) => row.job_candidate_id));
}

/** Whether this tenant was ever asked this, about whomever. */
export async function wasHeld({ kysely }: Store, tenantId: string, code: string): Promise<boolean> {
  const held = kysely
    .selectFrom('holds')
    .select('hold_id')
    .where(has({ tenant_id: tenantId, code }));
  return findsAny(held.limit(1));
}

/** Which of these job candidates ever had a hold with this code, open or closed. */
export async function everHeld(
  { kysely }: Store,
  { tenantId, code }: { tenantId: string; code: string },
  jobCandidateIds: readonly string[],
): Promise<Set<string | null>> {
  const own = kysely
    .selectFrom('holds')
    .select('job_candidate_id')
    .where(has({ tenant_id: tenantId, code }));
  const rows = await readInBatches(jobCandidateIds, (some) => own.where('job_candidate_id', 'in', some).execute());
  return new Set(rows.map((row) => row.job_candidate_id));
}

/** When the last hold with this code was answered, by the database's clock; undefined if none was. */
export async function lastAnsweredAt(store: Store, key: HireRef, code: string): Promise<number | undefined> {
  const rows = await store.kysely
    .selectFrom('holds')
    .select(['answered_at', 'history'])
    .where(has({ ...hireColumns(key), code }))
    .execute();
  const times = rows.flatMap((row) => [
    ...earlierAnswers(row).map(({ at }) => at),
    ...(row.answered_at === null ? [] : [Number(row.answered_at)]),
  ]);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** By tenant: when each open hold with one of these departure codes was opened. */
export async function openDepartures({ kysely }: Store, codes: readonly string[]): Promise<Map<string, number[]>> {
  const rows = await kysely
    .selectFrom('holds')
    .select(['tenant_id', 'opened_at'])
    .where('closed_at', 'is', null)
    .where('code', 'in', codes)
    .execute();
  const byTenant = Map.groupBy(rows, (row) => row.tenant_id);
  return new Map([...byTenant].map(([tenantId, own]) => [tenantId, own.map(({ opened_at: at }) => at)]));
}
