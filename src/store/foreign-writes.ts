import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { HireRef } from '../hire/hire.ts';
import { hasEscapeUnknownToPostgres, selectJson, selectRows } from '../sql/dialects.ts';
import { hireBehind, whileKnown } from './hires.ts';
import { batchesOf, didChange, given, has, inTransaction, type Store } from './open-store.ts';
import type { ForeignWriteRow, Row } from './schema.ts';
import { sealed } from './sealed-values.ts';
import type { WriteOutcome } from './stream-tables.ts';

/** The old and new value of one field; `old` is absent if it was not known. */
export interface FieldChange {
  old?: unknown;
  new: unknown;
}

/** A record that is about to be written at the partner or in the HRIS. */
export interface NewWrite {
  target: Row<'foreign_writes'>['target'];
  recordId: string;
  period?: number;
  foreignId?: string;
  kind: Row<'foreign_writes'>['kind'];
  changes: Readonly<Record<string, FieldChange>>;
  /** Fields to show masked. */
  sensitive: readonly string[];
  rowHash?: string;
}

/** What all writes of a batch share. */
export interface WriteOrigin {
  tenantId: string;
  runId: string;
  mappingHash: string | null;
  by: string;
  /** The intent that records the outcome. */
  intent?: { verb: string; attempt: number };
}

/** The author of writes that no person asked for. */
export const BY_ITSELF = 'hirebridge';

/**
 * Records the changes of a batch before it is sent. Returns the batch's id.
 * @throws ConnectorError HIRE_BEHIND if they are of a hire whose row is gone
 */
export async function recordWrites(store: Store, origin: WriteOrigin, writes: readonly NewWrite[]): Promise<string> {
  if (writes.length === 0) return randomUUID();
  // An intent itself says that the write is open; without one, a single row says so for a batch of several writes.
  const isOpen = origin.intent === undefined;
  const isSaidOnce = isOpen && writes.length > 1;
  const common = {
    batch_id: randomUUID(),
    tenant_id: origin.tenantId,
    run_id: origin.runId,
    verb: origin.intent?.verb ?? null,
    attempt: origin.intent?.attempt ?? null,
    mapping_hash: origin.mappingHash,
    by: origin.by,
    outcome: isOpen && !isSaidOnce ? ('open' as const) : ('done' as const),
  };
  const values = valuesOf(store, common, await sealedRows(store, origin.tenantId, writes.map(rowOf)));
  const insert = async (open: Store): Promise<true> => {
    if (isSaidOnce) await insertOpen(open, common, values);
    else await sql`insert into foreign_writes ${values}`.execute(open.kysely);
    return true;
  };
  const hire = hireOfWrites(origin.tenantId, writes);
  if (hire === undefined) await insert(store);
  else if ((await whileKnown(store, hire, insert)) === undefined) throw hireBehind(hire);
  return common.batch_id;
}

/** The hire that writes are of; undefined for those of a stream. */
function hireOfWrites(tenantId: string, [first]: readonly NewWrite[]): HireRef | undefined {
  if (first?.period === undefined) return undefined;
  return { tenantId, jobCandidateId: first.recordId, period: first.period };
}

/** Values common to all rows are sent once: repeated in each row they made up a third of the statement. */
function valuesOf({ kind, now }: Store, common: Pick<ForeignWriteRow, 'batch_id'>, rows: readonly OwnColumns[]) {
  const columns = { common: Object.keys(common), own: Object.keys(rows[0] ?? {}) };
  const all = sql.join([...columns.common, ...columns.own].map((column) => sql.ref(column)));
  return sql`(${all}, sent_at) select common.*, own.*, ${now}
    from (${selectRows(kind, 'foreign_writes', columns.common, [common])}) as common
    cross join (${selectJson(kind, 'foreign_writes', columns.own, asJson(rows))}) as own`;
}

/** Inserts both or neither: rows without their open batch would claim that writes which never left have arrived. */
async function insertOpen(
  store: Store,
  { batch_id, tenant_id }: Pick<ForeignWriteRow, 'batch_id' | 'tenant_id'>,
  values: RawBuilder<unknown>,
): Promise<void> {
  if (store.kind === 'postgres') {
    await sql`with open as (insert into open_batches (batch_id, tenant_id) values (${batch_id}, ${tenant_id}))
      insert into foreign_writes ${values}`.execute(store.kysely);
    return;
  }
  await inTransaction(store, async ({ kysely: trx }) => {
    await trx.insertInto('open_batches').values({ batch_id, tenant_id }).execute();
    await sql`insert into foreign_writes ${values}`.execute(trx);
  });
}

type OwnColumns = Omit<ReturnType<typeof rowOf>, 'changes'> & { changes: NewWrite['changes'] | string };

/** Encrypts the changes; without encryption the rows stay as they are. */
async function sealedRows(
  store: Store,
  tenantId: string,
  rows: readonly ReturnType<typeof rowOf>[],
): Promise<readonly OwnColumns[]> {
  if (store.sealing === undefined) return rows;
  const changesOf = ({ changes }: (typeof rows)[number]): Promise<string> =>
    sealed(store, 'foreign_writes.changes', tenantId, JSON.stringify(changes));
  return Promise.all(rows.map(async (row) => ({ ...row, changes: await changesOf(row) })));
}

function rowOf({ target, recordId, period, foreignId, kind, changes, sensitive, rowHash }: NewWrite) {
  const fields = Object.keys(changes);
  return {
    target,
    record_id: recordId,
    period: period ?? null,
    foreign_id: foreignId ?? null,
    kind,
    fields,
    sensitive: fields.filter((name) => sensitive.includes(name)),
    changes,
    row_hash: rowHash ?? null,
  };
}

/** JSON columns are passed as JSON, not as text inside it, which would be serialised and escaped twice. */
function asJson(rows: readonly OwnColumns[]): string {
  const json = JSON.stringify(rows);
  if (!hasEscapeUnknownToPostgres(json)) return json;
  return JSON.stringify(
    rows.map((row) => ({
      ...row,
      fields: JSON.stringify(row.fields),
      sensitive: JSON.stringify(row.sensitive),
      changes: typeof row.changes === 'string' ? row.changes : JSON.stringify(row.changes),
    })),
  );
}

/** Records the outcome of a batch; a late outcome overrides what was concluded in the meantime. */
export async function settleWrites(
  store: Store,
  batchId: string,
  outcome: Exclude<WriteOutcome, 'open'>,
): Promise<void> {
  if (outcome === 'done' && (await closeBatch(store, batchId))) return;
  await store.kysely.updateTable('foreign_writes').set({ outcome }).where('batch_id', '=', batchId).execute();
  await closeBatch(store, batchId);
}

/** Records the outcome of some records of a batch; the others keep theirs. */
export async function settleSomeWrites(
  store: Store,
  batchId: string,
  recordIds: readonly string[],
  outcome: WriteOutcome,
): Promise<void> {
  await store.kysely.transaction().execute(async (kysely) => {
    const rows = kysely.updateTable('foreign_writes').where('batch_id', '=', batchId);
    // The batch row said for all its writes that their outcome is unknown; now the rows say so themselves.
    if (await closeBatch({ kysely }, batchId)) await rows.set({ outcome: 'open' }).execute();
    for (const some of batchesOf(recordIds)) await rows.set({ outcome }).where('record_id', 'in', some).execute();
  });
}

/** Deletes a batch that wrote nothing. */
export async function forgetWrites(store: Store, batchId: string): Promise<void> {
  await store.kysely.deleteFrom('foreign_writes').where('batch_id', '=', batchId).execute();
  await closeBatch(store, batchId);
}

/** Deletes the batch's open mark, so that its rows carry their own outcome. False if that was so already. */
async function closeBatch({ kysely }: Pick<Store, 'kysely'>, batchId: string): Promise<boolean> {
  return didChange(kysely.deleteFrom('open_batches').where('batch_id', '=', batchId));
}

/** Writes to one target that were sent and whose outcome is unknown. */
export async function readOpenWrites(store: Store, tenantId: string, target: string): Promise<ForeignWriteRow[]> {
  const open = store.kysely.selectFrom('open_batches').select('batch_id').where('tenant_id', '=', tenantId);
  return store.kysely
    .selectFrom('foreign_writes')
    .selectAll()
    .where('batch_id', 'in', open)
    .where('target', '=', target)
    .unionAll(
      // Writes alone in their batch, and writes of earlier versions.
      store.kysely
        .selectFrom('foreign_writes')
        .selectAll()
        .where(has({ tenant_id: tenantId, target, outcome: sql.lit<'open'>('open') })),
    )
    .execute();
}

/** Concludes a batch with an unknown outcome: these records did not arrive, all others did. */
export async function concludeWrites(store: Store, batchId: string, absent: readonly string[]): Promise<void> {
  await store.kysely.transaction().execute(async (kysely) => {
    const isOpen = await closeBatch({ kysely }, batchId);
    const rows = kysely.updateTable('foreign_writes').where('batch_id', '=', batchId);
    // If the batch was no longer open, its writer reported in the meantime; a write alone in its batch is open itself.
    const open = isOpen ? rows : rows.where('outcome', '=', 'open');
    for (const some of batchesOf(absent))
      await open.set({ outcome: 'absent' }).where('record_id', 'in', some).execute();
    await rows.set({ outcome: 'done' }).where('outcome', '=', 'open').execute();
  });
}

/** Marks a hire's write-back as verified by reading it back: its writes arrived, except those known to have failed. */
export async function verifyWrites(store: Store, ref: HireRef): Promise<void> {
  await store.kysely
    .updateTable('foreign_writes')
    .set({ outcome: 'done', verified_at: store.now })
    .where(has({ tenant_id: ref.tenantId, record_id: ref.jobCandidateId, period: ref.period }))
    .where('target', 'in', ['external-status', 'custom-fields'])
    .where('outcome', 'in', ['open', 'done'])
    .where('verified_at', 'is', null)
    .execute();
}

export interface WriteFilter {
  tenantId: string;
  /** The first characters of the mapping's hash. */
  mapping?: string | undefined;
  recordId?: string | undefined;
  runId?: string | undefined;
  target?: string;
  kind?: ForeignWriteRow['kind'] | undefined;
  by?: string | undefined;
  /** Milliseconds on the database's clock. */
  from?: number | undefined;
  to?: number | undefined;
  /** Writes of hires: they keep their own rows when their values are purged. */
  isOfHire?: boolean;
  /** Sent before this moment, or at it and of a record with a later id. */
  after?: readonly [sentAt: number, recordId: string];
  /** At most this many, the latest; all if absent. */
  limit?: number | undefined;
}

/** Every matching write, latest first; if it has an intent, with the intent's outcome. */
export async function listWrites(store: Store, filter: WriteFilter): Promise<ForeignWriteRow[]> {
  let query = store.kysely
    .selectFrom('foreign_writes as w')
    .leftJoin('intents as i', (join) =>
      join
        .onRef('i.tenant_id', '=', 'w.tenant_id')
        .onRef('i.verb', '=', 'w.verb')
        .onRef('i.job_candidate_id', '=', 'w.record_id')
        .onRef('i.period', '=', 'w.period')
        .onRef('i.attempt', '=', 'w.attempt'),
    )
    .leftJoin('open_batches as o', 'o.batch_id', 'w.batch_id')
    .selectAll('w')
    .select(['i.outcome as intent_outcome', 'o.batch_id as open_batch'])
    .$call(given({ 'w.tenant_id': filter.tenantId, 'w.record_id': filter.recordId }))
    .$call(given({ 'w.run_id': filter.runId, 'w.target': filter.target, 'w.kind': filter.kind, 'w.by': filter.by }))
    .orderBy('w.sent_at', 'desc')
    .orderBy('w.record_id');
  if (filter.mapping !== undefined) query = query.where('w.mapping_hash', 'like', `${filter.mapping}%`);
  if (filter.from !== undefined) query = query.where('w.sent_at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('w.sent_at', '<', filter.to);
  if (filter.after !== undefined) query = query.where('w.sent_at', '<=', filter.after[0]).where(isBehind(filter.after));
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  const whole = (await query.execute()).map(({ intent_outcome: decided, open_batch: open, ...row }) => {
    const isOpen = open !== null && row.verified_at === null;
    return { ...row, outcome: decided ?? (isOpen ? ('open' as const) : row.outcome) };
  });
  const { after, isOfHire = false } = filter;
  if (isOfHire) return whole;
  const purged = (await listPurged(store, filter)).filter(
    (row) => after === undefined || row.sent_at < after[0] || row.record_id > after[1],
  );
  if (purged.length === 0) return whole;
  const all = [...whole, ...purged].sort(latestFirst);
  return all.slice(0, filter.limit);
}

function latestFirst(one: ForeignWriteRow, other: ForeignWriteRow): number {
  return other.sent_at - one.sent_at || (one.record_id < other.record_id ? -1 : 1);
}

function isBehind([sentAt, recordId]: readonly [number, string]) {
  return sql<boolean>`(w.sent_at < ${sentAt} or w.record_id > ${recordId})`;
}

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
      .where(has({ period: null, verb: null }))
      .where((eb) => eb.or([eb('foreign_id', 'is', null), eb('target', '=', sql.lit('candidate-value'))]))
      .returningAll()
      .execute();
    const pages = Map.groupBy(landed, (row) => JSON.stringify([row.run_id, row.target, row.mapping_hash, row.by]));
    for (const rows of pages.values()) {
      const [{ tenant_id, run_id, target, mapping_hash, by }] = rows as [ForeignWriteRow];
      const common = { tenant_id, run_id, target, mapping_hash, by, purged_at: store.now };
      const sent_at = Math.min(...rows.map((row) => row.sent_at));
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
async function listPurged({ kysely }: Store, filter: WriteFilter): Promise<ForeignWriteRow[]> {
  let query = kysely
    .selectFrom('purged_writes')
    .selectAll()
    .$call(given({ tenant_id: filter.tenantId, run_id: filter.runId, target: filter.target, by: filter.by }))
    .orderBy('sent_at', 'desc');
  if (filter.mapping !== undefined) query = query.where('mapping_hash', 'like', `${filter.mapping}%`);
  if (filter.from !== undefined) query = query.where('sent_at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('sent_at', '<', filter.to);
  if (filter.after !== undefined) query = query.where('sent_at', '<=', filter.after[0]);
  if (filter.kind !== undefined) query = query.where(sql`records`, 'like', `%"kind":"${filter.kind}"%`);
  // May find a few too many, since `_` in the pattern matches any character; filtered below.
  const named = JSON.stringify(filter.recordId ?? '').replaceAll(/[^\w"-]/g, '_');
  if (filter.recordId !== undefined) query = query.where(sql`records`, 'like', `%${named}%`);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  const pages = await query.execute();
  return pages.flatMap(({ page_id: batch_id, records, ...page }) =>
    (JSON.parse(records) as Alike[]).flatMap(({ kind, outcome, fields, ids }) =>
      ids
        .filter((id) => filter.recordId === undefined || id === filter.recordId)
        .filter(() => filter.kind === undefined || kind === filter.kind)
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
