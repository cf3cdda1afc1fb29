import { sql } from 'kysely';
import type { HireRef } from '../hire/hire.ts';
import { whileKnown } from './hires.ts';
import { didChange, has, hireColumns, hireOf, type Store, sameHire } from './open-store.ts';
import type { HireRow, Row } from './schema.ts';
import { sealed } from './sealed-values.ts';

export type HireStepRow = Row<'hire_steps'>;

/** One hire in one destination; the destination has the name of its connection. */
export interface StepKey extends HireRef {
  destination: string;
}

function stepColumns({ destination, ...ref }: StepKey) {
  return { ...hireColumns(ref), destination };
}

interface DueSteps {
  tenantId: string;
  destination: string;
  /** The HR system that holds the employees. */
  connection: string;
  /** A refused step is tried again after this long, ms. */
  againAfterMs: number;
  /** Hires without a step, and of people outside the stages, count if they ended in the last so many ms; or all. */
  endedWithinMs: number | undefined;
  /** Always due: ids of job candidates. */
  hinted: readonly string[];
}

type Due = Pick<HireRow, 'job_candidate_id' | 'period'>;

/** The next finished hires with work left in a destination, ordered by id. */
export async function hiresDueForStep(
  { kysely, now }: Store,
  { tenantId, destination, connection, againAfterMs, endedWithinMs, hinted }: DueSteps,
  after: Due | undefined,
): Promise<HireRow[]> {
  let query = kysely
    .selectFrom('hires as h')
    .leftJoin('hire_steps as s', (join) => sameHire('s', 'h')(join).on('s.destination', '=', destination))
    .leftJoin('holds as q', 'q.hold_id', 's.hold_id')
    .selectAll('h')
    .where(has({ 'h.tenant_id': tenantId, 'h.state': 'done' }))
    .where('h.employee_id', 'is not', null)
    .where('h.connection', '=', connection)
    .where((eb) => {
      const isNew = eb('s.state', 'is', null);
      const hasJustEnded =
        endedWithinMs === undefined ? eb.lit(true) : eb('h.ended_at', '>', eb(now, '-', endedWithinMs));
      const isDue = eb.and([eb('s.state', '=', 'held'), eb('s.updated_at', '<=', eb(now, '-', againAfterMs))]);
      return eb.or([
        eb.and([isNew, hasJustEnded]),
        eb('s.state', 'in', ['waiting', 'sending']),
        eb.and([isDue, eb.or([eb('s.code', '!=', 'NOT_IN_STAGE'), hasJustEnded])]),
        eb.and([eb('s.state', '=', 'held'), eb('q.closed_at', '>=', eb.ref('s.updated_at'))]),
        ...(hinted.length === 0
          ? []
          : [eb.and([eb.or([isNew, eb('s.state', '!=', 'done')]), eb('h.job_candidate_id', 'in', hinted)])]),
      ]);
    })
    .orderBy('h.job_candidate_id')
    .orderBy('h.period')
    .limit(100);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('h.job_candidate_id', 'h.period'), '>', tuple(after.job_candidate_id, after.period)),
    );
  return query.execute();
}

export function readStep({ kysely }: Store, key: StepKey): Promise<HireStepRow | undefined> {
  return kysely
    .selectFrom('hire_steps')
    .selectAll()
    .where(has(stepColumns(key)))
    .executeTakeFirst();
}

/** Steps that a run finished before it was interrupted, and steps that wait for a person or the next pass. */
export function stepsToTell({ kysely }: Store, tenantId: string, runId: string): Promise<HireStepRow[]> {
  return kysely
    .selectFrom('hire_steps')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('state', '=', 'held'), eb.and([eb('state', '=', 'done'), eb('run_id', '=', runId)])]))
    .execute();
}

/**
 * Claims a step for this run, so that no other run can settle it. False while another hire of the same person is
 * getting its account, which this hire will share, or if the hire's row is gone.
 */
export async function claimStep(
  store: Store,
  key: StepKey,
  { reference, runId }: { reference: string; runId: string },
): Promise<boolean> {
  const { kysely, now } = store;
  const { destination } = key;
  const row = { ...stepColumns(key), reference, state: 'waiting' as const, updated_at: now };
  await whileKnown(store, key, (open) =>
    open.kysely
      .insertInto('hire_steps')
      .values(row)
      .onConflict((c) => c.doNothing())
      .execute(),
  );
  return didChange(
    kysely
      .updateTable('hire_steps')
      .set({ state: 'sending', reference, run_id: runId, updated_at: now })
      .where(has(stepColumns(key)))
      .where('state', '!=', 'done')
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('hire_steps as o')
              .select('o.period')
              .where(
                has({
                  'o.destination': destination,
                  'o.reference': reference,
                  'o.state': sql.lit<'sending'>('sending'),
                }),
              )
              .where((other) => other.not(other.and(asOther(key)))),
          ),
        ),
      ),
  );
}

function asOther({ tenantId, jobCandidateId, period }: StepKey) {
  return { 'o.tenant_id': tenantId, 'o.job_candidate_id': jobCandidateId, 'o.period': period };
}

/** The newest account that another hire of the same person was given, and whether hirebridge made it. */
export async function accountOf(
  { kysely }: Store,
  { destination }: StepKey,
  reference: string,
): Promise<{ id: string; isMade: boolean } | undefined> {
  const rows = await kysely
    .selectFrom('hire_steps')
    .select(['account_id', 'plan'])
    .where(has({ destination, reference }))
    .where('account_id', 'is not', null)
    .orderBy('done_at', 'desc')
    .execute();
  const id = rows[0]?.account_id ?? undefined;
  const plans = rows
    .filter((row) => row.account_id === id)
    .map(({ plan }) => JSON.parse(plan ?? '{}') as { kind?: string });
  return id === undefined ? undefined : { id, isMade: plans.some(({ kind }) => kind === 'create') };
}

export type SettledStep = Pick<HireStepRow, 'code' | 'reason' | 'hold_id'> & {
  state: HireStepRow['state'];
  /** Absent: unchanged. */
  plan?: string;
  account_id?: string;
};

/** Records the outcome of a step that this run claimed; false if another run claimed it since. */
export async function settleStep(store: Store, key: StepKey, runId: string, settled: SettledStep): Promise<boolean> {
  const { kysely, now } = store;
  const reason = await sealed(store, 'hire_steps.reason', key.tenantId, settled.reason);
  return didChange(
    kysely
      .updateTable('hire_steps')
      .set({ ...settled, reason, updated_at: now, ...(settled.state === 'done' && { done_at: now }) })
      .where(has({ ...stepColumns(key), run_id: runId })),
  );
}

/** The name of a step in commands: its hire and its destination. */
export function stepName(row: Pick<HireStepRow, 'tenant_id' | 'job_candidate_id' | 'period' | 'destination'>): string {
  return `${hireOf(row).jobCandidateId}/${row.destination}`;
}
