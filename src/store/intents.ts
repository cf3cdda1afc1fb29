import { sql } from 'kysely';
import type { HireRef } from '../hire/hire.ts';
import { hireColumns } from './hire-columns.ts';
import { openHire } from './hires.ts';
import type { Store } from './open-store.ts';
import type { IntentRow } from './schema.ts';
import { sealed } from './sealed-values.ts';

interface NewIntent extends HireRef {
  /** `create-employee`, `enrol:1`, ... */
  verb: string;
  attempt: number;
  /** What the request pins; ids only. */
  pinned: unknown;
  /** From now to the moment after which this request must not leave any more. */
  budgetMs: number;
  /** In which the hire must be; `open` where absent. `none`: the write is of no hire, and its key names what asks. */
  state?: 'open' | 'done' | 'none';
}

export interface OpenIntent extends IntentRow {
  /** The database's clock when the row was written, milliseconds. */
  now: number;
}

/**
 * Commits that one foreign write is about to be made. Undefined when the hire is over, or when another execution made
 * this attempt first: it may be under way, so the caller must wait for its deadline and look.
 */
export async function openIntent(store: Store, intent: NewIntent): Promise<OpenIntent | undefined> {
  const pinned = await sealed(store, 'intents.pinned', intent.tenantId, JSON.stringify(intent.pinned));
  const row = await store.kysely
    .insertInto('intents')
    .columns([
      'tenant_id',
      'verb',
      'job_candidate_id',
      'period',
      'attempt',
      'pinned',
      'sent_at',
      'give_up_at',
      'outcome',
    ])
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
    .onConflict((c) => c.columns(['tenant_id', 'verb', 'job_candidate_id', 'period', 'attempt']).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : { ...row, now: row.sent_at };
}

/** One reading of the clock: Postgres's own would move between two columns. No row where the hire is over. */
function clockOf(store: Store, { state, ...key }: NewIntent) {
  const clock = store.kysely.selectNoFrom(store.now.as('at')).as('clock');
  // SQLite takes what follows for a join where a condition is missing.
  const alone = store.kysely.selectFrom(clock).where(sql<boolean>`true`);
  if (state === 'none') return alone;
  return openHire(store, key, state).innerJoin(clock, (join) => join.onTrue()) as unknown as typeof alone;
}

/**
 * Time until the deadline of a request for this hire that may be under way, milliseconds; also of one that began after
 * `lookedAt`.
 * Undefined when there is none.
 */
export async function requestUnderWay(store: Store, key: HireRef, lookedAt: number): Promise<number | undefined> {
  const late = await store.kysely
    .selectFrom('intents')
    .select('give_up_at')
    .select(store.now.as('now'))
    .where((eb) => eb.and(hireColumns(key)))
    .where('outcome', '=', 'open')
    .where((eb) => eb.or([eb('give_up_at', '>', store.now), eb('sent_at', '>=', lookedAt)]))
    .orderBy('give_up_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return late === undefined ? undefined : Math.max(0, late.give_up_at - late.now);
}

/** The newest attempt at this write, with the database's clock now. */
export async function latestIntent(store: Store, key: HireRef, verb: string): Promise<OpenIntent | undefined> {
  return store.kysely
    .selectFrom('intents')
    .selectAll()
    .select(store.now.as('now'))
    .where('tenant_id', '=', key.tenantId)
    .where('verb', '=', verb)
    .where('job_candidate_id', '=', key.jobCandidateId)
    .where('period', '=', key.period)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Commits what became of an open intent; a decided one keeps its outcome. */
export async function decideIntent(
  store: Store,
  intent: IntentRow,
  outcome: 'done' | 'absent' | 'refused',
  result: unknown,
): Promise<void> {
  await store.kysely
    .updateTable('intents')
    .set({ outcome, result: JSON.stringify(result), decided_at: store.now })
    .where((eb) => eb.and(attemptColumns(intent)))
    .where('outcome', '=', 'open')
    .execute();
}

/** A write that was accepted, and refused later by whoever should have finished it over there. */
export async function refuseMade(store: Store, intent: IntentRow, result: unknown): Promise<void> {
  await store.kysely
    .updateTable('intents')
    .set({ outcome: 'refused', result: JSON.stringify(result), decided_at: store.now })
    .where((eb) => eb.and(attemptColumns(intent)))
    .where('outcome', '=', 'done')
    .execute();
}

function attemptColumns({ tenant_id, verb, job_candidate_id, period, attempt }: IntentRow) {
  return { tenant_id, verb, job_candidate_id, period, attempt };
}

/** Whether a write of the tenant may still be on its way: its outcome is open and its time not over. */
export async function hasWriteUnderWay(store: Store, tenantId: string): Promise<boolean> {
  const row = await store.kysely
    .selectFrom('intents')
    .select('verb')
    .where('tenant_id', '=', tenantId)
    .where('outcome', '=', 'open')
    .where('give_up_at', '>', store.now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Hires that have sent a create, by their intents, and not noted the employee: pending, lost, or made by a process that
 * was killed. However long it takes, until the hire has its employee or is over.
 */
export function unnotedCreates({ kysely }: Pick<Store, 'kysely'>, outcomes: readonly ('open' | 'done')[]) {
  return kysely
    .selectFrom('hires')
    .innerJoin('intents', (join) =>
      join
        .onRef('intents.tenant_id', '=', 'hires.tenant_id')
        .onRef('intents.job_candidate_id', '=', 'hires.job_candidate_id')
        .onRef('intents.period', '=', 'hires.period'),
    )
    .where('hires.state', '=', 'open')
    .where('hires.employee_id', 'is', null)
    .where('intents.verb', '=', 'create-employee')
    .where('intents.outcome', 'in', outcomes);
}
