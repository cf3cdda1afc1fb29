import { sql } from 'kysely';
import { type DeliveryIds, IS_LEFT } from './inbox.ts';
import { type InboxState, type LeftState, leftStates } from './inbox-tables.ts';
import type { Store } from './open-store.ts';

export interface StoredDelivery {
  tenantId: string;
  bodyHash: string;
  event: string;
  ids: DeliveryIds;
  state: InboxState;
  receivedAt: number;
  failures: number;
  /** Name or code of the last failure. */
  lastError: string | null;
}

export interface DeliveryFilter {
  states: readonly InboxState[];
  tenantId?: string;
  /** The first characters of the body's hash. */
  hash?: string;
  limit?: number;
}

/** Deliveries in these states, latest first, without their bodies. */
export async function listDeliveries(store: Store, filter: DeliveryFilter): Promise<StoredDelivery[]> {
  let query = store.kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'body_hash', 'event', 'ids', 'state', 'received_at', 'failures', 'last_error'])
    .where('state', 'in', filter.states)
    .orderBy('received_at', 'desc')
    .orderBy('body_hash');
  if (filter.states.every(isLeft)) query = query.where(IS_LEFT);
  if (filter.tenantId !== undefined) query = query.where('tenant_id', '=', filter.tenantId);
  if (filter.hash !== undefined)
    query = query.where(sql`substr(body_hash, 1, ${filter.hash.length})`, '=', filter.hash);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  return (await query.execute()).map((row) => ({
    tenantId: row.tenant_id,
    bodyHash: row.body_hash,
    event: row.event,
    ids: JSON.parse(row.ids) as DeliveryIds,
    state: row.state,
    receivedAt: Number(row.received_at),
    failures: row.failures,
    lastError: row.last_error,
  }));
}

function isLeft(state: InboxState): state is LeftState {
  return leftStates.some((left) => left === state);
}

/** Hands these to the relay again and resets their failures. Returns how many. */
export async function retryDeliveries(
  store: Store,
  filter: Omit<DeliveryFilter, 'limit' | 'states'> & { states: readonly LeftState[] },
): Promise<number> {
  let query = store.kysely
    .updateTable('inbox')
    .set({ state: 'waiting', failures: 0, due_at: store.now, last_error: null, done_at: null })
    .where(IS_LEFT)
    .where('state', 'in', filter.states);
  if (filter.tenantId !== undefined) query = query.where('tenant_id', '=', filter.tenantId);
  if (filter.hash !== undefined)
    query = query.where(sql`substr(body_hash, 1, ${filter.hash.length})`, '=', filter.hash);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/** Selects stored deliveries to replay; times are milliseconds by the database's clock. */
export interface ReplayFilter {
  tenantId: string;
  /** The first characters of the body's hash. */
  hash?: string;
  received?: { from: number; to: number };
}

/**
 * States that a replay takes: other companies' deliveries never were this tenant's; waiting ones are relayed anyway.
 */
const REPLAYED = ['relayed', 'ignored', 'unknown', 'undeliverable'] as const satisfies InboxState[];

/** Hands them to the relay as if they had just arrived. Returns how many. */
export async function replayDeliveries(store: Store, { tenantId, hash, received }: ReplayFilter): Promise<number> {
  let query = store.kysely
    .updateTable('inbox')
    .set({ state: 'waiting', failures: 0, due_at: store.now, last_error: null, done_at: null })
    .where('tenant_id', '=', tenantId)
    .where('state', 'in', REPLAYED);
  if (hash !== undefined) query = query.where(sql`substr(body_hash, 1, ${hash.length})`, '=', hash);
  if (received !== undefined)
    query = query.where('received_at', '>=', received.from).where('received_at', '<=', received.to);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}
