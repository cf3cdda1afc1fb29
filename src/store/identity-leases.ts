import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import type { HireRef } from '../hire/hire-ref.ts';
import { hireColumns } from './hire-columns.ts';
import type { Store } from './open-store.ts';
import type { Tables } from './schema.ts';

/** A hire that looks up and creates somebody, and what identifies them: hashes, never what they were made of. */
export interface IdentityLease {
  connection: string;
  hire: HireRef;
  keys: readonly string[];
}

/**
 * Takes all of the keys for so long, or none. @throws ConnectorError IDENTITY_LEASED (retry) as long as another hire
 * has one of them
 */
export async function takeIdentityLease(store: Store, lease: IdentityLease, forMs: number): Promise<void> {
  const { connection, hire, keys } = lease;
  // In one order for everybody: Postgres would call two that wait for each other a deadlock.
  const sorted = [...new Set(keys)].toSorted();
  if (sorted.length === 0) return;
  await store.kysely.transaction().execute(async (kysely) => {
    const leased_until = sql<number>`${store.now} + ${forMs}`;
    const taken = await kysely
      .insertInto('identity_leases')
      .values(sorted.map((key) => ({ connection, key, ...hireColumns(hire), leased_until })))
      .onConflict((c) =>
        c
          .columns(['connection', 'key'])
          .doUpdateSet((eb) => ({ ...hireColumns(hire), leased_until: eb.ref('excluded.leased_until') }))
          .where((eb) => eb.or([isOwn(eb, hire), eb('identity_leases.leased_until', '<=', store.now)])),
      )
      .returning('key')
      .execute();
    if (taken.length < sorted.length) throw leased(await waitFor({ ...store, kysely }, lease));
  });
}

/** What was sent under the lease is shown after so long: who has the same keys may go on then. */
export async function endIdentityLease({ kysely, now }: Store, lease: IdentityLease, afterMs: number): Promise<void> {
  const { connection, hire } = lease;
  if (lease.keys.length === 0) return;
  const inConnection = kysely.deleteFrom('identity_leases').where('connection', '=', connection);
  if (afterMs === 0) return void (await inConnection.where((eb) => isOwn(eb, hire)).execute());
  await kysely
    .updateTable('identity_leases')
    .set({ leased_until: sql<number>`${now} + ${afterMs}` })
    .where('connection', '=', connection)
    .where((eb) => isOwn(eb, hire))
    .execute();
  await inConnection.where('leased_until', '<=', now).execute();
}

async function waitFor({ kysely, now }: Store, { connection, hire, keys }: IdentityLease): Promise<number> {
  const others = await kysely
    .selectFrom('identity_leases')
    .select(['leased_until', now.as('now')])
    .where('connection', '=', connection)
    .where('key', 'in', keys)
    .where((eb) => eb.not(isOwn(eb, hire)))
    .execute();
  return Math.max(0, ...others.map((other) => other.leased_until - other.now));
}

function isOwn(eb: ExpressionBuilder<Tables, 'identity_leases'>, hire: HireRef): Expression<SqlBool> {
  const { tenant_id, job_candidate_id, period } = hireColumns(hire);
  return eb.and([
    eb('identity_leases.tenant_id', '=', tenant_id),
    eb('identity_leases.job_candidate_id', '=', job_candidate_id),
    eb('identity_leases.period', '=', period),
  ]);
}

function leased(waitMs: number): ConnectorError {
  return new ConnectorError({
    code: 'IDENTITY_LEASED',
    action: 'retry',
    message:
      'Somebody of the same e-mail, or of the same name and birth date, is being created by another hire. Nothing is ' +
      'created before the HR system shows what became of that.',
    retryAfterMs: Math.ceil(waitMs) + 50,
  });
}
