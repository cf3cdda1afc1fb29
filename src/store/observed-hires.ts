import { sql } from 'kysely';
import { followedStates, type HireRef, type Observed } from '../hire/hire.ts';
import type { Candidate } from '../person/person.ts';
import { audit } from './audit.ts';
import { observes } from './freezes.ts';
import { addHints } from './hints.ts';
import { insertHires, type NewHire } from './hires.ts';
import { hireColumns, inTransaction, locked, type Store, tenantsIn } from './open-store.ts';
import { erasedOf, type PersonId } from './person-marks.ts';
import { recordPeople } from './persons.ts';
import type { HireRow } from './schema.ts';
import { siblingsOf } from './tenant-states.ts';

/** Stream name of hints that ask to start hires from before go-live; `startRequested` starts them. */
export const STARTS = 'starts';

/** What is recorded of a hire that is not started. */
export interface Recorded {
  ref: HireRef;
  candidateId: string | null;
  jobId: string | null;
  /** What the hire would have written, or why it is not this tenant's. */
  about: { observed: Observed } | { passedOver: string };
  /** The person's key in the tenant's HR system; undefined if their record names no candidate. */
  person: { connection: string; candidate: Candidate } | undefined;
}

/**
 * Records a hire as before go-live: only a person can start it. A hire that was ever started stays as it is. Returns
 * false if the person was asked to be erased meanwhile: then nothing is recorded.
 */
export async function recordHire(store: Store, recorded: Recorded): Promise<boolean> {
  return inTransaction(store, async (trx) => {
    if (await isErased(trx, { ...recorded.ref, candidateId: recorded.candidateId })) return false;
    await writeRecorded(trx, recorded);
    return true;
  });
}

async function writeRecorded(store: Store, { ref, candidateId, jobId, about, person }: Recorded): Promise<void> {
  const written = {
    observed: 'observed' in about ? JSON.stringify(about.observed) : null,
    passed_over: 'passedOver' in about ? about.passedOver : null,
    candidate_id: candidateId,
    job_id: jobId,
    updated_at: store.now,
    // Starts the retention period of the plan, which holds personal data.
    ended_at: store.now,
  };
  await store.kysely
    .insertInto('hires')
    .values({
      ...hireColumns(ref),
      ...written,
      state: 'before-go-live',
      step: 'ended',
      enrolment: 1,
      opened_at: store.now,
    })
    .onConflict((c) =>
      c
        .columns(['tenant_id', 'job_candidate_id', 'period'])
        .doUpdateSet(written)
        .where('hires.state', '=', 'before-go-live'),
    )
    .execute();
  const how = 'observed' in about ? 'observed' : 'passed-over';
  if (person !== undefined) await recordPeople(store, [{ ...person, as: { how, ...ref } }]);
}

/**
 * Records people hired before go-live, unless the baseline is complete by now: a suspended pass must not record a later
 * hire as an old one. Returns whether it recorded them.
 */
export async function insertBaseline(
  store: Store,
  tenantId: string,
  hires: readonly NewHire[],
  people: Parameters<typeof recordPeople>[1],
): Promise<boolean> {
  return inTransaction(store, async (open) => {
    const tenant = open.kysely.selectFrom('tenants').select('baseline_done_at').where('tenant_id', '=', tenantId);
    if ((await locked(store, tenant).executeTakeFirstOrThrow()).baseline_done_at !== null) return false;
    const erased = await erasedOf(open, tenantId, hires.flatMap(idsOfHire));
    // A later application of theirs would also reveal who they are.
    const isLeft = (hire: NewHire): boolean => idsOfHire(hire).some(erased);
    const left = new Set(hires.filter(isLeft).map(({ candidateId }) => candidateId));
    await insertHires(
      open,
      hires.filter((hire) => !isLeft(hire)),
    );
    await recordPeople(
      open,
      people.filter(({ candidate: { candidateId: id } }) => !left.has(id) && !erased({ kind: 'candidate', id })),
    );
    return true;
  });
}

/**
 * Whether the person of this hire was asked to be erased, by any of its ids. In the transaction that records the hire:
 * an erasure waits for no work that had not recorded anything when it looked.
 */
export async function isErased(store: Store, hire: Whom & { tenantId: string }): Promise<boolean> {
  return (await unlessErased(store, hire.tenantId, [hire])).length === 0;
}

/** Those of these hires whose person nobody asked to be erased. */
export async function unlessErased<T extends Whom>(store: Store, tenantId: string, hires: readonly T[]): Promise<T[]> {
  const erased = await erasedOf(store, tenantId, hires.flatMap(idsOfHire));
  return hires.filter((hire) => !idsOfHire(hire).some(erased));
}

type Whom = Pick<NewHire, 'jobCandidateId' | 'candidateId'>;

function idsOfHire({ jobCandidateId, candidateId }: Whom): PersonId[] {
  return [
    { kind: 'job-candidate', id: jobCandidateId },
    ...(candidateId ? [{ kind: 'candidate' as const, id: candidateId }] : []),
  ];
}

/** Tenants of one company whose store was rebuilt go live within so long. */
const REBUILT_WITHIN_MS = 86_400_000;

interface BaselineBeside {
  tenantId: string;
  /** It took up hires that carried references of ours. */
  hasTakenUp: boolean;
  /** It makes no employees. */
  onlyObserves: boolean;
}

/** The other tenants of the company whose baseline began about when this one's did, except removed ones. */
export async function baselinesBeside(store: Store, tenantId: string): Promise<BaselineBeside[]> {
  const siblings = await siblingsOf(store, tenantId);
  if (siblings.length === 0) return [];
  const began = store.kysely.selectFrom('tenants').select('baseline_started_at').where('tenant_id', '=', tenantId);
  const { baseline_started_at: at } = await began.executeTakeFirstOrThrow();
  const rows = await store.kysely
    .selectFrom('tenants')
    .select(['tenants.tenant_id', 'tenants.receives'])
    .select((eb) =>
      eb
        .selectFrom('hires')
        .select((of) => of.fn.countAll<number>().as('count'))
        .whereRef('hires.tenant_id', '=', 'tenants.tenant_id')
        .where('hires.state', 'in', followedStates)
        .whereRef('hires.opened_at', '>=', 'tenants.baseline_started_at')
        // No other hire opens before the baseline is complete.
        .where((of) => of('hires.opened_at', '<=', of.fn.coalesce('tenants.baseline_done_at', store.now)))
        .as('taken'),
    )
    .where('tenants.tenant_id', 'in', siblings)
    .where('tenants.state', '!=', 'removed')
    .where('baseline_started_at', '>=', Number(at) - REBUILT_WITHIN_MS)
    .where('baseline_started_at', '<=', Number(at) + REBUILT_WITHIN_MS)
    .execute();
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    hasTakenUp: Number(row.taken) > 0,
    onlyObserves: observes(row),
  }));
}

/** People hired while the tenant only observed, first seen at or after `since`, and not started yet. */
export async function listObserved(store: Store, tenantId: string, since: number): Promise<HireRow[]> {
  return store.kysely
    .selectFrom('hires')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('observed', 'is not', null)
    .where('opened_at', '>=', since)
    .where('state', '=', 'before-go-live')
    .orderBy('opened_at')
    .execute();
}

/** Asks a worker to start these; it does so within a minute. */
export async function requestStarts(
  store: Store,
  { tenantId, by }: { tenantId: string; by: string },
  jobCandidateIds: readonly string[],
): Promise<void> {
  await inTransaction(store, async (trx) => {
    await addHints(trx, tenantId, STARTS, jobCandidateIds);
    await audit(trx, { by, tenantId, act: 'went-live', details: `started: ${jobCandidateIds.join(' ')}` });
  });
}

/** Tenants with requested starts that no worker has handled. */
export async function tenantsToStart({ kysely }: Store): Promise<Set<string>> {
  return tenantsIn(kysely.selectFrom('hints').select('tenant_id').distinct().where('stream', '=', sql.lit(STARTS)));
}

/**
 * Another tenant of the same company whose hire of this application is under way or has its employee. Open hires of a
 * removed tenant do not count, since nothing continues them.
 */
export async function findTaker(store: Store, ref: Omit<HireRef, 'period'>): Promise<string | undefined> {
  const siblings = await siblingsOf(store, ref.tenantId);
  if (siblings.length === 0) return undefined;
  const taker = await store.kysely
    .selectFrom('hires')
    .innerJoin('tenants', 'tenants.tenant_id', 'hires.tenant_id')
    .select('hires.tenant_id')
    .where('hires.tenant_id', 'in', siblings)
    .where('job_candidate_id', '=', ref.jobCandidateId)
    .where('hires.state', 'in', ['open', 'done', 'kept'])
    .where((eb) =>
      eb.or([eb('tenants.ended_at', 'is', null), eb('hires.state', '!=', 'open'), eb('employee_id', 'is not', null)]),
    )
    .executeTakeFirst();
  return taker?.tenant_id;
}
