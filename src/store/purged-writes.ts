import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Store } from './open-store.ts';
import type { ForeignWriteRow } from './schema.ts';

/** Records with the same kind, outcome and fields. */
interface Alike extends Pick<ForeignWriteRow, 'kind' | 'outcome'> {
  fields: string[];
  ids: string[];
}

/**
 * Clears the values of these batches. Of landed records, the ids, fields and times stay, many records in one row.
 * Writes with an intent, a foreign id or an open outcome keep their own rows without the values.
 */
export async function purgeBatches(store: Store, batchIds: readonly string[]): Promise<void> {
  if (batchIds.length === 0) return;
  await store.kysely.transaction().execute(async (kysely) => {
    const open = kysely.selectFrom('open_batches').select('batch_id').where('batch_id', 'in', batchIds);
    const landed = await kysely
      .deleteFrom('foreign_writes')
      .where('batch_id', 'in', batchIds)
      .where('batch_id', 'not in', open)
      .where('outcome', '!=', 'open')
      .where('period', 'is', null)
      .where('verb', 'is', null)
      .where((eb) => eb.or([eb('foreign_id', 'is', null), eb('target', '=', sql.lit('candidate-value'))]))
      .returningAll()
      .execute();
    const pages = Map.groupBy(landed, (row) => JSON.stringify([row.run_id, row.target, row.mapping_hash, row.by]));
    for (const rows of pages.values()) {
      const [{ tenant_id, run_id, target, mapping_hash, by }] = rows as [ForeignWriteRow];
      const common = { tenant_id, run_id, target, mapping_hash, by, purged_at: store.now };
      const sent_at = Math.min(...rows.map((row) => Number(row.sent_at)));
      const page = { ...common, page_id: randomUUID(), sent_at, records: JSON.stringify(alike(rows)) };
      await kysely.insertInto('purged_writes').values(page).execute();
    }
    await kysely
      .updateTable('foreign_writes')
      .set({ changes: '{}', purged_at: store.now })
      .where('batch_id', 'in', batchIds)
      .execute();
  });
}

function alike(rows: readonly ForeignWriteRow[]): Alike[] {
  const groups = Map.groupBy(rows, ({ kind, outcome, fields }) => JSON.stringify([kind, outcome, fields]));
  return [...groups.values()].map((own) => {
    const [{ kind, outcome, fields }] = own as [ForeignWriteRow];
    return { kind, outcome, fields: JSON.parse(fields) as string[], ids: own.map((row) => row.record_id) };
  });
}

/** Columns that a landed record does not keep or never had. */
const NOTHING = {
  sensitive: '[]',
  changes: '{}',
  row_hash: null,
  period: null,
  foreign_id: null,
  verb: null,
  attempt: null,
  verified_at: null,
};

/** Answers queries on `foreign_writes` for landed records whose values were purged. */
export async function listPurged(
  { kysely }: Store,
  filter: {
    tenantId: string;
    mapping?: string;
    recordId?: string;
    runId?: string;
    target?: string;
    after?: readonly [sentAt: number, recordId: string];
    limit?: number;
  },
): Promise<ForeignWriteRow[]> {
  let query = kysely
    .selectFrom('purged_writes')
    .selectAll()
    .where('tenant_id', '=', filter.tenantId)
    .orderBy('sent_at', 'desc');
  if (filter.mapping !== undefined) query = query.where('mapping_hash', 'like', `${filter.mapping}%`);
  if (filter.runId !== undefined) query = query.where('run_id', '=', filter.runId);
  if (filter.target !== undefined) query = query.where('target', '=', filter.target);
  if (filter.after !== undefined) query = query.where('sent_at', '<=', filter.after[0]);
  // May find a few too many, since `_` in the pattern matches any character; filtered below.
  const named = JSON.stringify(filter.recordId ?? '').replaceAll(/[^\w"-]/g, '_');
  if (filter.recordId !== undefined) query = query.where(sql`records`, 'like', `%${named}%`);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  const pages = await query.execute();
  return pages.flatMap(({ page_id: batch_id, records, ...page }) =>
    (JSON.parse(records) as Alike[]).flatMap(({ kind, outcome, fields, ids }) =>
      ids
        .filter((id) => filter.recordId === undefined || id === filter.recordId)
        .map((record_id) => ({
          ...page,
          ...NOTHING,
          batch_id,
          record_id,
          kind,
          outcome,
          fields: JSON.stringify(fields),
        })),
    ),
  );
}
