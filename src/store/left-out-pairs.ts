import { sql } from 'kysely';
import type { Side } from '../hire/side.ts';
import type { Store } from './open-store.ts';
import type { StreamKey } from './streams.ts';

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
  return rows.map(({ stream, missing_side: side, ...row }) => ({
    ...counted(stream, row),
    why: { kind: 'missing', side: side ?? 'partner' },
  }));
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
  return rows.map(({ stream, ...row }) => ({ ...counted(stream, row), why: { kind: 'in doubt' } }));
}

async function readRefused({ kysely }: Store, tenantId: string): Promise<LeftOutPairs[]> {
  const rows = await kysely
    .selectFrom('field_conflicts')
    .select(['stream', 'field', 'code', count, (eb) => eb.fn.min('since').as('since')])
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'quarantined')
    .where('closed_at', 'is', null)
    .groupBy(['stream', 'field', 'code'])
    .execute();
  return rows.map(({ stream, field, code, ...row }) => ({
    ...counted(stream, row),
    why: { kind: 'refused', field, code: code ?? 'REFUSED' },
  }));
}

/** How many pairs of each stream of these tenants have a value that a side refuses. */
export async function countRefusedPairs(
  { kysely }: Store,
  tenantIds: readonly string[],
): Promise<(StreamKey & { count: number })[]> {
  if (tenantIds.length === 0) return [];
  const rows = await kysely
    .selectFrom('field_conflicts')
    .select(['tenant_id', 'stream', sql<number>`count(distinct pair_id)`.as('count')])
    // Written literally, so that the planner uses the partial index.
    .where(sql<boolean>`closed_at is null`)
    .where('kind', '=', 'quarantined')
    .where('tenant_id', 'in', tenantIds)
    .groupBy(['tenant_id', 'stream'])
    .execute();
  return rows.map((row) => ({ tenantId: row.tenant_id, stream: row.stream, count: Number(row.count) }));
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
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .where('closed_at', 'is', null)
    .where('kind', '=', 'quarantined')
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
    .where((eb) => eb.and(own))
    .where('kind', '=', 'quarantined')
    .where('closed_at', 'is', null)
    .returning('pair_id')
    .execute();
  const others = await kysely
    .selectFrom('exchange_pairs')
    .select('pair_id')
    .where((eb) => eb.and(own))
    .where('gone_at', 'is', null)
    .where((eb) => eb.or([eb('missing_side', 'is not', null), eb('sent', '<>', '{}')]))
    .execute();
  return [...new Set([...refused, ...others].map((row) => row.pair_id))];
}

function counted(stream: string, row: { count: number; since: number }): Omit<LeftOutPairs, 'why'> {
  return { stream, count: Number(row.count), since: Number(row.since) };
}
