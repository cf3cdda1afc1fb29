import { sql } from 'kysely';
import type { HireState } from '../hire/hire-state.ts';
import type { Side } from '../hire/side.ts';
import type { ExchangePairTable } from './exchange-tables.ts';
import type { Store } from './open-store.ts';
import type { LinkRow } from './schema.ts';
import type { StreamKey } from './streams.ts';

/** A candidate and the employee that they became. */
export interface LinkedPair {
  /** The employee's id. */
  pairId: string;
  candidateId: string;
  jobCandidateId: string;
  period: number;
}

export interface PairScope extends StreamKey {
  /** The HRIS connection of the links. */
  connection: string;
  /** Only pairs whose hire stands so; all of them where absent. */
  hireStates?: readonly HireState[];
}

/** What is known of a pair; `version` 0 where nothing is. */
export interface PairState extends Pick<ExchangePairTable, 'version' | 'settles_at' | 'missing_side' | 'missing_run'> {
  bases: Readonly<Record<string, string>>;
  sent: SentForms;
  isGone: boolean;
}

/** Values under way, by field. */
export type SentForms = Readonly<Record<string, { to: Side; form: string }>>;

export const UNKNOWN_PAIR: PairState = {
  version: 0,
  bases: {},
  sent: {},
  settles_at: 0,
  missing_side: null,
  missing_run: null,
  isGone: false,
};

/** What changes of a pair; `settlesInMs` from now. */
export interface PairChange {
  pairId: string;
  /** The state that it was decided from. */
  version: number;
  bases?: Readonly<Record<string, string>>;
  sent?: SentForms;
  settlesInMs?: number;
  missing?: { side: Side; runId: string } | null;
  isGone?: boolean;
}

/** Linked pairs behind the cursor, in the order of their ids; those that are gone are left out. */
export async function listPairs(
  { kysely }: Store,
  scope: PairScope,
  after: string | null,
  limit: number,
): Promise<LinkedPair[]> {
  const rows = await linked(kysely, scope)
    .where('links.employee_id', '>', after ?? '')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('exchange_pairs as p')
            .select('p.pair_id')
            .where('p.tenant_id', '=', scope.tenantId)
            .where('p.stream', '=', scope.stream)
            .whereRef('p.pair_id', '=', 'links.employee_id')
            .where('p.gone_at', 'is not', null),
        ),
      ),
    )
    .orderBy('links.employee_id')
    .limit(limit)
    .execute();
  return rows.map(toPair);
}

/** All of them, so many at a time. */
export async function* pairPages(store: Store, scope: PairScope, size: number): AsyncGenerator<LinkedPair[]> {
  for (let after: string | null = null; ; ) {
    const pairs = await listPairs(store, scope, after, size);
    if (pairs.length > 0) yield pairs;
    after = pairs.at(-1)?.pairId ?? null;
    if (pairs.length < size) return;
  }
}

/** The pairs of these candidates or employees, gone or not: whoever hints knows one of the two. */
export async function findPairs(
  { kysely }: Store,
  scope: PairScope,
  recordIds: readonly string[],
): Promise<LinkedPair[]> {
  if (recordIds.length === 0) return [];
  const rows = await linked(kysely, scope)
    .where((eb) => eb.or([eb('links.employee_id', 'in', recordIds), eb('links.candidate_id', 'in', recordIds)]))
    .orderBy('links.employee_id')
    .execute();
  return rows.map(toPair);
}

/** A candidate exchanges with their latest employee alone: two of them would overwrite each other's values for ever. */
function linked(kysely: Store['kysely'], { tenantId, connection, hireStates }: PairScope) {
  return kysely
    .selectFrom('links')
    .select(['links.employee_id', 'links.candidate_id', 'links.job_candidate_id', 'links.period'])
    .where('links.tenant_id', '=', tenantId)
    .where('links.connection', '=', connection)
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
          selectFrom('links as later')
            .select('later.employee_id')
            .where('later.tenant_id', '=', tenantId)
            .where('later.connection', '=', connection)
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
    );
}

function toPair(row: Pick<LinkRow, 'employee_id' | 'candidate_id' | 'job_candidate_id' | 'period'>): LinkedPair {
  const { employee_id: pairId, candidate_id: candidateId, job_candidate_id: jobCandidateId, period } = row;
  return { pairId, candidateId, jobCandidateId, period };
}

/** What is known of these pairs; what nobody has seen yet is left out. */
export async function readPairStates(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  pairIds: readonly string[],
): Promise<Map<string, PairState>> {
  if (pairIds.length === 0) return new Map();
  const rows = await kysely
    .selectFrom('exchange_pairs')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .where('pair_id', 'in', pairIds)
    .execute();
  return new Map(
    rows.map(({ pair_id, bases, sent, settles_at, gone_at, version, missing_side, missing_run }) => [
      pair_id,
      {
        version,
        missing_side,
        missing_run,
        bases: JSON.parse(bases) as Record<string, string>,
        sent: JSON.parse(sent) as SentForms,
        settles_at: Number(settles_at),
        isGone: gone_at !== null,
      },
    ]),
  );
}

/**
 * Saves what changed of a pair, over the state it was decided from. False where somebody else was quicker: then
 * nothing is saved, and nothing may be written.
 */
export async function savePair(
  { kysely, now }: Store,
  { tenantId, stream }: StreamKey,
  { pairId, version, bases, sent, settlesInMs, missing, isGone }: PairChange,
): Promise<boolean> {
  const settles = settlesInMs === undefined ? undefined : sql<number>`${now} + ${sql.lit(settlesInMs)}`;
  const changed = {
    version: version + 1,
    updated_at: now,
    ...(bases === undefined ? {} : { bases: JSON.stringify(bases) }),
    ...(sent === undefined ? {} : { sent: JSON.stringify(sent) }),
    ...(settles === undefined ? {} : { settles_at: settles }),
    ...(missing === undefined ? {} : { missing_side: missing?.side ?? null, missing_run: missing?.runId ?? null }),
    ...(isGone === undefined ? {} : { gone_at: isGone ? now : null }),
  };
  if (version > 0) {
    const result = await kysely
      .updateTable('exchange_pairs')
      .set(changed)
      .where('tenant_id', '=', tenantId)
      .where('stream', '=', stream)
      .where('pair_id', '=', pairId)
      .where('version', '=', version)
      .executeTakeFirst();
    return result.numUpdatedRows === 1n;
  }
  const row = { tenant_id: tenantId, stream, pair_id: pairId, bases: '{}', sent: '{}', settles_at: 0 };
  const made = await kysely
    .insertInto('exchange_pairs')
    .values({ ...row, missing_side: null, missing_run: null, gone_at: null, ...changed })
    .onConflict((c) => c.doNothing())
    .executeTakeFirst();
  return made.numInsertedOrUpdatedRows === 1n;
}
