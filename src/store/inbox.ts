import { sql, type UpdateObject } from 'kysely';
import type { Store } from './open-store.ts';
import type { InboxRow, InboxState, Tables } from './schema.ts';

export interface Delivery {
  tenantId: string;
  /** SHA-256 of the raw body, hex. */
  bodyHash: string;
  event: string;
  body: string;
  state: Extract<InboxState, 'waiting' | 'ignored' | 'unknown' | 'other-company'>;
}

/** How long one relay may hold a row before another may take it. */
const LEASE_MS = 30_000;
const MAX_TRIES = 10;
const RETRY_BASE_MS = 500;
const RETRY_CAP_MS = 60_000;

/** Commits one delivery; a body seen before is left as it is. Resolves only when it is durable. */
export async function insertDelivery(store: Store, delivery: Delivery): Promise<{ fresh: boolean }> {
  const done = delivery.state === 'waiting' ? null : store.now;
  const result = await store.kysely
    .insertInto('inbox')
    .values({
      tenant_id: delivery.tenantId,
      body_hash: delivery.bodyHash,
      event: delivery.event,
      body: delivery.body,
      state: delivery.state,
      received_at: store.now,
      tries: 0,
      next_try_at: 0,
      leased_until: 0,
      last_error: null,
      done_at: done,
    })
    .onConflict((c) => c.columns(['tenant_id', 'body_hash']).doNothing())
    .executeTakeFirst();
  return { fresh: result.numInsertedOrUpdatedRows === 1n };
}

/** Takes up to `limit` due rows for this relay, oldest first; a row that another relay holds is passed over. */
export async function leaseDeliveries(store: Store, limit: number): Promise<InboxRow[]> {
  const due = store.kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'body_hash'])
    .where('state', '=', 'waiting')
    .where('next_try_at', '<=', store.now)
    .where('leased_until', '<=', store.now)
    .orderBy('received_at')
    .limit(limit);
  const locked = store.kind === 'postgres' ? due.forUpdate().skipLocked() : due;
  return store.kysely
    .with('due', () => locked)
    .updateTable('inbox')
    .set({ leased_until: sql<number>`${store.now} + ${LEASE_MS}`, tries: (eb) => eb('tries', '+', 1) })
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('due')
          .select(sql`1`.as('one'))
          .whereRef('due.tenant_id', '=', 'inbox.tenant_id')
          .whereRef('due.body_hash', '=', 'inbox.body_hash'),
      ),
    )
    .returningAll()
    .execute();
}

/** The row's work is in Temporal or in `hints`. */
export async function finishDelivery(store: Store, row: Key, state: 'relayed' | 'ignored'): Promise<void> {
  await update(store, row, { state, done_at: store.now, last_error: null });
}

/** Gives the row back for later; after ten tries it is undeliverable and only a person brings it back. */
export async function failDelivery(store: Store, row: InboxRow, reason: string): Promise<void> {
  if (row.tries >= MAX_TRIES) {
    await update(store, row, { state: 'undeliverable', last_error: reason, done_at: store.now });
    return;
  }
  const wait = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (row.tries - 1));
  await update(store, row, {
    last_error: reason,
    leased_until: 0,
    next_try_at: sql<number>`${store.now} + ${wait}`,
  });
}

/** Gives the row back without counting the try: nothing is wrong with it, its time has not come. */
export async function deferDelivery(store: Store, row: InboxRow, waitMs: number): Promise<void> {
  await update(store, row, {
    tries: row.tries - 1,
    leased_until: 0,
    next_try_at: sql<number>`${store.now} + ${waitMs}`,
  });
}

export interface InboxCount {
  tenantId: string;
  state: InboxState;
  count: number;
  /** When the oldest of them came, milliseconds on the database's clock. */
  oldestAt: number;
}

/** How many deliveries of each tenant are in each state. */
export async function countDeliveries(store: Store): Promise<InboxCount[]> {
  const rows = await store.kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'state', (eb) => eb.fn.countAll<number>().as('count')])
    .select((eb) => eb.fn.min<number>('received_at').as('oldest_at'))
    .groupBy(['tenant_id', 'state'])
    .execute();
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    state: row.state,
    count: Number(row.count),
    oldestAt: Number(row.oldest_at),
  }));
}

interface Key {
  tenant_id: string;
  body_hash: string;
}

async function update(store: Store, row: Key, change: UpdateObject<Tables, 'inbox'>): Promise<void> {
  await store.kysely
    .updateTable('inbox')
    .set(change)
    .where('tenant_id', '=', row.tenant_id)
    .where('body_hash', '=', row.body_hash)
    .execute();
}
