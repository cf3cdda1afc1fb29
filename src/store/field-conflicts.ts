import { randomUUID } from 'node:crypto';
import { type ExpressionBuilder, sql } from 'kysely';
import type { FieldValue, Side } from '../hire/hire.ts';
import type { SEALED } from './data-keys.ts';
import { changedRows, countOf, findsAny, has, onceNow, type Store } from './open-store.ts';
import type { Tables } from './schema.ts';
import { sealed } from './sealed-values.ts';
import type { ConflictKind, FieldConflictRow } from './stream-tables.ts';
import { ofStream, type StreamKey } from './streams.ts';

/** A field of a pair whose sides differ. */
interface NewConflict {
  field: string;
  kind: ConflictKind;
  code?: string;
  forms: Readonly<Record<Side, string | null>>;
  values: Readonly<Record<Side, FieldValue>>;
  isSensitive: boolean;
  /** The side whose value stays, if that is decided. */
  kept?: Side;
}

/** Open conflicts of these pairs. */
export async function openConflicts(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  pairIds: readonly string[],
): Promise<FieldConflictRow[]> {
  if (pairIds.length === 0) return [];
  return kysely
    .selectFrom('field_conflicts')
    .selectAll()
    .where(ofStream({ tenantId, stream }))
    .where('pair_id', 'in', pairIds)
    .where('closed_at', 'is', null)
    .execute();
}

/**
 * Brings the recorded conflicts of one pair in line with those found now: closes conflicts that are over, keeps those
 * that persist and records new ones. Writes nothing if nothing changed. A conflict is over once it is decided; a
 * put-back stays open until the sides are seen to agree. Conflicts of a field that now means another field (`renewed`)
 * are closed. Returns the ids of new rows, in the order of their findings.
 */
export async function settleConflicts(
  store: Store,
  { tenantId, stream, pairId }: StreamKey & { pairId: string },
  { open, renewed }: { open: readonly FieldConflictRow[]; renewed?: ReadonlySet<string> },
  found: readonly NewConflict[],
): Promise<string[]> {
  const of = (row: FieldConflictRow, one: NewConflict): boolean => renewed?.has(row.field) !== true && isSame(row, one);
  const stands = (row: FieldConflictRow): boolean => found.some((one) => of(row, one));
  const over = open.filter((row) => !stands(row)).map((row) => row.conflict_id);
  const news = found.filter((one) => !open.some((row) => of(row, one)));
  if (over.length > 0)
    await store.kysely
      .updateTable('field_conflicts')
      .set({ closed_at: store.now })
      .where('conflict_id', 'in', over)
      .execute();
  if (news.length === 0) return [];
  const seal = <Text extends string | null>(column: (typeof SEALED)['field_conflicts'][number], text: Text) =>
    sealed(store, `field_conflicts.${column}`, tenantId, text);
  const adding = news.map(async ({ field, kind, code, forms, values, isSensitive, kept }) => ({
    conflict_id: randomUUID().slice(0, 8),
    tenant_id: tenantId,
    stream,
    pair_id: pairId,
    field,
    kind,
    code: code ?? null,
    partner_form: await seal('partner_form', forms.partner),
    hris_form: await seal('hris_form', forms.hris),
    partner_value: await seal('partner_value', JSON.stringify(values.partner)),
    hris_value: await seal('hris_value', JSON.stringify(values.hris)),
    is_sensitive: isSensitive ? 1 : 0,
    kept: kept ?? null,
    times: 1,
    since: store.now,
    closed_at: kind === 'conflict' ? store.now : null,
  }));
  const rows = await Promise.all(adding);
  await store.kysely.insertInto('field_conflicts').values(rows).execute();
  return rows.map((row) => row.conflict_id);
}

/** Takes conflicts back whose write changed nothing. */
export async function withdrawConflicts({ kysely }: Store, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await kysely.deleteFrom('field_conflicts').where('conflict_id', 'in', ids).execute();
}

function isSame(row: FieldConflictRow, { field, kind, code, forms }: NewConflict): boolean {
  return (
    kind !== 'conflict' &&
    row.field === field &&
    row.kind === kind &&
    row.code === (code ?? null) &&
    row.partner_form === forms.partner &&
    row.hris_form === forms.hris
  );
}

/** Counts conflicts that wait for a person's decision. */
export async function countUndecided({ kysely }: Store, { tenantId, stream }: StreamKey): Promise<number> {
  const held = { tenant_id: tenantId, stream, closed_at: null, kind: 'held', kept: null } as const;
  return countOf(kysely.selectFrom('field_conflicts').where(has(held)));
}

/** What a question about conflicts was about: those of a stream that were found until it was asked. */
type AskedAbout = StreamKey & { askedAt: number };

/** Whether any conflict that was asked about waits for a person's decision. */
export async function hasUndecided({ kysely }: Store, key: AskedAbout): Promise<boolean> {
  return findsAny(kysely.selectFrom('field_conflicts').select('conflict_id').where(isOpenFor(key, [])).limit(1));
}

/** Which of these conflicts wait for a person's decision. */
export async function undecidedAmong({ kysely }: Store, key: AskedAbout, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const query = kysely.selectFrom('field_conflicts').select('conflict_id').where(isOpenFor(key, ids));
  return (await query.execute()).map((row) => row.conflict_id);
}

/** Decides whose value stays, of all conflicts asked about or those with these ids. Returns the pairs to read again. */
export async function decideConflicts(
  { kysely }: Store,
  { keep, ...key }: AskedAbout & { keep: Side },
  ids: readonly string[],
): Promise<string[]> {
  const rows = await kysely
    .updateTable('field_conflicts')
    .set({ kept: keep })
    .where(isOpenFor(key, ids))
    .returning('pair_id')
    .execute();
  return [...new Set(rows.map((row) => row.pair_id))];
}

/** Selects conflicts that a person may decide. A person who names none has not seen those that were found later. */
function isOpenFor({ tenantId, stream, askedAt }: AskedAbout, ids: readonly string[]) {
  return (eb: ExpressionBuilder<Tables, 'field_conflicts'>) =>
    eb.and([
      eb.and({ tenant_id: tenantId, stream, kind: 'held' }),
      eb('closed_at', 'is', null),
      eb('kept', 'is', null),
      ids.length > 0 ? eb('conflict_id', 'in', ids) : eb('since', '<=', askedAt),
    ]);
}

export interface ConflictFilter {
  tenantId: string;
  /** Includes closed conflicts. */
  all: boolean;
  after?: readonly [since: number, conflictId: string] | undefined;
  limit?: number | undefined;
}

/** Fields where the sides differ, latest first. */
export async function listConflicts({ kysely }: Store, filter: ConflictFilter): Promise<FieldConflictRow[]> {
  const { tenantId, all, after, limit } = filter;
  let query = kysely
    .selectFrom('field_conflicts')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('since', 'desc')
    .orderBy('conflict_id', 'desc');
  if (!all) query = query.where('closed_at', 'is', null);
  if (after !== undefined) query = query.where(sql<boolean>`(since, conflict_id) < (${after[0]}, ${after[1]})`);
  return (limit === undefined ? query : query.limit(limit)).execute();
}

/** Clears the values of older conflicts; their fields and times stay. */
export async function purgeConflicts(store: Store, tenantId: string, afterMs: number): Promise<number> {
  const old = store.kysely
    .updateTable('field_conflicts')
    .set({ partner_value: null, hris_value: null })
    .where('tenant_id', '=', tenantId)
    .where('since', '<=', sql<number>`${onceNow(store)} - ${sql.lit(afterMs)}`)
    // Written literally, so that the planner uses the partial index.
    .where(sql<boolean>`(partner_value is not null or hris_value is not null)`);
  return changedRows(old);
}
