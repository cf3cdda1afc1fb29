import { sql } from 'kysely';
import { type AlarmKey, clearTrouble, noteTrouble, type Trouble } from './alarms.ts';
import type { Store } from './open-store.ts';
import { derivedAlarms } from './schema.ts';

/**
 * Makes the derived alarms match these troubles: raises new ones and ends those that are over; exactly one process
 * reports each. Alarms that stay cost no write.
 */
export async function alignAlarms(
  store: Store,
  troubles: readonly Trouble[],
): Promise<{ raised: Trouble[]; over: AlarmKey[] }> {
  const rows = await store.kysely
    .selectFrom('alarms')
    .select(['tenant_id', 'kind', 'subject'])
    .where('kind', 'in', derivedAlarms)
    .execute();
  const known = rows.map((row): AlarmKey => ({ tenantId: row.tenant_id, kind: row.kind, subject: row.subject }));
  const [knownKeys, wantedKeys] = [new Set(known.map(keyText)), new Set(troubles.map(keyText))];
  const raised: Trouble[] = [];
  for (const trouble of troubles.filter((one) => !knownKeys.has(keyText(one))))
    if ((await noteTrouble(store, trouble, 0)).raised) raised.push(trouble);
  const over: AlarmKey[] = [];
  for (const key of known.filter((one) => !wantedKeys.has(keyText(one))))
    if (await clearTrouble(store, key)) over.push(key);
  return { raised, over };
}

function keyText({ tenantId, kind, subject }: AlarmKey): string {
  return JSON.stringify([tenantId, kind, subject]);
}

/** Deliveries of one event that no part of hirebridge acts upon. */
export interface StuckDeliveries {
  tenantId: string;
  state: 'unknown' | 'undeliverable';
  event: string;
  count: number;
}

/** Counts undeliverable deliveries, and deliveries of an unknown event received within the last `unknownMs`. */
export async function countStuck(store: Store, unknownMs: number): Promise<StuckDeliveries[]> {
  const rows = await store.kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'state', 'event', (eb) => eb.fn.countAll<number>().as('count')])
    // Written literally, so that the planner uses the partial index.
    .where(sql<boolean>`state in ('unknown', 'undeliverable')`)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'undeliverable'),
        eb('received_at', '>', sql<number>`${store.now} - ${sql.lit(unknownMs)}`),
      ]),
    )
    .groupBy(['tenant_id', 'state', 'event'])
    .orderBy('tenant_id')
    .orderBy('event')
    .execute();
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    state: row.state as StuckDeliveries['state'],
    event: row.event,
    count: Number(row.count),
  }));
}
