import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { type HireRef, nameHire } from '../hire/hire-ref.ts';
import { hireColumns, hireOf } from './hire-columns.ts';
import { unnotedCreates } from './intents.ts';
import type { Store } from './open-store.ts';
import type { Tables } from './schema.ts';

/** A hire in one HR system. */
export interface LeasedBy {
  connection: string;
  hire: HireRef;
}

/** One attempt to look somebody up and create them, and what identifies them: hashes, never what they were made of. */
export interface IdentityLease extends LeasedBy {
  keys: readonly string[];
  /** Random: an attempt that stood still must not end the lease of a later one. */
  holder: string;
}

type Builder = ExpressionBuilder<Tables, 'identity_leases'>;
type Condition = ExpressionWrapper<Tables, 'identity_leases', SqlBool>;

/**
 * Takes all of the keys for so long, or none. @throws ConnectorError IDENTITY_LEASED (retry) as long as another hire
 * has one of them; its details name that hire (`other`) and say whether its create is `pending`
 */
export async function takeIdentityLease(store: Store, lease: IdentityLease, forMs: number): Promise<void> {
  const { connection, hire, keys, holder } = lease;
  // In one order for everybody: Postgres would call two that wait for each other a deadlock.
  const sorted = [...new Set(keys)].toSorted();
  if (sorted.length === 0) return;
  const take = async (kysely: Store['kysely']): Promise<void> => {
    const leased_until = sql<number>`${store.now} + ${forMs}`;
    const values = { connection, ...hireColumns(hire), leased_until, holder };
    const taken = await kysely
      .insertInto('identity_leases')
      .values(sorted.map((key) => ({ ...values, key })))
      .onConflict((c) =>
        c
          .columns(['connection', 'key'])
          .doUpdateSet((eb) => ({
            ...hireColumns(hire),
            leased_until: eb.ref('excluded.leased_until'),
            holder,
          }))
          .where((eb) => eb.or([isOwn(eb, hire), eb.not(isInForce(eb, store))])),
      )
      .returning('key')
      .execute();
    if (taken.length < sorted.length) throw await leased({ ...store, kysely }, lease);
  };
  // A single one is taken by its statement or not at all.
  await (sorted.length === 1 ? take(store.kysely) : store.kysely.transaction().execute(take));
}

/** What was sent under the lease is shown after so long: who has the same keys may go on then. */
export async function endIdentityLease({ kysely, now }: Store, lease: IdentityLease, afterMs: number): Promise<void> {
  if (lease.keys.length === 0) return;
  await kysely
    .updateTable('identity_leases')
    .set({ leased_until: sql<number>`${now} + ${afterMs}` })
    .where('connection', '=', lease.connection)
    .where('key', 'in', lease.keys)
    .where('holder', '=', lease.holder)
    .execute();
}

/** What became of the hire's create is known; reads show it after so long. */
export async function endLeasesOf(
  { kysely, now }: Store,
  { connection, hire }: LeasedBy,
  afterMs: number,
): Promise<void> {
  await kysely
    .updateTable('identity_leases')
    .set({ leased_until: sql<number>`${now} + ${afterMs}` })
    .where('connection', '=', connection)
    .where((eb) => isOwn(eb, hire))
    .execute();
}

/** Ends the rows of a tenant's leases that keep nobody waiting any more. */
export async function purgeIdentityLeases(store: Store, tenantId: string): Promise<void> {
  await store.kysely
    .deleteFrom('identity_leases')
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.not(isInForce(eb, store)))
    .execute();
}

/** Those who wait are told of the pending one: it takes the longest. */
async function leased(store: Store, { connection, hire, keys }: IdentityLease): Promise<ConnectorError> {
  const others = await store.kysely
    .selectFrom('identity_leases')
    .select((eb) => ['tenant_id', 'job_candidate_id', 'period', 'leased_until', isPending(eb, store).as('pending')])
    .select(store.now.as('now'))
    .where('connection', '=', connection)
    .where('key', 'in', keys)
    .where((eb) => eb.not(isOwn(eb, hire)))
    .where((eb) => isInForce(eb, store))
    .orderBy('leased_until', 'desc')
    .execute();
  const other = others.find(({ pending }) => Boolean(pending)) ?? others[0];
  return leasedByOther(other === undefined ? undefined : hireOf(other), {
    pending: Boolean(other?.pending),
    waitMs: other === undefined ? 0 : other.leased_until - other.now,
  });
}

function isOwn(eb: Builder, hire: HireRef): Condition {
  const { tenant_id, job_candidate_id, period } = hireColumns(hire);
  return eb.and([
    eb('identity_leases.tenant_id', '=', tenant_id),
    eb('identity_leases.job_candidate_id', '=', job_candidate_id),
    eb('identity_leases.period', '=', period),
  ]);
}

function isInForce(eb: Builder, store: Store): Condition {
  return eb.or([eb('identity_leases.leased_until', '>', store.now), hasUnnoted(eb, store, ['open', 'done'])]);
}

/** The create may take days: somebody finishes it over there, or has to say what became of it. */
function isPending(eb: Builder, store: Store): Condition {
  const lasts = eb.and([eb('identity_leases.leased_until', '<=', store.now), hasUnnoted(eb, store, ['open'])]);
  return eb.or([lasts, hasUnnoted(eb, store, ['done'])]);
}

/** Whether the lease's hire is one of `unnotedCreates` that somebody goes on with: not of a removed tenant. */
function hasUnnoted(eb: Builder, store: Store, outcomes: readonly ('open' | 'done')[]): Condition {
  return eb.exists(
    unnotedCreates(store, outcomes)
      .select('hires.period')
      .where('hires.tenant_id', '=', eb.ref('identity_leases.tenant_id'))
      .where('hires.job_candidate_id', '=', eb.ref('identity_leases.job_candidate_id'))
      .where('hires.period', '=', eb.ref('identity_leases.period'))
      .where('hires.tenant_id', 'not in', (tenants) =>
        tenants.selectFrom('tenants').select('tenants.tenant_id').where('tenants.ended_at', 'is not', null),
      ),
  );
}

function leasedByOther(
  other: HireRef | undefined,
  { pending, waitMs }: { pending: boolean; waitMs: number },
): ConnectorError {
  const name = other === undefined ? 'another hire' : nameHire(other);
  return new ConnectorError({
    code: 'IDENTITY_LEASED',
    action: 'retry',
    message:
      `Somebody of the same e-mail, or of the same name and birth date, is being created by ${name}. Nothing is ` +
      'created before the HR system shows what became of that; then this hire goes on by itself. If it does not, ' +
      'see what that hire waits for.',
    retryAfterMs: Math.max(0, Math.ceil(waitMs)) + 50,
    ...(other === undefined ? {} : { details: { other, pending } }),
  });
}
