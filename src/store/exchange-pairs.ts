import { sql } from 'kysely';
import { isSameEmployee, isSameHire, type Side } from '../hire/hire.ts';
import type { Employed } from '../person/person.ts';
import { countOf, didChange, findsAny, has, type Store } from './open-store.ts';
import type { Row, StreamRow } from './schema.ts';
import { sealed } from './sealed-values.ts';
import { isUnderWay, ofStream, type StreamKey } from './streams.ts';

/** The stored state of a pair; `version` is 0 if nothing is stored. */
export interface PairState
  extends Pick<Row<'exchange_pairs'>, 'version' | 'settles_at' | 'missing_side' | 'missing_run' | 'updated_at'> {
  bases: Readonly<Record<string, string>>;
  /** By field: the fields of both sides that its base belongs to; absent in pairs of an earlier version. */
  identities: Readonly<Record<string, string>>;
  sent: SentForms;
  echoes: Echoes;
  isGone: boolean;
}

/** By field: a value whose write has not been confirmed. */
export type SentForms = Readonly<Record<string, { to: Side; form: string }>>;

/** By field: the last write that was accepted, until its side is seen to hold exactly that value. */
export type Echoes = Readonly<Record<string, Echo>>;

export interface Echo {
  to: Side;
  form: string;
  /** Forms that the side may still show for a while: the value before, and values written since. */
  over?: readonly string[];
  /** When it was written, by the database's clock. */
  at?: number;
  /** The form that the side showed directly after the write. */
  after?: string;
  /** How many writes of the field in a row had come back changed by then. */
  times: number;
  /** The form of a later write whose outcome is unknown because its field could not be read since. */
  doubt?: string;
  /** The form that the side shows instead, treated as `form` there; absent until it was looked at. */
  shown?: string;
}

export const UNKNOWN_PAIR: PairState = {
  version: 0,
  bases: {},
  identities: {},
  sent: {},
  echoes: {},
  settles_at: 0,
  updated_at: 0,
  missing_side: null,
  missing_run: null,
  isGone: false,
};

/** Changes of a pair; `settlesInMs` counts from now. */
interface PairChange {
  pairId: string;
  /** The version of the state that the change was decided from. */
  version: number;
  bases?: Readonly<Record<string, string>>;
  identities?: Readonly<Record<string, string>> | undefined;
  sent?: SentForms;
  echoes?: Echoes;
  settlesInMs?: number;
  missing?: { side: Side; runId: string } | null;
  isGone?: boolean;
}

/** Stored states of these pairs; a pair without one is left out. */
export async function readPairStates(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  pairIds: readonly string[],
): Promise<Map<string, PairState>> {
  if (pairIds.length === 0) return new Map();
  const rows = await kysely
    .selectFrom('exchange_pairs')
    .selectAll()
    .where(ofStream({ tenantId, stream }))
    .where('pair_id', 'in', pairIds)
    .execute();
  return new Map(
    rows.map(({ pair_id, bases, identities, sent, echoes, gone_at, ...row }) => [
      pair_id,
      {
        version: row.version,
        settles_at: row.settles_at,
        missing_side: row.missing_side,
        missing_run: row.missing_run,
        updated_at: row.updated_at,
        bases: JSON.parse(bases) as Record<string, string>,
        identities: JSON.parse(identities) as Record<string, string>,
        sent: JSON.parse(sent) as SentForms,
        echoes: readEchoes(echoes),
        isGone: gone_at !== null,
      },
    ]),
  );
}

/** An earlier version stored a single form in `over`. */
function readEchoes(text: string): Echoes {
  const kept = JSON.parse(text) as Record<string, Omit<Echo, 'over'> & { over?: string | readonly string[] }>;
  return Object.fromEntries(
    Object.entries(kept).map(([field, { over, ...echo }]) => [
      field,
      over === undefined ? echo : { ...echo, over: [over].flat() },
    ]),
  );
}

/**
 * Saves the changes of a pair, if its state is still the one they were decided from. False if another process changed
 * it first: nothing is saved, and the caller must write nothing.
 */
export async function savePair(
  store: Store,
  { tenantId, stream }: StreamKey,
  { pairId, version, bases, identities, sent, echoes, settlesInMs, missing, isGone }: PairChange,
): Promise<boolean> {
  const { kysely, now } = store;
  const seal = (column: 'bases' | 'sent' | 'echoes', value: object): Promise<string> =>
    sealed(store, `exchange_pairs.${column}`, tenantId, JSON.stringify(value));
  const settles = settlesInMs === undefined ? undefined : sql<number>`${now} + ${sql.lit(settlesInMs)}`;
  const changed = {
    version: version + 1,
    updated_at: now,
    ...(bases === undefined ? {} : { bases: await seal('bases', bases) }),
    ...(identities === undefined ? {} : { identities: JSON.stringify(identities) }),
    ...(sent === undefined ? {} : { sent: await seal('sent', sent) }),
    ...(echoes === undefined ? {} : { echoes: await seal('echoes', echoes) }),
    ...(settles === undefined ? {} : { settles_at: settles }),
    ...(missing === undefined ? {} : { missing_side: missing?.side ?? null, missing_run: missing?.runId ?? null }),
    ...(isGone === undefined ? {} : { gone_at: isGone ? now : null }),
  };
  if (version > 0) {
    return didChange(
      kysely
        .updateTable('exchange_pairs')
        .set(changed)
        .where(has({ tenant_id: tenantId, stream, pair_id: pairId, version })),
    );
  }
  const row = { tenant_id: tenantId, stream, pair_id: pairId, bases: '{}', sent: '{}', settles_at: 0 };
  return didChange(
    kysely
      .insertInto('exchange_pairs')
      .values({ ...row, missing_side: null, missing_run: null, gone_at: null, ...changed })
      .onConflict((c) => c.doNothing()),
  );
}

/** How many pairs this run has marked as missing on a side, or as gone. */
export async function countMarked(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  missing: { side: Side; runId: string },
): Promise<number> {
  const own = { tenant_id: tenantId, stream, missing_side: missing.side, missing_run: missing.runId };
  return countOf(kysely.selectFrom('exchange_pairs').where(has(own)));
}

/** Forgets a pair whose link moved to another record: its agreed values and conflicts belong to the record before. */
export async function forgetPair(
  store: Store,
  { tenantId, stream, pairId }: StreamKey & { pairId: string },
): Promise<void> {
  const own = { tenant_id: tenantId, stream, pair_id: pairId };
  await store.kysely.deleteFrom('exchange_pairs').where(has(own)).execute();
  await closeConflicts(store, own);
}

/** Streams report who has an employee now, so what they noted of the hire or the candidate before goes. */
export async function forgetTold(store: Store, before: readonly Employed[], now: readonly Employed[]): Promise<void> {
  for (const { employee, hire, candidate } of now) {
    const had = before.find((one) => isSameEmployee(one.employee, employee));
    if (had === undefined) continue;
    const { id } = employee;
    for (const tenantId of new Set([had.hire.tenantId, hire.tenantId])) {
      if (had.candidate.candidateId !== candidate.candidateId) await meetAnew(store, tenantId, id);
      if (isSameHire(had.hire, hire)) continue;
      await store.kysely
        .deleteFrom('employments')
        .where(has({ tenant_id: tenantId, employee_id: id }))
        .execute();
      // Another hire's job and start date are no amendment.
      await forgetPair(store, { tenantId, stream: 'amendments', pairId: id });
    }
  }
}

/**
 * Makes an employee and the other candidate whom they have now meet for the first time: what was agreed with the
 * candidate before is no edit of this one, nor is this one gone. The HR system's record is still the one that was met,
 * and a write to it may still arrive, so its reference and the pair's mark stay.
 */
async function meetAnew(store: Store, tenantId: string, employeeId: string): Promise<void> {
  const unmet = { bases: '{}', sent: '{}', echoes: '{}', missing_side: null, missing_run: null, gone_at: null };
  for (const stream of ['employees', 'amendments']) {
    const own = { tenant_id: tenantId, stream, pair_id: employeeId };
    await store.kysely
      .updateTable('exchange_pairs')
      .set((eb) => ({ ...unmet, version: eb('version', '+', 1), updated_at: store.now }))
      .where(has(own))
      .execute();
    await closeConflicts(store, own);
  }
}

async function closeConflicts(
  { kysely, now }: Store,
  own: Pick<Row<'field_conflicts'>, 'tenant_id' | 'stream' | 'pair_id'>,
): Promise<void> {
  await kysely
    .updateTable('field_conflicts')
    .set({ closed_at: now })
    .where(has({ ...own, closed_at: null }))
    .execute();
}

/** Counts of some pairs, to be added to a run's. */
export interface PairCounts {
  unchanged: number;
  updated: number;
  skipped: number;
  quarantined: number;
  held: number;
}

/** Where a run continues, and what it has learned. */
interface CommittedPairs {
  cursor: string | null;
  counts: PairCounts;
  isOver: boolean;
  /** JSON of the survey made before writing; absent: unchanged. */
  survey?: string;
}

/** Moves a run's cursor past pairs that are written. Undefined if another run took over. */
export async function commitPairs(
  { kysely, now }: Store,
  key: StreamKey,
  runId: string,
  { cursor, counts, isOver, survey }: CommittedPairs,
): Promise<StreamRow | undefined> {
  const { unchanged, updated, skipped, quarantined, held } = counts;
  const read = unchanged + updated + skipped + quarantined + held;
  const isPartial = sql<boolean>`skipped + quarantined + held + ${skipped + quarantined + held} > 0`;
  return kysely
    .updateTable('streams')
    .set((eb) => ({
      cursor,
      page: eb('page', '+', 1),
      seen: eb('seen', '+', read),
      unchanged: eb('unchanged', '+', unchanged),
      updated: eb('updated', '+', updated),
      skipped: eb('skipped', '+', skipped),
      quarantined: eb('quarantined', '+', quarantined),
      held: eb('held', '+', held),
      updated_at: now,
      ...(survey === undefined ? {} : { tally: survey }),
      ...(isOver
        ? {
            ended_at: now,
            state: eb
              .case()
              .when(isPartial)
              .then('partial' as const)
              .else('done' as const)
              .end(),
          }
        : {}),
    }))
    .where(isUnderWay(key, runId))
    .returningAll()
    .executeTakeFirst();
}

/** Whether this run may still write. */
export async function isRunning({ kysely }: Store, key: StreamKey, runId: string): Promise<boolean> {
  return findsAny(kysely.selectFrom('streams').select('run_id').where(isUnderWay(key, runId)));
}

/** Change limits count writes of this long, or of the whole run if it lasts longer. */
const LOOKS_BACK_MS = 3_600_000;

/** Records writes that are about to be made, as JSON. */
export async function addWrites(store: Store, key: StreamKey, tally: string): Promise<void> {
  const { kysely, now } = store;
  await kysely
    .deleteFrom('exchange_tallies')
    .where(ofStream(key))
    .where('written_at', '<=', lately(store, key))
    .execute();
  const row = { tenant_id: key.tenantId, stream: key.stream, written_at: now, tally };
  await kysely.insertInto('exchange_tallies').values(row).execute();
}

/** Writes of the current run, and of other runs within the hour. */
export async function recentWrites(store: Store, key: StreamKey): Promise<string[]> {
  const query = store.kysely.selectFrom('exchange_tallies').select('tally').where(ofStream(key));
  const rows = await query.where('written_at', '>', lately(store, key)).execute();
  return rows.map(({ tally }) => tally);
}

/** Removes from the tallies the writes that a person allowed; `without` removes them from one tally. */
export async function forgetAllowed(store: Store, key: StreamKey, without: (tally: string) => string): Promise<void> {
  for (const tally of new Set(await recentWrites(store, key)))
    await store.kysely
      .updateTable('exchange_tallies')
      .set({ tally: without(tally) })
      .where(ofStream(key))
      .where('tally', '=', tally)
      .execute();
}

/** The beginning of the run or an hour ago, the earlier of the two. */
function lately({ kysely, now }: Store, { tenantId, stream }: StreamKey) {
  const anHourAgo = sql<number>`${now} - ${sql.lit(LOOKS_BACK_MS)}`;
  return kysely
    .selectFrom('streams')
    .select((eb) =>
      eb
        .case()
        .when('started_at', '<', anHourAgo)
        .then(eb('started_at', '-', 1))
        .else(anHourAgo)
        .end()
        .as('since'),
    )
    .where(ofStream({ tenantId, stream }));
}
