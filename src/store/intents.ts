import { sql } from 'kysely';
import type { HireRef } from '../hire/hire.ts';
import { openHire } from './hires.ts';
import { findsAny, has, hireColumns, onceNow, type Store, sameHire } from './open-store.ts';
import type { IntentRow } from './schema.ts';
import { sealed } from './sealed-values.ts';

interface NewIntent extends HireRef {
  /** `create-employee`, `enrol:1`, ... */
  verb: string;
  attempt: number;
  /** The parameters that the request fixes; ids only. */
  pinned: unknown;
  /** Time from now after which this request must not leave any more. */
  budgetMs: number;
  /** The state that the hire must be in; `open` if absent. `none`: the key names the requester instead of a hire. */
  state?: 'open' | 'done' | 'none';
  /** The hire's `updated_at` when this was decided: if it has changed since, another execution decided anew. */
  readAt?: number;
}

export interface OpenIntent extends IntentRow {
  /** The database's clock when the row was written, milliseconds. */
  now: number;
}

/**
 * Commits that one write to a partner or HR system is about to be made. Undefined if the hire is over or changed since
 * it was read, or if another execution made this attempt first: its request may be under way, so the caller must wait
 * for its deadline and then look.
 */
export async function openIntent(store: Store, intent: NewIntent): Promise<OpenIntent | undefined> {
  const pinned = await sealed(store, 'intents.pinned', intent.tenantId, JSON.stringify(intent.pinned));
  const row = await store.kysely
    .insertInto('intents')
    .columns([...ATTEMPT, 'pinned', 'sent_at', 'give_up_at', 'outcome'])
    .expression(
      clockOf(store, intent).select((eb) => [
        eb.val(intent.tenantId).as('tenant_id'),
        eb.val(intent.verb).as('verb'),
        eb.val(intent.jobCandidateId).as('job_candidate_id'),
        eb.val(intent.period).as('period'),
        eb.val(intent.attempt).as('attempt'),
        eb.val(pinned).as('pinned'),
        'clock.at as sent_at',
        eb('clock.at', '+', intent.budgetMs).as('give_up_at'),
        sql.lit('open').as('outcome'),
      ]),
    )
    .onConflict((c) => c.columns(ATTEMPT).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : { ...row, now: row.sent_at };
}

const ATTEMPT = ['tenant_id', 'verb', 'job_candidate_id', 'period', 'attempt'] as const;

/** Reads the clock once, because Postgres's clock would move between two columns. Has no row if the hire is over. */
function clockOf(store: Store, { state, readAt, ...key }: NewIntent) {
  const clock = store.kysely.selectNoFrom(store.now.as('at')).as('clock');
  // Without a condition SQLite would parse the following clause as a join.
  const alone = store.kysely.selectFrom(clock).where(sql<boolean>`true`);
  if (state === 'none') return alone;
  const hire = openHire(store, key, state);
  const unchanged = readAt === undefined ? hire : hire.where('hires.updated_at', '=', readAt);
  return unchanged.innerJoin(clock, (join) => join.onTrue()) as unknown as typeof alone;
}

/**
 * Milliseconds until the deadline of a request for this hire that may be under way, or that began after `lookedAt`.
 * Undefined if there is none.
 */
export async function requestUnderWay(store: Store, key: HireRef, lookedAt: number): Promise<number | undefined> {
  const late = await store.kysely
    .selectFrom('intents')
    .select('give_up_at')
    .select(store.now.as('now'))
    .where(has({ ...hireColumns(key), outcome: 'open' }))
    .where((eb) => eb.or([eb('give_up_at', '>', store.now), eb('sent_at', '>=', lookedAt)]))
    .orderBy('give_up_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return late === undefined ? undefined : Math.max(0, late.give_up_at - late.now);
}

/** The code of the refusal that ended an attempt; undefined if it was not refused. */
export function refusalOf(intent: IntentRow | undefined): string | undefined {
  if (intent?.outcome !== 'refused') return undefined;
  return ((JSON.parse(intent.result ?? 'null') ?? {}) as { code?: string }).code;
}

/** The newest attempt at this write, with the database's current time. */
export async function latestIntent(store: Store, key: HireRef, verb: string): Promise<OpenIntent | undefined> {
  return store.kysely
    .selectFrom('intents')
    .selectAll()
    .select(store.now.as('now'))
    .where(has({ ...hireColumns(key), verb }))
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Commits the outcome of an open intent; a decided intent keeps its outcome. */
export async function decideIntent(
  store: Store,
  intent: IntentRow,
  outcome: 'done' | 'absent' | 'refused',
  result: unknown,
): Promise<void> {
  await endAttempt(store, intent, { from: 'open', outcome, result });
}

/** Marks an accepted write as refused: the other side refused it while finishing it, or it is another hire's now. */
export async function refuseMade(store: Store, intent: IntentRow, result: unknown): Promise<void> {
  await endAttempt(store, intent, { from: 'done', outcome: 'refused', result });
}

async function endAttempt(
  { kysely, now }: Store,
  { tenant_id, verb, job_candidate_id, period, attempt }: IntentRow,
  { from, outcome, result }: { from: 'open' | 'done'; outcome: IntentRow['outcome']; result: unknown },
): Promise<void> {
  await kysely
    .updateTable('intents')
    .set({ outcome, result: JSON.stringify(result), decided_at: now })
    .where(has({ tenant_id, verb, job_candidate_id, period, attempt, outcome: from }))
    .execute();
}

/** Whether a write of the tenant may be on its way: its outcome is open and its deadline not over. */
export async function hasWriteUnderWay(store: Store, tenantId: string): Promise<boolean> {
  const open = store.kysely
    .selectFrom('intents')
    .select('verb')
    .where(has({ tenant_id: tenantId, outcome: sql.lit<'open'>('open') }));
  return findsAny(open.where('give_up_at', '>', onceNow(store)).limit(1));
}

/** The writes by which a hire gets its employee. */
const MAKING = ['create-employee', 'rehire-employee'];

/**
 * Hires whose intents say that they sent a create or a rehire, but that have no employee recorded: it is pending or
 * lost, or its process was killed. A hire is listed until it has its employee or is over.
 */
export function unnotedCreates({ kysely }: Pick<Store, 'kysely'>, outcomes: readonly ('open' | 'done')[]) {
  return kysely
    .selectFrom('hires')
    .innerJoin('intents', sameHire('intents', 'hires'))
    .where(has({ 'hires.state': 'open', 'hires.employee_id': null }))
    .where('intents.verb', 'in', MAKING)
    .where('intents.outcome', 'in', outcomes);
}
