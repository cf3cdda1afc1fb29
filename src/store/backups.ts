import { existsSync } from 'node:fs';
import { link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { audit } from './audit.ts';
import { type ErasedSince, eraseRestored } from './erase-restored.ts';
import { takeErasures } from './erasures.ts';
import { countOf, didChange, openStore, openTables, type Store, type StoreTables, sameHire } from './open-store.ts';
import { readMarks, takeLegalHolds } from './person-marks.ts';
import { openRestored, UNREADABLE } from './sealed-values.ts';
import type { ErasureRow } from './tenant-tables.ts';

/** Named as the actor if hirebridge notices a restore that no person announced. */
const NOBODY = 'hirebridge';
/** Entries of `processes` this young may have been written after the restore, so they do not date the backup. */
const LATELY_MS = 45_000;

/** A store that was put back from a backup. */
export interface Restore {
  at: number;
  by: string;
  /** The latest moment that the backup holds data of. */
  knownUntil: number;
  tenants: RestoredTenant[];
}

export interface RestoredTenant {
  tenantId: string;
  /** The reconcile that looks for what the backup is missing has ended. */
  isCompared: boolean;
  /** Hires opened since the restore. */
  takenUp: { jobCandidateId: string; state: string; employeeId: string | null; how: string | null }[];
  /** Holds opened since the restore, closed ones included. */
  asked: { holdId: string; jobCandidateId: string | null; code: string; isOpen: boolean }[];
}

/**
 * Copies a store into a file while other processes work on.
 * @throws ConnectorError BACKUP_EXISTS, COPY_FAILED, STORE_UNSOUND
 */
export async function backUp(file: string, target: string): Promise<void> {
  if (existsSync(target))
    throw rejected('BACKUP_EXISTS', `${target} exists already and was not overwritten. Name another file.`);
  await copySqlite(file, target);
  const unsound = unsoundness(target);
  if (unsound !== undefined) throw storeUnsound(target, unsound);
}

/**
 * Replaces the store with a backup. The store before is kept beside it, under the name in `kept`; `unread`: see
 * `eraseAgain`.
 * @throws ConnectorError STORE_UNSOUND, STORE_IN_USE, COPY_FAILED, STORE_TOO_NEW, KEY_MISSING
 */
export async function restore(
  file: string,
  backup: string,
  by: string,
  erasures: readonly ErasedSince[] = [],
  keys?: string,
): Promise<{ kept: string | undefined; unread: number }> {
  const unsound = existsSync(backup) ? unsoundness(backup) : 'there is no such file';
  if (unsound !== undefined) throw storeUnsound(backup, unsound);
  const isThere = existsSync(file);
  assertFree(file);
  const ready = `${file}.restored`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // A restore that was killed may have left these: SQLite would play the old log into this copy.
  await removeSqlite(ready);
  await copySqlite(backup, ready);
  try {
    // Check first, so that no other kind of file, and no store of a newer version, ever replaces the store.
    if (!(await isStore(ready))) throw storeUnsound(backup, 'hirebridge has no tables in it');
    const url = `sqlite:${ready}`;
    const store = await openStore(url);
    let unread: number;
    try {
      const known = isThere && unsoundness(file) === undefined ? await erasedIn(file) : undefined;
      if (known !== undefined) {
        await takeLegalHolds(store, known.marked);
        await takeErasures(store, known.rows);
      }
      unread = await eraseAgain(store, url, [...(known?.erased ?? []), ...erasures], keys);
      await noteRestored(store, by);
    } finally {
      await store.close();
    }
    // A service manager may have started a process meanwhile, whose writes would be lost.
    assertFree(file);
    const kept = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    await replaceSqlite(file, ready, kept);
    return { kept: isThere ? kept : undefined, unread };
  } catch (error) {
    await removeSqlite(ready);
    throw error;
  }
}

function assertFree(file: string): void {
  if (existsSync(file) && isInUse(file))
    throw rejected(
      'STORE_IN_USE',
      `Another process has ${file} open. End every hirebridge on this machine, and start the restore again.`,
    );
}

async function removeSqlite(file: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
}

/**
 * Erases again who was erased since the backup, from a store at `url` that was just put back. `keys`: the reference to
 * the keys of people's values. Returns how many questions have lost their text, because no key opens it and it may name
 * somebody who was erased.
 * @throws ConnectorError KEY_MISSING
 */
export async function eraseAgain(
  store: Store,
  url: string,
  erased: readonly ErasedSince[],
  keys: string | undefined,
): Promise<number> {
  const sealing = await openRestored(url, keys);
  try {
    await eraseRestored(sealing === undefined ? store : { ...store, sealing }, erased);
  } finally {
    await sealing?.database.close();
  }
  return countOf(store.kysely.selectFrom('holds').where('message', '=', UNREADABLE));
}

interface Known {
  erased: ErasedSince[];
  rows: ErasureRow[];
  marked: Awaited<ReturnType<typeof readMarks>>;
}

/**
 * Reads the erasures and legal holds of the store that is replaced; undefined if it has no tables. One of an older
 * version is read from a copy, which is brought up to date.
 * @throws ConnectorError STORE_TOO_NEW
 */
async function erasedIn(file: string): Promise<Known | undefined> {
  try {
    return await readKnown(file, 'never');
  } catch (error) {
    if (isConnectorError(error, 'STORE_MISSING')) return undefined;
    if (isConnectorError(error, 'STORE_TOO_NEW')) throw replacesNewer(file);
    if (!isConnectorError(error, 'STORE_TOO_OLD')) throw error;
  }
  const copy = `${file}.replaced`;
  await removeSqlite(copy);
  await copySqlite(file, copy);
  try {
    return await readKnown(copy, 'always');
  } finally {
    await removeSqlite(copy);
  }
}

function replacesNewer(file: string): ConnectorError {
  return rejected(
    'STORE_TOO_NEW',
    `A newer hirebridge brought ${file} up to date, so this one cannot tell whose data was erased or is under a ` +
      'legal hold since the backup. Nothing was replaced. Restore with the newer version. To go back to this one, ' +
      'list receipts and holds with the newer one (hirebridge person receipts, hirebridge audit export), move ' +
      'the file away, restore, and ask for them again.',
  );
}

async function readKnown(file: string, migrate: 'always' | 'never'): Promise<Known> {
  const store = await openStore(`sqlite:${file}`, { migrate });
  try {
    const marked = await readMarks(store);
    const { keys } = marked;
    const erased = marked.marks
      .filter(({ mark }) => mark === 'erased')
      .map(({ tenant_id: tenant, about, by, digest }) => ({ tenant, erasure: about, by, keys, person: [digest] }));
    return { erased, marked, rows: await store.kysely.selectFrom('erasures').selectAll().execute() };
  } finally {
    await store.close();
  }
}

async function isStore(file: string): Promise<boolean> {
  const { kysely, close } = openTables(`sqlite:${file}`);
  try {
    const found = sql`select 1 from sqlite_master where name = 'installation'`;
    return (await found.execute(kysely)).rows.length > 0;
  } finally {
    await close();
  }
}

/** Records that a person restored this store: every tenant's next reconcile looks for what the store is missing. */
export async function noteRestored(store: StoreTables, by: string): Promise<void> {
  await compareAllAnew(store);
  await noteRestore(store, by, 0);
}

/** Records a restore that hirebridge noticed itself: hires or reconciles know things that the store does not. */
export async function noticeRestored(store: StoreTables): Promise<void> {
  if (await compareAllAnew(store)) await noteRestore(store, NOBODY, LATELY_MS);
}

/** Processes update `seen_at` every ten seconds, so the last of these times tells when the backup was made. */
async function noteRestore(store: StoreTables, by: string, latelyMs: number): Promise<void> {
  const { known } = await store.kysely
    .selectFrom('processes')
    .select(({ fn }) => fn.max('seen_at').as('known'))
    .where((eb) => eb('seen_at', '<', eb(store.now, '-', latelyMs)))
    .executeTakeFirstOrThrow();
  await audit(store, { by, act: 'restored', details: JSON.stringify({ knownUntil: known }) });
}

/** Makes every tenant's next reconcile compare everything. False if that was already so. */
async function compareAllAnew({ kysely }: StoreTables): Promise<boolean> {
  return didChange(
    kysely.updateTable('tenants').set({ fully_reconciled_at: null }).where('fully_reconciled_at', 'is not', null),
  );
}

/** Whether work since that moment (database clock, ms) may be forgotten. */
export async function isRestoredSince(store: Pick<Store, 'kysely'>, at: number): Promise<boolean> {
  const restoredAt = await lastRestoredAt(store);
  return restoredAt !== undefined && restoredAt >= at;
}

/** When this store was restored last (database clock, ms); undefined if it never was. */
export async function lastRestoredAt({ kysely }: Pick<Store, 'kysely'>): Promise<number | undefined> {
  const { at } = await kysely
    .selectFrom('audit')
    .select(({ fn }) => fn.max('at').as('at'))
    .where('act', '=', 'restored')
    .executeTakeFirstOrThrow();
  return at === null ? undefined : at;
}

/** The last restore of this store and its results so far; undefined if it was never restored. */
export async function readRestore(store: Store): Promise<Restore | undefined> {
  const { kysely } = store;
  const row = await kysely
    .selectFrom('audit')
    .select(['at', 'by', 'details'])
    .where('act', '=', 'restored')
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const at = row.at;
  const tenants = await kysely
    .selectFrom('tenants')
    .select(['tenant_id', 'fully_reconciled_at', 'baseline_done_at'])
    .orderBy('tenant_id')
    .execute();
  const hires = await kysely
    .selectFrom('hires')
    .leftJoin('person_keys', (join) => sameHire('person_keys', 'hires')(join).on('person_keys.kind', '=', 'employee'))
    .select(['hires.tenant_id', 'hires.job_candidate_id as jobCandidateId', 'hires.state'])
    .select(['hires.employee_id as employeeId', 'person_keys.how'])
    .where('hires.opened_at', '>=', at)
    .orderBy('hires.opened_at')
    .execute();
  const holds = await kysely
    .selectFrom('holds')
    .select(['tenant_id', 'hold_id as holdId', 'job_candidate_id as jobCandidateId', 'code', 'closed_at'])
    .where('opened_at', '>=', at)
    // Others closed because their cause is gone, or another question took their place.
    .where((eb) => eb.or([eb('closed_at', 'is', null), eb('answered_at', 'is not', null)]))
    .orderBy('opened_at')
    .execute();
  return {
    at,
    by: row.by,
    knownUntil: Number((JSON.parse(row.details ?? '{}') as { knownUntil?: number | null }).knownUntil ?? 0),
    tenants: tenants.map(({ tenant_id: tenantId, fully_reconciled_at: full, baseline_done_at: baseline }) => ({
      tenantId,
      isCompared: baseline !== null && full !== null,
      takenUp: hires.filter((hire) => hire.tenant_id === tenantId).map(({ tenant_id: _of, ...hire }) => hire),
      asked: holds
        .filter((hold) => hold.tenant_id === tenantId)
        .map(({ tenant_id: _of, closed_at: closedAt, ...hold }) => ({ ...hold, isOpen: closedAt === null })),
    })),
  };
}

function storeUnsound(file: string, why: string): ConnectorError {
  return rejected('STORE_UNSOUND', `${file} is not a sound store: ${why}. Nothing was changed. Try an earlier backup.`);
}

/**
 * Copies a database as it is at one moment, while others write to it. The copy appears whole or not at all, is on disk
 * when this resolves, and only this user may read it.
 */
async function copySqlite(from: string, to: string): Promise<void> {
  const half = `${to}.part`;
  await rm(half, { force: true });
  try {
    // SQLite fills an empty file, and would let others read one that it makes itself.
    await writeFile(half, '', { mode: 0o600, flag: 'wx' });
    vacuumInto(half, from);
    await moveInto(half, to);
  } catch (cause) {
    await rm(half, { force: true });
    throw new ConnectorError({
      code: 'COPY_FAILED',
      action: 'retry',
      message:
        `${from} could not be copied to ${to}: ${cause instanceof Error ? cause.message : String(cause)}. Nothing ` +
        'was changed. Make sure that the folder exists, can be written and has room for the copy, then try again.',
      cause,
    });
  }
}

function vacuumInto(to: string, from: string): void {
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    database.exec('pragma busy_timeout = 10000');
    // The copy is written like a store: without this, pages keep a second copy of rows that moved while it was made,
    // which nothing that is deleted later reaches.
    database.exec('pragma secure_delete = on');
    database.prepare('vacuum into ?').run(to);
  } finally {
    database.close();
  }
}

/** What SQLite finds wrong in a file; undefined if it is a sound database. */
function unsoundness(file: string): string | undefined {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const found = Object.values(database.prepare('pragma quick_check(1)').get() ?? {});
      return found[0] === 'ok' ? undefined : String(found[0]);
    } finally {
      database.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether another process has the database open. No process can have one open that is too damaged to open. */
function isInUse(file: string): boolean {
  try {
    const database = new DatabaseSync(file);
    try {
      // Leaving the write-ahead log needs exclusive access to the file, and empties the log into it.
      const found = Object.values(database.prepare('pragma journal_mode = delete').get() ?? {});
      return found[0] !== 'delete';
    } finally {
      database.close();
    }
  } catch (error) {
    return /locked|busy/.test(String(error));
  }
}

/** Replaces a database that no process has open, and keeps the old one. One of the two exists at any moment. */
async function replaceSqlite(file: string, by: string, kept: string): Promise<void> {
  if (isInUse(by)) throw new Error(`${by} is in use`);
  // A leftover log belongs to the old database; it is kept even if that database is too damaged to open.
  for (const end of ['-wal', '-shm']) if (existsSync(`${file}${end}`)) await rename(`${file}${end}`, `${kept}${end}`);
  if (existsSync(file)) await link(file, kept);
  await moveInto(by, file);
}

async function moveInto(half: string, whole: string): Promise<void> {
  const file = await open(half, 'r');
  await file.sync();
  await file.close();
  await rename(half, whole);
  const folder = await open(dirname(whole), 'r');
  await folder.sync();
  await folder.close();
}
