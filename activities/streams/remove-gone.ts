import { type FieldChange, type NewWrite, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { forgetMissing } from '../../src/store/stream-missing.ts';
import { isLookup } from '../../src/streams/streams.ts';
import { isStillOurs, type Reading } from './reading.ts';

const HRIS_MS = 60_000;
/** Ids a statement. */
const BATCH = 100;

/** Does on the other side what the tenant's policy says. Returns how many rows were taken away or marked. */
export async function removeGone(reading: Reading, ids: readonly string[]): Promise<number> {
  const { deps, key, connection, destination } = reading;
  const { deletion } = connection.tenant.streams[key.stream];
  if (deletion === 'ignore') return 0;
  let removed = 0;
  for (let from = 0; from < ids.length; from += BATCH) {
    const some = ids.slice(from, from + BATCH);
    if (!(await isStillOurs(reading))) break;
    removed += await removeRows(reading, some, deletion === 'mark');
    await forgetMissing(deps.store, key, some);
  }
  if (removed > 0)
    deps.log.info({ ...key, removed, deletion, mapping: destination.origin.mappingHash }, 'gone records');
  return removed;
}

/** Taken down before it leaves, as every foreign write. */
async function removeRows({ destination, key }: Reading, ids: readonly string[], mark: boolean): Promise<number> {
  const { landing, store, origin, mapping } = destination;
  const { tenantId: tenant, stream } = key;
  const rows = await landing.read(stream, ids, { tenant, signal: AbortSignal.timeout(HRIS_MS) });
  const there = rows.filter(({ hash }) => hash !== '');
  if (there.length === 0) return 0;
  const sensitive = mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  const writes = there.map(({ id, fields }): NewWrite => {
    const changes = Object.entries(fields).map(([name, old]): [string, FieldChange] => [name, { old, new: null }]);
    const ended = { target: stream, recordId: id, kind: 'end', sensitive } as const;
    return { ...ended, changes: mark ? {} : Object.fromEntries(changes), ...(mark ? { rowHash: '' } : {}) };
  });
  const batchId = isLookup(stream) ? undefined : await recordWrites(store, origin, writes);
  const known = there.map(({ id }) => id);
  await landing.remove(stream, known, { tenant, mark, signal: AbortSignal.timeout(HRIS_MS) });
  if (batchId !== undefined) await settleWrites(store, batchId, 'done');
  return known.length;
}
