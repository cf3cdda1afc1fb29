import type { UpdateObject } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { type Employee, employeeIn, HIRE_BEHIND, type HireRef, type HireState } from '../hire/hire.ts';
import {
  batchesOf,
  changedRows,
  countOf,
  findsAny,
  given,
  has,
  hireColumns,
  inTransaction,
  locked,
  ofHire,
  readInBatches,
  type Store,
} from './open-store.ts';
import type { HireRow, Tables } from './schema.ts';

/** The newest period of this job candidate. */
export async function latestHire(store: Store, tenantId: string, jobCandidateId: string): Promise<HireRow | undefined> {
  return store.kysely
    .selectFrom('hires')
    .selectAll()
    .where(has({ tenant_id: tenantId, job_candidate_id: jobCandidateId }))
    .orderBy('period', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Whether the tenant has another application of this person. */
export async function hasOtherHire(
  store: Store,
  tenantId: string,
  candidateId: string,
  jobCandidateId: string,
): Promise<boolean> {
  const own = store.kysely
    .selectFrom('hires')
    .select('job_candidate_id')
    .where(has({ tenant_id: tenantId, candidate_id: candidateId }));
  return findsAny(own.where('job_candidate_id', '!=', jobCandidateId).limit(1));
}

/** A hire's row. @throws ConnectorError HIRE_BEHIND if there is none: rows go only with their tenant */
export async function readHireRow(store: Store, key: HireRef): Promise<HireRow> {
  const row = await findHireRow(store, key);
  if (row === undefined) throw hireBehind(key);
  return row;
}

export async function findHireRow(store: Store, key: HireRef): Promise<HireRow | undefined> {
  return store.kysely.selectFrom('hires').selectAll().where(ofHire(key)).executeTakeFirst();
}

/** See HIRE_BEHIND. */
export function hireBehind({ jobCandidateId, period }: HireRef): ConnectorError {
  return new ConnectorError({
    code: HIRE_BEHIND,
    action: 'retry',
    message:
      `The store knows less about the hire of job candidate ${jobCandidateId} (period ${period}) than its ` +
      'workflow: a backup was restored. The hire starts again from what both sides show.',
  });
}

/** Undefined if the hire has no employee. */
export function employeeOf({ employee_id: id, connection }: Pick<HireRow, 'employee_id' | 'connection'>) {
  return id === null || connection === null ? undefined : employeeIn(connection, id);
}

/** Hires of any tenant that have this employee, newest first. */
export async function hiresWith(
  { kysely }: Store,
  { connection, id }: Employee,
  states: readonly HireState[],
): Promise<HireRow[]> {
  return kysely
    .selectFrom('hires')
    .selectAll()
    .where(has({ employee_id: id, connection }))
    .where('state', 'in', states)
    .orderBy('opened_at', 'desc')
    .execute();
}

export interface NewHire extends HireRef {
  state: Extract<HireState, 'open' | 'before-go-live'>;
  candidateId?: string | null;
  jobId?: string | null;
}

/** Records hires; existing ones stay as they are. Returns how many were new. */
export async function insertHires(store: Store, hires: readonly NewHire[]): Promise<number> {
  let count = 0;
  for (const some of batchesOf(hires)) count += await insertRows(store, some);
  return count;
}

async function insertRows(store: Store, hires: readonly NewHire[]): Promise<number> {
  const inserting = store.kysely
    .insertInto('hires')
    .values(
      hires.map((hire) => ({
        ...hireColumns(hire),
        candidate_id: hire.candidateId ?? null,
        job_id: hire.jobId ?? null,
        state: hire.state,
        step: hire.state === 'open' ? 'enrol' : 'ended',
        enrolment: 1,
        opened_at: store.now,
        updated_at: store.now,
      })),
    )
    .onConflict((c) => c.columns(['tenant_id', 'job_candidate_id', 'period']).doNothing());
  return changedRows(inserting);
}

export type HireChange = Pick<
  UpdateObject<Tables, 'hires'>,
  | 'candidate_id'
  | 'job_id'
  | 'step'
  | 'onboarding_candidate_id'
  | 'onboarding_reference'
  | 'enrolment'
  | 'onboarding_status'
>;

/**
 * Updates an open hire. An ended hire stays as it is, so a worker that was suspended cannot change it late; nor does a
 * change count that was made `during` an earlier enrolment.
 */
export async function updateHire(
  store: Store,
  key: HireRef,
  change: HireChange,
  during?: Pick<HireRow, 'enrolment'>,
): Promise<void> {
  const update = store.kysely
    .updateTable('hires')
    .set({
      ...change,
      updated_at: store.now,
      ...(typeof change.onboarding_status === 'string' ? { onboarding_read_at: store.now } : {}),
    })
    .where(has({ ...hireColumns(key), state: 'open' }));
  await (during === undefined ? update : update.where('enrolment', '=', during.enrolment)).execute();
}

/** Notes that a finished hire stays as it is: another attempt that read it before must not end it any more. */
export async function noteStaysDone({ kysely, now }: Store, key: HireRef): Promise<void> {
  const done = has({ ...hireColumns(key), state: 'done' });
  await kysely.updateTable('hires').set({ updated_at: now }).where(done).execute();
}

/** The row of a hire if it is in this state; Postgres locks it until the transaction ends. */
export function openHire(store: Store, key: HireRef, state: HireState = 'open') {
  return locked(store, store.kysely.selectFrom('hires').where(has({ ...hireColumns(key), 'hires.state': state })));
}

/**
 * Runs work that is only right for an open hire, and keeps the hire open meanwhile. Does nothing if the hire is over:
 * the worker was suspended and is late.
 */
export async function whileOpen(store: Store, key: HireRef, work: (store: Store) => Promise<void>): Promise<void> {
  await inTransaction(store, async (open) => {
    if (await findsAny(openHire(open, key).select('hires.state'))) await work(open);
  });
}

/**
 * Runs a write about a hire, and keeps its row meanwhile. Undefined, and nothing is run, if the row is gone: the person
 * was erased, and a worker that is late must not store anything about them.
 */
export async function whileKnown<T>(store: Store, key: HireRef, work: (store: Store) => Promise<T>) {
  return inTransaction(store, async (open): Promise<T | undefined> => {
    const own = locked(open, open.kysely.selectFrom('hires').select('state').where(ofHire(key)));
    return (await findsAny(own)) ? work(open) : undefined;
  });
}

/** The newest period of each of these job candidates. */
export async function latestHires(
  store: Store,
  tenantId: string,
  jobCandidateIds: readonly string[],
): Promise<Map<string, HireRow>> {
  const own = store.kysely.selectFrom('hires').selectAll().where('tenant_id', '=', tenantId).orderBy('period');
  const rows = await readInBatches(jobCandidateIds, (some) => own.where('job_candidate_id', 'in', some).execute());
  return new Map(rows.map((row) => [row.job_candidate_id, row]));
}

export async function hiresInState(store: Store, tenantId: string, ...states: HireState[]): Promise<HireRow[]> {
  return store.kysely
    .selectFrom('hires')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('state', 'in', states)
    .orderBy('opened_at')
    .execute();
}

export async function hiresAwaitingCredits(store: Store, tenantId: string): Promise<HireRow[]> {
  return (await hiresInState(store, tenantId, 'open')).filter((hire) => hire.step === 'await-credits');
}

/**
 * Reserves one of the cancellations that a tenant may have within `windowMs`. Counts hires that were cancelled and
 * reservations; concurrent calls are counted one after another. False if none is left.
 */
export async function reserveCancellation(
  store: Store,
  ref: HireRef,
  { most, windowMs }: { most: number; windowMs: number },
): Promise<boolean> {
  return store.kysely.transaction().execute(async (trx) => {
    const tenant = trx.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', ref.tenantId);
    await locked(store, tenant).execute();
    const cancelled = trx
      .selectFrom('hires')
      .where(has({ tenant_id: ref.tenantId, employee_id: null }))
      .where(({ eb, or, and, not }) => {
        const since = eb(store.now, '-', eb.val(windowMs));
        return or([
          and([eb('state', '=', 'left'), eb('ended_at', '>', since)]),
          and([
            eb('state', '=', 'open'),
            eb('step', '=', 'cancel'),
            eb('updated_at', '>', since),
            not(and(hireColumns(ref))),
          ]),
        ]);
      });
    if ((await countOf(cancelled)) >= most) return false;
    await updateHire({ ...store, kysely: trx }, ref, { step: 'cancel' });
    return true;
  });
}

/** The hires behind these enrolments. */
export async function hiresOfEnrolments(
  store: Store,
  tenantId: string,
  onboardingCandidateIds: readonly string[],
): Promise<HireRow[]> {
  const own = store.kysely.selectFrom('hires').selectAll().where('tenant_id', '=', tenantId);
  return readInBatches(onboardingCandidateIds, (some) => own.where('onboarding_candidate_id', 'in', some).execute());
}

/** Open hires of these jobs, or of these candidates, that have no employee. */
export async function unmadeHiresOf(
  store: Store,
  tenantId: string,
  column: 'job_id' | 'candidate_id',
  ids: readonly string[],
): Promise<HireRow[]> {
  const own = store.kysely.selectFrom('hires').selectAll();
  const unmade = own.where(has({ tenant_id: tenantId, state: 'open', employee_id: null }));
  return readInBatches(ids, (some) => unmade.where(column, 'in', some).execute());
}

interface HireCount {
  tenantId: string;
  state: HireState;
  count: number;
}

/** Number of hires by tenant and state; the database maintains these counts. */
export async function countHires(store: Store): Promise<HireCount[]> {
  const counts = store.kysely.selectFrom('hire_counts').select(['tenant_id as tenantId', 'state', 'count']);
  return counts.where('count', '>', 0).execute();
}

/** How many hires each tenant began since this moment (database clock, ms); one index lookup per tenant. */
export async function countBegun({ kysely }: Store, since: number): Promise<Map<string, number>> {
  const rows = await kysely
    .selectFrom('tenants')
    .select((eb) => [
      'tenants.tenant_id',
      eb
        .selectFrom('hires')
        .select((of) => of.fn.countAll<number>().as('count'))
        .whereRef('hires.tenant_id', '=', 'tenants.tenant_id')
        .where('hires.opened_at', '>=', since)
        .where('hires.state', '!=', 'before-go-live')
        .as('count'),
    ])
    .execute();
  return new Map(rows.map((row) => [row.tenant_id, Number(row.count)]));
}

interface HireFilter {
  tenantId?: string | undefined;
  state?: HireState | undefined;
  /** All if absent. */
  limit?: number | undefined;
}

/** Hires of all periods, latest change first. */
export async function listHires(store: Store, { tenantId, state, limit }: HireFilter): Promise<HireRow[]> {
  const all = store.kysely.selectFrom('hires').selectAll().orderBy('updated_at', 'desc').orderBy('job_candidate_id');
  const chosen = all.$call(given({ tenant_id: tenantId, state }));
  return (limit === undefined ? chosen : chosen.limit(limit)).execute();
}
