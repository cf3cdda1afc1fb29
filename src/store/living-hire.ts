import type { HireRef } from '../hire/hire-ref.ts';
import { hireColumns, hireOf } from './hire-columns.ts';
import type { Store } from './open-store.ts';
import type { HireRow } from './schema.ts';

/** One employee in one HR system. */
export interface EmployeeKey {
  connection: string;
  id: string;
}

/** The stream whose bases are those of one hire: another one's job and start date are nobody's amendment. */
const AMENDMENTS = 'amendments';

/**
 * The link goes from one hire to the one that has the employee now; streams write what they tell to that one. Nothing
 * changes where that hire is over or has another employee: a worker that stood still is late.
 */
export async function moveLink(
  store: Store,
  { connection, id }: EmployeeKey,
  [from, to]: readonly [from: HireRef, to: HireRef],
): Promise<void> {
  await inTransaction(store, async ({ kysely, now }) => {
    const { numUpdatedRows: moved } = await kysely
      .updateTable('links')
      .set({ ...hireColumns(to), linked_at: now })
      .where((eb) => eb.and({ connection, employee_id: id, ...hireColumns(from) }))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('hires')
            .select('hires.period')
            .where((eb) => eb.and({ ...hireColumns(to), employee_id: id }))
            .where('hires.state', 'in', ['open', 'done']),
        ),
      )
      .executeTakeFirstOrThrow();
    if (moved === 0n) return;
    const tenants = [from.tenantId, to.tenantId];
    await kysely.deleteFrom('employments').where('tenant_id', 'in', tenants).where('employee_id', '=', id).execute();
    await kysely
      .deleteFrom('exchange_pairs')
      .where('tenant_id', 'in', tenants)
      .where('stream', '=', AMENDMENTS)
      .where('pair_id', '=', id)
      .execute();
  });
}

/** In the caller's, where there is one. */
async function inTransaction(store: Store, work: (store: Store) => Promise<void>): Promise<void> {
  if (store.kysely.isTransaction) return work(store);
  await store.kysely.transaction().execute((kysely) => work({ ...store, kysely }));
}

/** Of a hire that is over: its employee goes back to the newest other hire that has them, if there is one. */
export async function handLinkBack(store: Store, over: HireRow): Promise<void> {
  const { employee_id: id, connection } = over;
  if (id === null || connection === null) return;
  const heir = await store.kysely
    .selectFrom('hires')
    .selectAll()
    .where('employee_id', '=', id)
    .where('connection', '=', connection)
    .where('candidate_id', '=', over.candidate_id)
    .where('state', 'in', ['open', 'done'])
    .orderBy('opened_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (heir !== undefined) await moveLink(store, { connection, id }, [hireOf(over), hireOf(heir)]);
}
