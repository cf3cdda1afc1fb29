import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { dayOf } from '../day-of.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { changeTenants, erasingTenant, lastApplied, removeApplied } from './applied-tenants.ts';
import { audit } from './audit.ts';
import { STORE_PLACES } from './data-map.ts';
import { didChange, findsAny, has, inTransaction, readClock, type Store } from './open-store.ts';
import type { FoundRows, Subject } from './person-data.ts';
import {
  allIdsOf,
  EVERYBODY,
  idsOf,
  legalHoldOf,
  markPerson,
  ownHoldOf,
  type PersonId,
  unmarkPerson,
} from './person-marks.ts';
import type { Signed } from './signing-key.ts';
import type { ErasureRow } from './tenant-tables.ts';

/** The result of erasing a person, without ids and values, so that it can be kept for good. */
export interface ErasureReceipt extends Signed {
  receipt: string;
  tenant: string;
  /** Keyed hashes of the person's ids: somebody with the id and the store can compare. */
  person: string[];
  askedAt: string;
  doneAt: string;
  by: string;
  reason: string;
  /** Place -> how many rows were found and erased there. */
  erased: Record<string, number>;
  employee: string;
  /** Places that could not be reached or may still hold data, and what to do. */
  left: string[];
  /** SHA-256 of the last look's result, which is an empty list. */
  lastLook: string;
}

type Asked = { subject: Subject } & Pick<ErasureRow, 'by' | 'reason' | 'employee'>;

/**
 * Asks for a person to be erased; from the commit on none of their records is taken in. @throws ConnectorError
 * LEGAL_HOLD
 */
export async function askErasure(store: Store, asked: Asked): Promise<ErasureRow> {
  return inTransaction(store, (trx) => askErasureWithin(trx, asked));
}

/** The same in a transaction that has begun. */
export async function askErasureWithin(trx: Store, { subject, by, reason, employee }: Asked): Promise<ErasureRow> {
  const { tenantId } = subject;
  await assertNotHeld(trx, subject);
  const erasureId = randomUUID();
  await markPerson(trx, { tenantId, mark: 'erased', by, about: erasureId }, allIdsOf(subject));
  const asked = { erasure_id: erasureId, tenant_id: tenantId, subject: JSON.stringify(subject), employee, reason, by };
  return insertErasure(trx, asked, erasureId);
}

/** Requested, and audited as `what`; not begun yet. */
async function insertErasure(
  trx: Store,
  asked: Pick<ErasureRow, 'erasure_id' | 'tenant_id' | 'subject' | 'employee' | 'reason' | 'by'>,
  what: string,
  askedAt?: number,
): Promise<ErasureRow> {
  const row = { ...asked, asked_at: askedAt ?? trx.now, quiet_at: 0, found: '{}' };
  const inserted = await trx.kysely.insertInto('erasures').values(row).returningAll().executeTakeFirstOrThrow();
  const { by, tenant_id: tenantId, reason } = asked;
  await audit(trx, { by, tenantId, act: 'erasure-asked', details: `${what}: ${reason}` });
  return inserted;
}

/**
 * Opens an erasure for a person whom a backup brought back; a backup holds no landing tables and no workflows. Does
 * nothing if the store has the erasure that marked the person, ended or not. One that ended does not count for whoever
 * is held: their rows stay for now.
 */
export async function eraseOnceMore(
  store: Store,
  subject: Subject,
  { erasure, by, isHeld }: { erasure: string; by: string; isHeld: boolean },
): Promise<void> {
  const known = await findErasure(store, erasure);
  if (known !== undefined && !(isHeld && known.done_at !== null)) return;
  const again = askedAgain(subject, { erasure, by });
  // A restore may be repeated, and finds whoever is held once more.
  const isAsked = has({ tenant_id: subject.tenantId, reason: again.reason, done_at: null });
  if (await findsAny(store.kysely.selectFrom('erasures').select('erasure_id').where(isAsked))) return;
  await inTransaction(store, (trx) => insertErasure(trx, again, 'one person'));
}

function askedAgain(subject: Subject | TenantSubject, { erasure, by }: { erasure: string; by: string }) {
  const reason = `a backup was put back that is from before erasure ${erasure}`;
  const asked = {
    tenant_id: subject.tenantId,
    subject: JSON.stringify(subject),
    employee: 'keep',
    reason,
    by,
  } as const;
  return { ...asked, erasure_id: randomUUID() };
}

/**
 * The same of a whole tenant; its work ends here as well. It is dated when it was first asked: a tenant that was
 * applied again since stays, also where a later backup is put back after this one.
 */
export async function eraseTenantOnceMore(
  store: Store,
  subject: TenantSubject,
  { erasure, by, askedAt }: { erasure: string; by: string; askedAt: number },
): Promise<void> {
  const again = askedAgain(subject, { erasure, by });
  await changeTenants(store, async (trx, version) => {
    await removeApplied(trx, version, { tenantId: subject.tenantId, by });
    await insertErasure(trx, again, `all of the tenant, ${again.erasure_id}`, askedAt);
  });
}

/**
 * Takes over the erasures of a store that this one replaces, whose rows are newer: receipts and unfinished erasures. A
 * tenant that is being erased there is removed here as well, unless it was applied again after that request.
 */
export async function takeErasures(store: Store, rows: readonly ErasureRow[]): Promise<void> {
  for (const row of rows) {
    const { tenant_id: tenantId, by } = row;
    const subject = row.subject === '' ? undefined : (JSON.parse(row.subject) as Subject | TenantSubject);
    if (subject !== undefined && isTenantSubject(subject)) {
      if (((await lastApplied(store, tenantId)) ?? 0) > row.asked_at) continue;
      await changeTenants(store, (trx, version) => removeApplied(trx, version, { tenantId, by }));
    }
    await store.kysely
      .insertInto('erasures')
      .values(row)
      .onConflict((c) => c.column('erasure_id').doUpdateSet(row).where('erasures.done_at', 'is', null))
      .execute();
  }
}

/** A request to erase a whole tenant. `landing`: what to do with its landing tables. */
export interface TenantSubject {
  landing: 'keep' | 'delete';
  tenantId: string;
}

/** Whether this text names a tenant, or a person of one. */
export function isTenantSubject(subject: Subject | TenantSubject): subject is TenantSubject {
  return 'landing' in subject;
}

/**
 * Like `askErasure`, for a whole tenant. A repeated request is the same erasure, with the new choice for landing
 * tables.
 */
export async function askTenantErasure(
  store: Store,
  { by, reason, tenantId, landing }: TenantSubject & Pick<ErasureRow, 'by' | 'reason'>,
): Promise<ErasureRow> {
  return changeTenants(store, async (trx, version) => {
    await assertNoLegalHold(trx, tenantId);
    const subject: TenantSubject = { landing, tenantId };
    // `erasingTenant` recognises it by its beginning.
    const text = JSON.stringify(subject);
    const open = await erasingTenant(trx, tenantId);
    if (open !== undefined) {
      await trx.kysely
        .updateTable('erasures')
        .set({ subject: text })
        .where('erasure_id', '=', open.erasure_id)
        .execute();
      return { ...open, subject: text };
    }
    await removeApplied(trx, version, { tenantId, by });
    const erasureId = randomUUID();
    const asked = { erasure_id: erasureId, tenant_id: tenantId, subject: text, employee: 'keep', reason, by } as const;
    return insertErasure(trx, asked, `all of the tenant, ${erasureId}`);
  });
}

/** A legal hold on anybody of the tenant. */
export async function anyLegalHold(
  { kysely }: Store,
  tenantId: string,
): Promise<{ by: string; about: string } | undefined> {
  const marks = kysely.selectFrom('person_marks').select(['by', 'about']).where('tenant_id', '=', tenantId);
  return marks.where('mark', '=', 'legal-hold').executeTakeFirst();
}

/** @throws ConnectorError LEGAL_HOLD if anybody of the tenant is under one */
export async function assertNoLegalHold(store: Store, tenantId: string): Promise<void> {
  const hold = await anyLegalHold(store, tenantId);
  if (hold === undefined) return;
  throw rejected(
    'LEGAL_HOLD',
    `Tenant ${tenantId} cannot be erased: ${hold.by} put a legal hold on somebody of it (${hold.about}). ` +
      `Once it is over: hirebridge person hold ${tenantId} WHO --release`,
  );
}

interface HoldOf {
  store: Store;
  tenantId: string;
  by: string;
}

/**
 * Puts a legal hold on a person, or on everybody of the tenant, or releases it. False if there was none to release.
 * @throws ConnectorError HELD_ALREADY
 */
export async function changeLegalHold(
  { store, tenantId, by }: HoldOf,
  ids: readonly PersonId[] | typeof EVERYBODY,
  given: { reason: string } | { release: true },
): Promise<boolean> {
  return inTransaction(store, async (trx) => {
    const whom = ids === EVERYBODY ? 'everybody' : 'one person';
    if ('release' in given) {
      const released = await unmarkPerson(trx, tenantId, ids);
      if (released > 0) await audit(trx, { by, tenantId, act: 'legal-hold-released', details: whom });
      return released > 0;
    }
    // First, because the audit trail takes one act of a tenant at a time: of two holds, the second sees the other.
    await audit(trx, { by, tenantId, act: 'legal-hold-put', details: `${whom}: ${given.reason}` });
    const known = await ownHoldOf(trx, tenantId, ids);
    if (known !== undefined) throw heldAlready(tenantId, known);
    await markPerson(trx, { tenantId, mark: 'legal-hold', by, about: given.reason }, ids);
    return true;
  });
}

/** One release lifts all that is held of a person: a second hold would end unseen with the first. */
function heldAlready(tenantId: string, { by, about, at }: { by: string; about: string; at: number }): ConnectorError {
  return rejected(
    'HELD_ALREADY',
    `A legal hold has been on them since ${dayOf(Number(at))}, put by ${by} (${about}). Nothing was changed: it ` +
      `covers a second cause as well. Once both are over: hirebridge person hold ${tenantId} WHO --release`,
  );
}

/** @throws ConnectorError LEGAL_HOLD if this person, or everybody of the tenant, is under one */
export async function assertNotHeld(store: Store, subject: Subject): Promise<void> {
  const hold = await legalHoldOf(store, subject.tenantId, idsOf(subject));
  if (hold === undefined) return;
  throw rejected(
    'LEGAL_HOLD',
    `Nothing of this person may be erased: ${hold.by} put a legal hold on them (${hold.about}). ` +
      'Once it is over: hirebridge person hold TENANT WHO --release',
  );
}

/** Erasures that were asked for and are not done, oldest first. */
export async function openErasures({ kysely }: Store): Promise<ErasureRow[]> {
  return kysely.selectFrom('erasures').selectAll().where('done_at', 'is', null).orderBy('asked_at').execute();
}

/** Those that ended since then, by the database's clock. */
export async function doneErasures({ kysely }: Store, since: number): Promise<ErasureRow[]> {
  return kysely.selectFrom('erasures').selectAll().where('done_at', '>=', since).orderBy('done_at').execute();
}

export async function findErasure({ kysely }: Store, erasureId: string): Promise<ErasureRow | undefined> {
  return kysely.selectFrom('erasures').selectAll().where('erasure_id', '=', erasureId).executeTakeFirst();
}

/** Those of a tenant, latest first. */
export async function listErasures({ kysely }: Store, tenantId: string): Promise<ErasureRow[]> {
  return kysely
    .selectFrom('erasures')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('asked_at', 'desc')
    .execute();
}

/** Notes the findings before any are erased: after a kill, nobody would know them any more. */
export async function noteFound(store: Store, row: ErasureRow, found: readonly Pick<FoundRows, 'place' | 'count'>[]) {
  const known = JSON.parse(row.found) as Record<string, number>;
  for (const { place, count } of found) known[place] = Math.max(known[place] ?? 0, count);
  const text = JSON.stringify(known);
  await store.kysely.updateTable('erasures').set({ found: text }).where('erasure_id', '=', row.erasure_id).execute();
  row.found = text;
}

/** Running work may write until then, `ms` from now; a later moment stays. */
export async function noteQuiet(store: Store, row: ErasureRow, ms: number): Promise<void> {
  if (ms <= 0 || row.quiet_at > 0) return;
  const set = store.kysely.updateTable('erasures').set({ quiet_at: sql<number>`${store.now} + ${sql.lit(ms)}` });
  const { quiet_at } = await set
    .where('erasure_id', '=', row.erasure_id)
    .returning('quiet_at')
    .executeTakeFirstOrThrow();
  row.quiet_at = quiet_at;
}

/** Ends an erasure once: if two processes end it, the first receipt counts. */
export async function endErasure(
  store: Store,
  row: ErasureRow,
  receiptAt: (doneAt: string) => ErasureReceipt,
  also?: (trx: Store) => Promise<void>,
): Promise<ErasureReceipt> {
  return inTransaction(store, async (trx) => {
    const { kysely } = trx;
    const now = await readClock(trx);
    const receipt = receiptAt(new Date(now).toISOString());
    const ending = kysely
      .updateTable('erasures')
      .set({ subject: '', done_at: now, receipt: JSON.stringify(receipt) })
      .where(has({ erasure_id: row.erasure_id, done_at: null }));
    if (await didChange(ending)) {
      await kysely
        .deleteFrom('intents')
        .where(has({ tenant_id: row.tenant_id, job_candidate_id: row.erasure_id }))
        .execute();
      await also?.(trx);
      await audit(trx, { by: row.by, tenantId: row.tenant_id, act: 'erased', details: row.erasure_id });
      return receipt;
    }
    const done = await kysely
      .selectFrom('erasures')
      .select('receipt')
      .where('erasure_id', '=', row.erasure_id)
      .executeTakeFirstOrThrow();
    return JSON.parse(done.receipt ?? '{}') as ErasureReceipt;
  });
}

/**
 * Removes deleted values from the files of the store: SQLite overwrites them, and this function empties its log. False
 * if somebody was reading; the next call then empties the log. Postgres keeps the bytes for its own vacuum
 * (docs/privacy.md); its planner forgets its samples of these tables, or of all.
 */
export async function forgetBytes({ kysely, kind }: Store, tables?: readonly string[]): Promise<boolean> {
  if (kind === 'postgres') return sampleAnew(kysely, tables);
  const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(kysely);
  return rows[0]?.busy === 0;
}

/**
 * The planner keeps sampled values even after their rows are gone, so samples are taken anew. Excluding columns is no
 * option, because the planner needs ids and the values in conditions of indexes. A role that does not own the tables
 * may not do this, and a locked table is skipped: an erasure waits for neither.
 */
async function sampleAnew(
  kysely: Store['kysely'],
  tables: readonly string[] = Object.keys(STORE_PLACES),
): Promise<true> {
  const sampled = sql<{ name: string }>`
    select distinct tablename as name from pg_stats where schemaname = current_schema()`;
  for (const { name } of (await sampled.execute(kysely)).rows)
    if (tables.includes(name))
      await sql`analyze (skip_locked) ${sql.table(name)}`.execute(kysely).catch(() => undefined);
  return true;
}
