import { sql } from 'kysely';
import type { Store } from './open-store.ts';
import type { StreamRow } from './schema.ts';
import { isUnderWay, type StreamKey } from './streams.ts';

/** What some pairs added to a run. */
export interface PairCounts {
  unchanged: number;
  updated: number;
  skipped: number;
  quarantined: number;
  held: number;
}

/** Moves a run's cursor past some pairs, which are written by now. Undefined when another run took over. */
export async function commitPairs(
  { kysely, now }: Store,
  key: StreamKey,
  runId: string,
  { cursor, counts, isOver }: { cursor: string | null; counts: PairCounts; isOver: boolean },
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
