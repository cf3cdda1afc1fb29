import { sql } from 'kysely';
import { type Employee, employeeIn, type HireState, type Side } from '../hire/hire.ts';
import type { EmployedHow } from '../person/person.ts';
import { countOf, has, type Store } from './open-store.ts';
import { employedRows } from './people.ts';
import { ofStream, type StreamKey } from './streams.ts';

/** The kind of the partner's record in an exchange, as the partner names it. */
export type PairEntity = 'candidate' | 'job';

/** A candidate and the employee they became, or a job and the open position it was made from. */
export interface LinkedPair {
  /** The HR system's id of the record. */
  pairId: string;
  /** The employee; absent for a job. */
  employee?: Employee;
  /** The partner's id of the record. */
  partnerId: string;
  /** The hire of a candidate; absent if the link was imported. */
  hire?: { jobCandidateId: string; period: number };
  /** hirebridge made the employee, so the record has our reference. */
  isMade?: boolean;
}

export interface PairScope extends StreamKey {
  entity: PairEntity;
  /** The HRIS connection of the links. */
  connection: string;
  /** Only pairs whose hire is in one of these states; all if absent. */
  hireStates?: readonly HireState[];
  /** Includes pairs that are gone: their record may be back. */
  withGone?: boolean;
}

interface PairRow {
  pair_id: string;
  partner_id: string;
  job_candidate_id: string;
  period: number;
  /** Absent for a job. */
  how?: EmployedHow | undefined;
}

/** Linked pairs after the cursor, ordered by id; pairs that are gone only with `withGone`. */
export async function listPairs(
  { kysely }: Store,
  scope: PairScope,
  after: string | null,
  limit: number,
): Promise<LinkedPair[]> {
  const rows = await kysely
    .selectFrom(linked(kysely, scope).as('pairs'))
    .selectAll()
    .where('pairs.pair_id', '>', after ?? '')
    .$if(scope.withGone !== true, (query) =>
      query.where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('exchange_pairs as p')
              .select('p.pair_id')
              .where(has({ 'p.tenant_id': scope.tenantId, 'p.stream': scope.stream }))
              .whereRef('p.pair_id', '=', 'pairs.pair_id')
              .where('p.gone_at', 'is not', null),
          ),
        ),
      ),
    )
    .orderBy('pairs.pair_id')
    .limit(limit)
    .execute();
  return rows.map((row) => toPair(row, scope));
}

/** Counts linked pairs that were not gone before this run. */
export async function countPairs({ kysely }: Store, scope: PairScope, runId: string): Promise<number> {
  const goneBefore = kysely
    .selectFrom('exchange_pairs')
    .select('pair_id')
    .where(ofStream(scope))
    .where('gone_at', 'is not', null)
    .where('missing_run', '<>', runId);
  return countOf(kysely.selectFrom(linked(kysely, scope).as('pairs')).where('pairs.pair_id', 'not in', goneBefore));
}

export async function* pairPages(store: Store, scope: PairScope, size: number): AsyncGenerator<LinkedPair[]> {
  for (let after: string | null = null; ; ) {
    const pairs = await listPairs(store, scope, after, size);
    if (pairs.length > 0) yield pairs;
    after = pairs.at(-1)?.pairId ?? null;
    if (pairs.length < size) return;
  }
}

/** The pairs of these records of either side, gone ones included: a hint names only one of the two records. */
export async function findPairs(
  { kysely }: Store,
  scope: PairScope,
  recordIds: readonly string[],
): Promise<LinkedPair[]> {
  if (recordIds.length === 0) return [];
  const rows = await kysely
    .selectFrom(linked(kysely, scope).as('pairs'))
    .selectAll()
    .where((eb) => eb.or([eb('pairs.pair_id', 'in', recordIds), eb('pairs.partner_id', 'in', recordIds)]))
    .orderBy('pairs.pair_id')
    .execute();
  return rows.map((row) => toPair(row, scope));
}

function linked(kysely: Store['kysely'], scope: PairScope) {
  return scope.entity === 'job' ? linkedJobs(kysely, scope) : linkedCandidates(kysely, scope);
}

/** A candidate exchanges only with their latest employee: two would overwrite each other's values for ever. */
function linkedCandidates(kysely: Store['kysely'], { tenantId, connection, hireStates }: PairScope) {
  return kysely
    .selectFrom(employedRows({ kysely }).as('links'))
    .select(['links.employee_id as pair_id', 'links.candidate_id as partner_id'])
    .select(['links.job_candidate_id', 'links.period', 'links.how'])
    .where(has({ 'links.tenant_id': tenantId, 'links.connection': connection }))
    .$if(hireStates !== undefined, (query) =>
      query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('hires')
            .select('hires.period')
            .whereRef('hires.tenant_id', '=', 'links.tenant_id')
            .whereRef('hires.job_candidate_id', '=', 'links.job_candidate_id')
            .whereRef('hires.period', '=', 'links.period')
            .where('hires.state', 'in', hireStates ?? []),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom(employedRows({ kysely }).as('later'))
            .select('later.employee_id')
            .where(has({ 'later.tenant_id': tenantId, 'later.connection': connection }))
            .whereRef('later.candidate_id', '=', 'links.candidate_id')
            .where(({ eb, refTuple }) =>
              eb(
                refTuple('later.linked_at', 'later.employee_id'),
                '>',
                refTuple('links.linked_at', 'links.employee_id'),
              ),
            ),
        ),
      ),
    )
    .$castTo<PairRow>();
}

/** A person may have named one job for two positions; it exchanges with only one of them, for the same reason. */
function linkedJobs(kysely: Store['kysely'], { tenantId }: PairScope) {
  return kysely
    .selectFrom('requisitions as own')
    .select(['own.requisition_id as pair_id', 'own.job_id as partner_id'])
    .select([sql.lit('').as('job_candidate_id'), sql.lit(0).as('period')])
    .where(has({ 'own.tenant_id': tenantId, 'own.state': 'created' }))
    .where('own.job_id', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('requisitions as other')
            .select('other.requisition_id')
            .where(has({ 'other.tenant_id': tenantId, 'other.state': 'created' }))
            .whereRef('other.job_id', '=', 'own.job_id')
            .whereRef('other.requisition_id', '>', 'own.requisition_id'),
        ),
      ),
    )
    .$castTo<PairRow>();
}

function toPair(row: PairRow, { entity, connection }: PairScope): LinkedPair {
  const { pair_id: pairId, partner_id: partnerId, job_candidate_id: jobCandidateId, period } = row;
  const pair = { pairId, partnerId, ...(entity === 'job' ? {} : { employee: employeeIn(connection, pairId) }) };
  const isMade = row.how === 'made';
  return jobCandidateId === '' ? pair : { ...pair, hire: { jobCandidateId, period }, ...(isMade && { isMade }) };
}

/** Pairs of a stream that its runs leave out for one reason. */
export interface LeftOutPairs {
  stream: string;
  count: number;
  /** Since when the oldest of them is left out. */
  since: number;
  why: { kind: 'missing'; side: Side } | { kind: 'in doubt' } | { kind: 'refused'; field: string; code: string };
}

/** By reason: a record was not found, a write has an unknown outcome, or a side refuses a value. */
export async function readLeftOutPairs(store: Store, tenantId: string): Promise<LeftOutPairs[]> {
  const [missing, inDoubt, refused] = await Promise.all([
    readMissing(store, tenantId),
    readInDoubt(store, tenantId),
    readRefused(store, tenantId),
  ]);
  return [...missing, ...inDoubt, ...refused];
}

const count = sql<number>`count(*)`.as('count');

/** Pairs that are gone are not counted as missing. */
async function readMissing({ kysely }: Store, tenantId: string): Promise<LeftOutPairs[]> {
  const rows = await kysely
    .selectFrom('exchange_pairs')
    .select(['stream', 'missing_side', count, (eb) => eb.fn.min('updated_at').as('since')])
    .where('tenant_id', '=', tenantId)
    .where('missing_side', 'is not', null)
    .where('gone_at', 'is', null)
    .groupBy(['stream', 'missing_side'])
    .execute();
  return rows.map(({ missing_side: side, ...row }) => ({ ...row, why: { kind: 'missing', side: side ?? 'partner' } }));
}

async function readInDoubt({ kysely }: Store, tenantId: string): Promise<LeftOutPairs[]> {
  const rows = await kysely
    .selectFrom('exchange_pairs')
    .select(['stream', count, (eb) => eb.fn.min('updated_at').as('since')])
    .where('tenant_id', '=', tenantId)
    // Written literally, so that the planner uses the partial index.
    .where(sql<boolean>`sent <> '{}'`)
    .groupBy('stream')
    .execute();
  return rows.map((row) => ({ ...row, why: { kind: 'in doubt' } }));
}

async function readRefused({ kysely }: Store, tenantId: string): Promise<LeftOutPairs[]> {
  const rows = await kysely
    .selectFrom('field_conflicts')
    .select(['stream', 'field', 'code', count, (eb) => eb.fn.min('since').as('since')])
    .where(has({ tenant_id: tenantId, kind: 'quarantined', closed_at: null }))
    .groupBy(['stream', 'field', 'code'])
    .execute();
  return rows.map(({ field, code, ...row }) => ({ ...row, why: { kind: 'refused', field, code: code ?? 'REFUSED' } }));
}

/** How many pairs of each stream of these tenants have a value that a side refuses. */
export async function countRefusedPairs(
  { kysely }: Store,
  tenantIds: readonly string[],
): Promise<(StreamKey & { count: number })[]> {
  if (tenantIds.length === 0) return [];
  return (
    kysely
      .selectFrom('field_conflicts')
      .select(['tenant_id as tenantId', 'stream', sql<number>`count(distinct pair_id)`.as('count')])
      // Written literally, so that the planner uses the partial index.
      .where(sql<boolean>`closed_at is null`)
      .where('kind', '=', 'quarantined')
      .where('tenant_id', 'in', tenantIds)
      .groupBy(['tenant_id', 'stream'])
      .execute()
  );
}

/** Pairs with one of these fields refused for one of these reasons. */
export async function findRefusedPairs(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  { fields, codes }: { fields: readonly string[]; codes: readonly string[] },
): Promise<string[]> {
  const rows = await kysely
    .selectFrom('field_conflicts')
    .select('pair_id')
    .distinct()
    .where(has({ tenant_id: tenantId, stream, closed_at: null, kind: 'quarantined' }))
    .where('field', 'in', fields)
    .where('code', 'in', codes)
    .execute();
  return rows.map((row) => row.pair_id);
}

/**
 * Makes the next read of the pairs that a stream leaves out try them again, by forgetting which values were refused.
 * Returns their ids.
 */
export async function retryLeftOutPairs({ kysely }: Store, { tenantId, stream }: StreamKey): Promise<string[]> {
  const own = { tenant_id: tenantId, stream };
  const refused = await kysely
    .updateTable('field_conflicts')
    .set({ partner_form: null, hris_form: null })
    .where(has({ ...own, kind: 'quarantined', closed_at: null }))
    .returning('pair_id')
    .execute();
  const others = await kysely
    .selectFrom('exchange_pairs')
    .select('pair_id')
    .where(has({ ...own, gone_at: null }))
    .where((eb) => eb.or([eb('missing_side', 'is not', null), eb('sent', '<>', '{}')]))
    .execute();
  return [...new Set([...refused, ...others].map((row) => row.pair_id))];
}
