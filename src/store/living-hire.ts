import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { type HireRef, isSameHire } from '../hire/hire-ref.ts';
import { hireColumns, hireOf } from './hire-columns.ts';
import { linkOfEmployee } from './identity.ts';
import type { Store } from './open-store.ts';
import type { HireRow, Tables } from './schema.ts';

/** One employee in one HR system. */
export interface EmployeeKey {
  connection: string;
  id: string;
}

/** The stream whose bases are those of one hire: another one's job and start date are nobody's amendment. */
const AMENDMENTS = 'amendments';

/**
 * The link goes from one hire to the one that has the employee now; streams write what they tell to that one. Nothing
 * changes where that hire is over or has another employee: a worker that stood still is late. Says whether it went.
 */
export function moveLink(
  store: Store,
  key: EmployeeKey,
  { from, to }: { from: HireRef; to: HireRef },
): Promise<boolean> {
  return inTransaction(store, (open) => relink(open, key, { from, to, change: { linked_at: store.now } }));
}

/** Moves it from whichever hire has it by now, where another worker moved it since it was `seen`. */
export async function takeLink(
  store: Store,
  key: EmployeeKey,
  { seen, to }: { seen: HireRef; to: HireRef },
): Promise<void> {
  if (await moveLink(store, key, { from: seen, to })) return;
  const link = await linkOfEmployee(store, key.connection, key.id);
  if (link !== undefined && !isSameHire(hireOf(link), to)) await moveLink(store, key, { from: hireOf(link), to });
}

interface Move {
  from: HireRef;
  to: HireRef;
  change: { linked_at?: Store['now'] };
}

async function relink(
  { kysely }: Store,
  { connection, id }: EmployeeKey,
  { from, to, change }: Move,
): Promise<boolean> {
  const { numUpdatedRows: moved } = await kysely
    .updateTable('links')
    .set({ ...hireColumns(to), ...change })
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
  if (moved === 0n) return false;
  const tenants = [from.tenantId, to.tenantId];
  await kysely.deleteFrom('employments').where('tenant_id', 'in', tenants).where('employee_id', '=', id).execute();
  await kysely
    .deleteFrom('exchange_pairs')
    .where('tenant_id', 'in', tenants)
    .where('stream', '=', AMENDMENTS)
    .where('pair_id', '=', id)
    .execute();
  return true;
}

/** In the caller's, where there is one. */
export async function inTransaction<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  if (store.kysely.isTransaction) return work(store);
  return store.kysely.transaction().execute((kysely) => work({ ...store, kysely }));
}

/**
 * Of a hire that is over: its employee goes back to the newest other hire that has them, if there is one, linked since
 * it was before. In the transaction that ends the hire: nobody would repair it later.
 */
export async function handLinkBack(store: Store, over: HireRow): Promise<void> {
  const { employee_id: id } = over;
  if (id === null) return;
  const from = hireOf(over);
  const link = await store.kysely
    .selectFrom('links')
    .select('connection')
    .where((eb) => eb.and({ employee_id: id, ...hireColumns(from) }))
    .executeTakeFirst();
  if (link === undefined) return;
  const key = { connection: link.connection, id };
  const heir = await store.kysely
    .selectFrom('hires')
    .selectAll()
    .where((eb) => hasEmployee(eb, key, over.tenant_id))
    .where('candidate_id', '=', over.candidate_id)
    .where('state', 'in', ['open', 'done'])
    .orderBy('opened_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (heir !== undefined) await relink(store, key, { from, to: hireOf(heir), change: {} });
}

/** An older worker noted no connection: there the employee is in the tenant's own HR system. */
export function hasEmployee(
  eb: ExpressionBuilder<Tables, 'hires'>,
  { connection, id }: EmployeeKey,
  tenantId: string,
): Expression<SqlBool> {
  return eb.and([
    eb('employee_id', '=', id),
    eb.or([eb('connection', '=', connection), eb.and([eb('connection', 'is', null), eb('tenant_id', '=', tenantId)])]),
  ]);
}
