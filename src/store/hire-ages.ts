import { sql } from 'kysely';
import type { HireRef, HireStep } from '../hire/hire.ts';
import { FLEET } from './freezes.ts';
import { hireColumns } from './hire-columns.ts';
import type { Store } from './open-store.ts';

/** Steps that wait neither for the candidate nor for an operator to buy credits or confirm a departure. */
const OWN_STEPS: readonly HireStep[] = ['enrol', 're-enrol', 'employ', 'write-back'];

/**
 * When a hire last stopped waiting for a person: it was opened, its onboarding reached its present status, or a person
 * answered.
 */
function onItsOwnSince({ kind, now }: Store) {
  const answered = sql`(select max(coalesce(answered_at, closed_at, ${now})) from holds
    where ${ofHire('holds')})`;
  const newest = sql.raw(kind === 'postgres' ? 'greatest' : 'max');
  return sql<number>`${newest}(opened_at, coalesce(onboarding_read_at, 0), coalesce(${answered}, 0))`;
}

/** How long this hire waited for no person, ms, minus the time that the HR system took to finish a create. */
export async function ownTimeOf(store: Store, key: HireRef): Promise<number> {
  const pending = sql<number>`coalesce(
    (select max(made.at) from person_keys as made where made.kind = 'employee' and ${ofHire('made')})
    - (select max(sent.decided_at) from intents as sent
       where sent.verb = 'create-employee' and sent.outcome = 'done' and ${ofHire('sent')}), 0)`;
  const row = await store.kysely
    .selectFrom('hires')
    .select(sql<number>`${store.now} - ${onItsOwnSince(store)} - ${pending}`.as('ms'))
    .where((eb) => eb.and(hireColumns(key)))
    .executeTakeFirst();
  return Math.max(0, Number(row?.ms ?? 0));
}

function ofHire(table: string) {
  return sql.raw(`${table}.tenant_id = hires.tenant_id and ${table}.job_candidate_id = hires.job_candidate_id
    and ${table}.period = hires.period`);
}

/**
 * For each tenant, how long (ms) its oldest open hire that waits for no person has done so. Leaves out tenants without
 * such hires, and paused or frozen tenants. One index lookup per tenant.
 */
export async function oldestOwnTimes(store: Store): Promise<{ tenantId: string; ms: number }[]> {
  const rows = await store.kysely
    .selectFrom('tenants')
    .select((eb) => [
      'tenants.tenant_id',
      eb
        .selectFrom('hires')
        .select(sql<number | null>`max(${store.now} - ${onItsOwnSince(store)})`.as('ms'))
        .whereRef('hires.tenant_id', '=', 'tenants.tenant_id')
        .where('hires.state', '=', 'open')
        .where('hires.step', 'in', OWN_STEPS)
        // Before its create a hire may wait for the stage in policies.createAt, after it for the HR system.
        .where(
          sql<boolean>`(hires.step <> 'employ' or exists (select 1 from intents as sent
            where sent.verb = 'create-employee' and sent.outcome <> 'done' and ${ofHire('sent')}))`,
        )
        .where(
          sql<boolean>`not exists (select 1 from holds where ${ofHire('holds')}
            and holds.closed_at is null and holds.answered_at is null)`,
        )
        .as('ms'),
    ])
    .where('tenants.state', '=', 'active')
    .where(sql<boolean>`not exists (select 1 from freezes where freezes.tenant_id in (tenants.tenant_id, ${FLEET}))`)
    .execute();
  return rows.flatMap(({ tenant_id: tenantId, ms }) => (ms === null ? [] : [{ tenantId, ms: Number(ms) }]));
}
