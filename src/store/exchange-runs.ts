import { type ExpressionBuilder, sql } from 'kysely';
import type { Store } from './open-store.ts';
import type { StreamRow, Tables } from './schema.ts';
import { isUnderWay, type StreamKey } from './streams.ts';

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
  const row = await kysely.selectFrom('streams').select('run_id').where(isUnderWay(key, runId)).executeTakeFirst();
  return row !== undefined;
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

function ofStream({ tenantId, stream }: StreamKey) {
  return (eb: ExpressionBuilder<Tables, 'exchange_tallies'>) => eb.and({ tenant_id: tenantId, stream });
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
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream);
}
