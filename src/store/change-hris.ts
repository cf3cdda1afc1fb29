import { ConnectorError } from '../errors.ts';
import { hireOf } from './hire-columns.ts';
import { recordPeople } from './identity.ts';
import { unnotedCreates } from './intents.ts';
import type { Store } from './open-store.ts';

/**
 * What it means that a tenant's HR connection is another one. `keep`: the same HR system under another name or at
 * another address; everything known of it stays known. `new`: another HR system; what is known of the old one stays as
 * history, and nobody of it is written to or looked for in the new one.
 */
export type HrisWay = 'keep' | 'new';

export interface HrisChange {
  tenantId: string;
  from: string;
  to: string;
  way: HrisWay;
}

/** Employees and people whom the tenant has in this HR system. */
export async function countPeopleOf({ kysely }: Store, tenantId: string, connection: string): Promise<number> {
  const countIn = async (table: 'links' | 'claims') => {
    const query = kysely
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('tenant_id', '=', tenantId)
      .where('connection', '=', connection);
    return Number((await query.executeTakeFirstOrThrow()).count);
  };
  return (await countIn('links')) + (await countIn('claims'));
}

/** What stands against giving a tenant's HR system up. */
export interface BoundToHris {
  /** Hires whose request for an employee has left, and what became of it is not known or not finished. */
  unsettled: number;
  /** Jobs made of the HR system's requisitions. */
  requisitions: number;
}

export async function readBoundToHris(store: Store, tenantId: string): Promise<BoundToHris> {
  const unsettled = await unnotedCreates(store, ['open', 'done'])
    .select((eb) => eb.fn.count<number>('hires.job_candidate_id').distinct().as('count'))
    .where('hires.tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  const requisitions = await store.kysely
    .selectFrom('requisitions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return { unsettled: Number(unsettled.count), requisitions: Number(requisitions.count) };
}

/**
 * Carries a change of the HR connection out in the records, in the transaction that applies it.
 * @throws ConnectorError HRIS_NOT_CHANGED
 */
export async function changeHris(store: Store, change: HrisChange): Promise<void> {
  if (change.from === change.to) return;
  await (change.way === 'keep' ? rename(store, change) : replace(store, change));
}

/** Everything of the HR system, whichever tenant it is of: a name means one HR system. */
async function rename({ kysely }: Store, { from, to }: HrisChange): Promise<void> {
  const taken = await kysely.selectFrom('links').select('tenant_id').where('connection', '=', to).executeTakeFirst();
  if (taken !== undefined)
    throw notChanged(`Employees are already linked under "${to}" (tenant ${taken.tenant_id}). Use another name.`);
  // What is known only of the company, or recorded under the new name meanwhile, is known under the old one.
  await kysely.deleteFrom('claims').where('connection', '=', to).where('how', 'is not', null).execute();
  for (const table of ['links', 'claims', 'identity_leases', 'change_cursors', 'hires'] as const)
    await kysely.updateTable(table).set({ connection: to }).where('connection', '=', from).execute();
}

async function replace(store: Store, { tenantId, from, to }: HrisChange): Promise<void> {
  const { kysely } = store;
  const { unsettled, requisitions } = await readBoundToHris(store, tenantId);
  if (unsettled > 0)
    throw notChanged(
      `${unsettled} hires have a request for an employee under way in "${from}". Let them end, or cancel them, first.`,
    );
  if (requisitions > 0)
    throw notChanged(
      `${requisitions} jobs belong to requisitions of "${from}", whose ids mean others in a new HR system. ` +
        'Give the new HR system a tenant of its own.',
    );
  await kysely
    .updateTable('hires')
    .set({ connection: from })
    .where('tenant_id', '=', tenantId)
    .where('employee_id', 'is not', null)
    .where('connection', 'is', null)
    .execute();
  // What was told and compared is keyed by ids of the old HR system, which the new one gives to others.
  for (const table of ['employments', 'exchange_pairs'] as const)
    await kysely.deleteFrom(table).where('tenant_id', '=', tenantId).execute();
  await kysely
    .updateTable('field_conflicts')
    .set({ closed_at: store.now })
    .where('tenant_id', '=', tenantId)
    .where('closed_at', 'is', null)
    .execute();
  const links = await kysely
    .selectFrom('links')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('connection', '=', from)
    .execute();
  await recordPeople(
    store,
    links.map((link) => ({
      person: { connection: to, partnerCompany: link.partner_company, candidateId: link.candidate_id },
      as: { ...hireOf(link), how: 'other-hris' as const },
    })),
  );
}

function notChanged(why: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_NOT_CHANGED',
    action: 'reject',
    message: `The HR connection was not changed, and nothing was applied. ${why}`,
  });
}
