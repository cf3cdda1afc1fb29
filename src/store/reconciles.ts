import { sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import type { HireState } from '../hire/hire.ts';
import { didChange, findsAny, has, put, type Store } from './open-store.ts';
import type { HireRow } from './schema.ts';
import type { ReconcileKind, Seen } from './tenant-tables.ts';

interface SavedReconcile<Plan, Position, Counts> {
  kind: ReconcileKind;
  plan: Plan;
  position: Position;
  counts: Counts;
  /** Milliseconds since it was last saved. */
  ageMs: number;
}

/** Takes the tenant's unfinished reconcile for `holder`; from now on no other attempt may save it. */
export async function takeReconcile<Plan, Position, Counts>(
  store: Store,
  tenantId: string,
  holder: string,
): Promise<SavedReconcile<Plan, Position, Counts> | undefined> {
  // Usually there is none, and a read costs less than a write that changes nothing.
  const known = store.kysely.selectFrom('reconciles').select('kind').where('tenant_id', '=', tenantId);
  if (!(await findsAny(known))) return undefined;
  const row = await store.kysely
    .updateTable('reconciles')
    .set({ holder })
    .where('tenant_id', '=', tenantId)
    .returning(['kind', 'plan', 'position', 'counts', 'updated_at', store.now.as('now')])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    kind: row.kind,
    plan: JSON.parse(row.plan) as Plan,
    position: JSON.parse(row.position) as Position,
    counts: JSON.parse(row.counts) as Counts,
    ageMs: row.now - row.updated_at,
  };
}

/** By tenant, when its unfinished reconcile was last saved. */
export async function reconcilesSavedAt({ kysely }: Store): Promise<Map<string, number>> {
  const rows = await kysely.selectFrom('reconciles').select(['tenant_id', 'updated_at']).execute();
  return new Map(rows.map((row) => [row.tenant_id, row.updated_at]));
}

interface NewReconcile {
  tenantId: string;
  holder: string;
  kind: ReconcileKind;
  plan: object;
  position: object;
  counts: object;
}

/** Saves a reconcile that has just begun. @throws ConnectorError RECONCILE_TAKEN_OVER if another one has begun too */
export async function insertReconcile(store: Store, reconcile: NewReconcile): Promise<void> {
  const { tenantId, holder, kind } = reconcile;
  const inserting = store.kysely
    .insertInto('reconciles')
    .values({
      tenant_id: tenantId,
      kind,
      plan: JSON.stringify(reconcile.plan),
      position: JSON.stringify(reconcile.position),
      counts: JSON.stringify(reconcile.counts),
      holder,
      started_at: store.now,
      updated_at: store.now,
    })
    .onConflict((c) => c.column('tenant_id').doNothing());
  if (!(await didChange(inserting))) throw takenOver(tenantId);
}

interface ReconcileProgress {
  /** Only if it changed, since it may be long. */
  plan?: object;
  position: object;
  counts: object;
}

/** @throws ConnectorError RECONCILE_TAKEN_OVER if another attempt works on it by now */
export async function saveReconcile(
  store: Store,
  { tenantId, holder }: { tenantId: string; holder: string },
  { plan, position, counts }: ReconcileProgress,
): Promise<void> {
  const saving = store.kysely
    .updateTable('reconciles')
    .set({
      ...(plan === undefined ? {} : { plan: JSON.stringify(plan) }),
      position: JSON.stringify(position),
      counts: JSON.stringify(counts),
      updated_at: store.now,
    })
    .where(has({ tenant_id: tenantId, holder }));
  if (!(await didChange(saving))) throw takenOver(tenantId);
}

function takenOver(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'RECONCILE_TAKEN_OVER',
    action: 'retry',
    message: `Another attempt continues the reconcile of tenant ${tenantId}; this one ends.`,
  });
}

/** Deletes the reconcile and the people it saw: it is over, or too old to continue. */
export async function endReconcile(store: Store, tenantId: string, holder: string): Promise<void> {
  await store.kysely.transaction().execute(async (trx) => {
    if (!(await didChange(trx.deleteFrom('reconciles').where(has({ tenant_id: tenantId, holder }))))) return;
    await trx.deleteFrom('seen_people').where('tenant_id', '=', tenantId).execute();
  });
}

export interface SeenPerson {
  jobCandidateId: string;
  candidateId: string | null;
  jobId: string | null;
  seen: Seen;
}

export interface ListedPerson extends SeenPerson {
  /** The stage whose list showed them. */
  stage: string;
}

function seenOf({ kysely }: Pick<Store, 'kysely'>, tenantId: string) {
  return kysely.selectFrom('seen_people').where('tenant_id', '=', tenantId);
}

/** Records the people of one page; a person seen again is updated and keeps their trace. */
export async function addSeen(store: Store, tenantId: string, people: readonly ListedPerson[]): Promise<void> {
  const once = new Map(people.map((one) => [one.jobCandidateId, one]));
  if (once.size === 0) return;
  await store.kysely
    .insertInto('seen_people')
    .values(
      [...once.values()].map((one) => ({
        tenant_id: tenantId,
        job_candidate_id: one.jobCandidateId,
        candidate_id: one.candidateId,
        job_id: one.jobId,
        stage: one.stage,
        seen: one.seen,
      })),
    )
    .onConflict((c) =>
      c.columns(['tenant_id', 'job_candidate_id']).doUpdateSet({
        candidate_id: sql`coalesce(excluded.candidate_id, seen_people.candidate_id)`,
        job_id: sql`coalesce(excluded.job_id, seen_people.job_id)`,
        stage: sql`excluded.stage`,
        // Another list may show the same person as an unreadable record: the readable one counts.
        seen: sql`case when excluded.seen = 'unreadable' and seen_people.seen <> 'traced' then seen_people.seen
                       else excluded.seen end`,
      }),
    )
    .execute();
}

/** Records enrolments that carry our reference, by job candidate. */
export async function addTraces(store: Store, tenantId: string, traces: ReadonlyMap<string, object>): Promise<void> {
  const rows = [...traces].map(([jobCandidateId, trace]) => ({
    tenant_id: tenantId,
    job_candidate_id: jobCandidateId,
    seen: 'traced' as const,
    trace: JSON.stringify(trace),
  }));
  await put(store, 'seen_people', rows, { key: ['tenant_id', 'job_candidate_id'], set: ['trace'] });
}

/** The recorded traces of these people. */
export async function readTraces<Trace>(
  store: Store,
  tenantId: string,
  jobCandidateIds: readonly string[],
): Promise<Map<string, Trace>> {
  if (jobCandidateIds.length === 0) return new Map();
  const rows = await seenOf(store, tenantId)
    .select(['job_candidate_id', 'trace'])
    .where('job_candidate_id', 'in', jobCandidateIds)
    .where('trace', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.job_candidate_id, JSON.parse(row.trace ?? '') as Trace]));
}

/** Notes whose these enrolled applications are. */
export async function nameTraced(
  { kysely }: Store,
  tenantId: string,
  people: readonly { jobCandidateId: string; candidateId: string }[],
): Promise<void> {
  for (const { jobCandidateId, candidateId } of people)
    await kysely
      .updateTable('seen_people')
      .set({ candidate_id: candidateId })
      .where(has({ tenant_id: tenantId, job_candidate_id: jobCandidateId }))
      .execute();
}

/** Candidates of these people who have an application with an enrolment of ours. */
export async function tracedCandidates(
  store: Store,
  tenantId: string,
  people: readonly SeenPerson[],
): Promise<Set<string>> {
  const ids = [...new Set(people.flatMap(({ candidateId }) => candidateId ?? []))];
  if (ids.length === 0) return new Set();
  const rows = await seenOf(store, tenantId)
    .select('candidate_id')
    .where('candidate_id', 'in', ids)
    .where('trace', 'is not', null)
    .execute();
  return new Set(rows.map((row) => row.candidate_id ?? ''));
}

/** The next job candidates with an enrolment of ours, ordered by id; with `unseen` those that no list showed. */
export async function nextTraced(
  store: Store,
  tenantId: string,
  { after, limit, unseen = false }: { after: string; limit: number; unseen?: boolean },
): Promise<string[]> {
  const rows = await seenOf(store, tenantId)
    .select('job_candidate_id')
    .where('job_candidate_id', '>', after)
    .where('trace', 'is not', null)
    .$if(unseen, (query) => query.where('seen', '=', 'traced'))
    .orderBy('job_candidate_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.job_candidate_id);
}

/** Whether any enrolment carries our reference. */
export async function hasTraces(store: Store, tenantId: string): Promise<boolean> {
  return findsAny(seenOf(store, tenantId).select('job_candidate_id').where('trace', 'is not', null).limit(1));
}

/** The next people ordered by id, without people who are only traced. */
export async function readSeen(
  store: Store,
  tenantId: string,
  { after, limit }: { after: string; limit: number },
): Promise<SeenPerson[]> {
  return seenOf(store, tenantId)
    .select(['job_candidate_id as jobCandidateId', 'candidate_id as candidateId', 'job_id as jobId', 'seen'])
    .where('job_candidate_id', '>', after)
    .where('seen', '!=', 'traced')
    .orderBy('job_candidate_id')
    .limit(limit)
    .execute();
}

/** How many people were seen, by kind. */
export async function countSeen(store: Store, tenantId: string): Promise<Record<Seen, number>> {
  const rows = await seenOf(store, tenantId)
    .select(['seen', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('seen')
    .execute();
  const none: Record<Seen, number> = { hired: 0, rejected: 0, unreadable: 0, traced: 0 };
  return { ...none, ...Object.fromEntries(rows.map((row) => [row.seen, row.count])) };
}

/** How many people were seen in each job, highest count first. */
export async function countSeenByJob(store: Store, tenantId: string): Promise<Map<string, number>> {
  const rows = await seenOf(store, tenantId)
    .select(['job_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where('job_id', 'is not', null)
    .where('seen', '!=', 'traced')
    .groupBy('job_id')
    .execute();
  const counts = rows.map((row) => [row.job_id ?? '', row.count] as const);
  return new Map(counts.toSorted(([, a], [, b]) => b - a));
}

/** How many people each stage's list showed in these jobs. */
export async function countSeenByStage(
  { kysely }: Store,
  tenantId: string,
  jobIds: readonly string[],
): Promise<Map<string, Map<string, number>>> {
  if (jobIds.length === 0) return new Map();
  const rows = await seenOf({ kysely }, tenantId)
    .select(['job_id', 'stage', (eb) => eb.fn.countAll<number>().as('count')])
    .where('job_id', 'in', jobIds)
    .where('seen', '!=', 'traced')
    .groupBy(['job_id', 'stage'])
    .execute();
  const byJob = Map.groupBy(rows, (row) => row.job_id ?? '');
  return new Map([...byJob].map(([jobId, of]) => [jobId, new Map(of.map((row) => [row.stage ?? '', row.count]))]));
}

/** The people seen as hired in this job. */
export async function readHiredOf(store: Store, tenantId: string, jobId: string): Promise<string[]> {
  const rows = await store.kysely
    .selectFrom('seen_people')
    .select('job_candidate_id')
    .where(has({ tenant_id: tenantId, job_id: jobId, seen: 'hired' }))
    .orderBy('job_candidate_id')
    .execute();
  return rows.map((row) => row.job_candidate_id);
}

/** Jobs of hires in these states. */
export async function jobsOfHires(store: Store, tenantId: string, states: readonly HireState[]): Promise<string[]> {
  const rows = await store.kysely
    .selectFrom('hires')
    .select('job_id')
    .distinct()
    .where('tenant_id', '=', tenantId)
    .where('state', 'in', states)
    .execute();
  return rows.flatMap((row) => row.job_id ?? []);
}

interface AbsentOf {
  jobIds: readonly string[];
  states: readonly HireState[];
  /** The next `limit` after this id. */
  after: string;
  limit: number;
}

/** Hires of these jobs whose person was not seen in a hiring stage. */
export async function readAbsent(store: Store, tenantId: string, of: AbsentOf): Promise<HireRow[]> {
  if (of.jobIds.length === 0) return [];
  return store.kysely
    .selectFrom('hires')
    .leftJoin('seen_people', (join) =>
      join
        .onRef('seen_people.tenant_id', '=', 'hires.tenant_id')
        .onRef('seen_people.job_candidate_id', '=', 'hires.job_candidate_id'),
    )
    .selectAll('hires')
    .where('hires.tenant_id', '=', tenantId)
    .where('hires.job_id', 'in', of.jobIds)
    .where('hires.state', 'in', of.states)
    .where('hires.job_candidate_id', '>', of.after)
    .where((eb) => eb.or([eb('seen_people.seen', 'is', null), eb('seen_people.seen', 'in', ['rejected', 'traced'])]))
    .orderBy('hires.job_candidate_id')
    .limit(of.limit)
    .execute();
}
