import type { EmployeeFields } from '../hire/hire.ts';
import { batchesOf, put, readInBatches, type Store } from './open-store.ts';
import { sealed } from './sealed-values.ts';
import { ofStream, type StreamKey } from './streams.ts';

/** One record of a lookup table; `hash` covers `fields`. */
interface LookupRow {
  id: string;
  hash: string;
  fields: EmployeeFields;
}

/** The rows of one table; all of them without `ids`. */
export async function readLookupRows(store: Store, key: StreamKey, ids?: readonly string[]): Promise<LookupRow[]> {
  const all = store.kysely
    .selectFrom('lookup_rows')
    .select(['tenant_id', 'record_id as id', 'row_hash as hash', 'fields'])
    .where(ofStream(key));
  const read = (some: readonly string[]) => all.where('record_id', 'in', some).execute();
  const rows = await (ids === undefined ? all.execute() : readInBatches(ids, read));
  return rows.map(({ id, hash, fields }) => ({ id, hash, fields: JSON.parse(fields) as EmployeeFields }));
}

/** The first ids after `after`, in order. */
export async function listLookupIds(
  store: Store,
  key: StreamKey,
  { after, most }: { after?: string | undefined; most: number },
): Promise<string[]> {
  const own = store.kysely.selectFrom('lookup_rows').select('record_id').where(ofStream(key));
  const behind = after === undefined ? own : own.where('record_id', '>', after);
  const rows = await behind.orderBy('record_id').limit(most).execute();
  return rows.map((row) => row.record_id);
}

/** Writes all rows or none. */
export async function saveLookupRows(store: Store, key: StreamKey, rows: readonly LookupRow[]): Promise<void> {
  const { tenantId: tenant_id, stream } = key;
  const all = await Promise.all(
    rows.map(async ({ id: record_id, hash: row_hash, fields: plain }) => {
      const fields = await sealed(store, 'lookup_rows.fields', tenant_id, JSON.stringify(plain));
      return { tenant_id, stream, record_id, row_hash, fields };
    }),
  );
  const columns = { key: ['tenant_id', 'stream', 'record_id'], set: ['row_hash', 'fields'] } as const;
  await store.kysely.transaction().execute((kysely) => put({ kysely }, 'lookup_rows', all, columns));
}

export async function removeLookupRows(store: Store, key: StreamKey, ids: readonly string[]): Promise<void> {
  for (const some of batchesOf(ids))
    await store.kysely.deleteFrom('lookup_rows').where(ofStream(key)).where('record_id', 'in', some).execute();
}
