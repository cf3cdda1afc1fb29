import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import pLimit from 'p-limit';
import { dayOf } from '../../src/day-of.ts';
import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { type Employee, employeeIn } from '../../src/hire/hire.ts';
import { type AlarmKey, clearTrouble, noteTrouble, type Trouble } from '../../src/store/alarms.ts';
import { listAppliedTenants } from '../../src/store/applied-tenants.ts';
import { ERASURES_FILE, type ErasedSince, listErasures } from '../../src/store/erase-restored.ts';
import {
  assertNoLegalHold,
  assertNotHeld,
  doneErasures,
  type ErasureReceipt,
  endErasure,
  findErasure,
  forgetBytes,
  isTenantSubject,
  noteFound,
  noteQuiet,
  openErasures,
  type TenantSubject,
} from '../../src/store/erasures.ts';
import { unnotedCreates } from '../../src/store/intents.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import { erasePersonRows, findPersonRows, type Subject } from '../../src/store/person-data.ts';
import { allIdsOf, erasedMarks, readMarks } from '../../src/store/person-marks.ts';
import { createLease } from '../../src/store/processes.ts';
import type { Tables } from '../../src/store/schema.ts';
import { openSigner, signed } from '../../src/store/signing-key.ts';
import { countTenantRows, endTenantErasure, eraseTenantRows } from '../../src/store/tenant-rows.ts';
import type { ErasureRow } from '../../src/store/tenant-tables.ts';
import { timezoneOf } from '../../src/tenants/schema.ts';
import type { ActivityDeps, Connection, Forgetting } from '../connections.ts';
import { isStrangerTo, readEmployee } from '../hire/read-employee.ts';
import { startClock, writeOnce } from '../hire/write-once.ts';
import type { OwnRecord } from '../own-hris.ts';
import { blindTables, landedOf, removeLanded, removeTables } from './landed-rows.ts';

interface ErasureDeps extends Pick<ActivityDeps, 'store' | 'limits' | 'log'>, Forgetting {
  /** Returns undefined if the tenant has no connection any more: it was removed, or its files cannot be read. */
  connect: (tenantId: string) => Promise<Connection | undefined>;
  /** Folder of the signing key and the list of erasures, next to the store. */
  dataDir: string;
}

const LEASE_MS = 60_000;
const PAUSE_MS = 250;
/**
 * After this time, a page that was read before the person was marked has landed, and activities know that the hire
 * ended.
 */
const UNDER_WAY_MS = 32_000;
/** A run that wrote nothing for this long is dead. */
const STREAM_MS = 120_000;
/** How often an ending whose answer was lost, or an emptying that left rows, is tried again. */
const MOST_TRIES = 5;
const KEPT = 'Landing tables were not touched, as asked: their rows are the customer’s.';
const LATER = 'Somebody was reading the store, so its log is emptied a little later.';

/**
 * Carries out a requested erasure of a person: stops their hires, removes them from landing tables and store, looks
 * once more, and signs what was done. Each step may be repeated, so another process can continue after a crash. Returns
 * undefined if another process works on an erasure of the same tenant.
 */
export async function carryOutErasure(deps: ErasureDeps, erasureId: string): Promise<ErasureReceipt | undefined> {
  const asked = await findErasure(deps.store, erasureId);
  if (asked === undefined) throw unknownErasure(erasureId);
  const lease = createLease(deps.store, `erasures ${asked.tenant_id}`);
  if (!(await lease.take(LEASE_MS))) return undefined;
  const beat = setInterval(() => void lease.take(LEASE_MS).catch(() => undefined), LEASE_MS / 4);
  try {
    const receipt = await inActivity('erase', () => erase(deps, erasureId));
    await clearTrouble(deps.store, alarmOf(receipt.tenant, erasureId));
    return receipt;
  } finally {
    clearInterval(beat);
    await lease.end().catch(() => undefined);
  }
}

async function erase(deps: ErasureDeps, erasureId: string): Promise<ErasureReceipt> {
  const { store, dataDir } = deps;
  const row = await findErasure(store, erasureId);
  if (row === undefined) throw unknownErasure(erasureId);
  if (row.receipt !== null) return JSON.parse(row.receipt) as ErasureReceipt;
  const subject = JSON.parse(row.subject) as Subject | TenantSubject;
  if (isTenantSubject(subject)) return eraseTenant(deps, row, subject);
  await assertNotHeld(store, subject);
  // If the person was erased before, the marks are those of the earlier erasure.
  const person = await erasedMarks(store, subject.tenantId, allIdsOf(subject));
  await keepBesideStore(store, dataDir, [row, { person }]);
  await noteFound(store, row, await findPersonRows(store, subject));
  await settle(deps, row, subject);
  const left: string[] = [];
  const connection = await deps.connect(row.tenant_id);
  if (connection === undefined)
    left.push('The tenant no longer has an open HR system: its landing tables and employees were not checked.');
  else left.push(...blindTables(connection));
  for (let tries = 1; ; tries += 1) {
    await assertNotHeld(store, subject);
    await removeLanded(store, row, subject, connection);
    await assertNotHeld(store, subject);
    await erasePersonRows(store, subject, (open) => assertNotHeld(open, subject));
    if (!(await isQuiet(store, row))) await untilQuiet(store, row);
    else if ((await lookAgain(deps, subject, connection)).length === 0) break;
    else if (tries > MOST_TRIES) throw stillThere();
  }
  await forgetHires(deps, subject);
  await assertNotHeld(store, subject);
  const employee = await settleEmployees(deps, row, { of: subject, connection });
  left.push(...employee.left);
  if (!(await emptied(store, ['inbox', ...Object.keys(JSON.parse(row.found) as object)]))) left.push(LATER);
  const lastLook = await lookAgain(deps, subject, connection);
  const sign = signer(deps, row, { person, employee: employee.said, left, lastLook });
  const receipt = await endErasure(store, row, sign);
  // Until then it held the person's ids.
  await forgetBytes(store, ['erasures']);
  return receipt;
}

/** Signs the receipt, which lists the findings and the checks left for people. */
function signer(
  { dataDir }: ErasureDeps,
  row: ErasureRow,
  { lastLook, left, ...about }: Pick<ErasureReceipt, 'person' | 'employee' | 'left'> & { lastLook: readonly string[] },
): (doneAt: string) => ErasureReceipt {
  const by = openSigner(dataDir);
  const found = Object.entries(JSON.parse(row.found) as Record<string, number>);
  const isUnderWay = (place: string): boolean => place.startsWith(UNDER_WAY);
  const underWay = found.flatMap(([place]) =>
    isUnderWay(place)
      ? `${place.slice(UNDER_WAY.length)} was under way when the erasure was requested, and its outcome is unknown: ` +
        'check in the HR system or the hiring platform whether it arrived, or waits there.'
      : [],
  );
  return (doneAt) =>
    signed(by, {
      receipt: row.erasure_id,
      tenant: row.tenant_id,
      askedAt: new Date(Number(row.asked_at)).toISOString(),
      doneAt,
      by: row.by,
      reason: row.reason,
      erased: Object.fromEntries(found.filter(([place]) => !isUnderWay(place))),
      ...about,
      left: [...left, ...underWay],
      lastLook: createHash('sha256').update(JSON.stringify(lastLook)).digest('hex'),
    });
}

/**
 * Erases everything of a removed tenant: its schedules, workflows and histories, its rows in the landing tables if
 * somebody asked for it, and its rows in every table of the store. Resumes after a crash like a person's erasure. Stops
 * if anybody of the tenant has come under a legal hold.
 */
async function eraseTenant(deps: ErasureDeps, row: ErasureRow, subject: TenantSubject): Promise<ErasureReceipt> {
  const { store, dataDir } = deps;
  const { tenantId, landing } = subject;
  await assertNoLegalHold(store, tenantId);
  await keepBesideStore(store, dataDir, [row, { wholeTenant: Number(row.asked_at), landing }]);
  await noteFound(store, row, await countTenantRows(store, tenantId));
  await settle(deps, row, undefined);
  for (let tries = 1; ; tries += 1) {
    await assertNoLegalHold(store, tenantId);
    const left = await forgetTenant(deps, row);
    if (!(await isQuiet(store, row))) {
      await untilQuiet(store, row);
      continue;
    }
    await assertNoLegalHold(store, tenantId);
    await eraseTenantRows(store, tenantId);
    if (left === 0 && (await countTenantRows(store, tenantId)).length === 0) break;
    if (tries > MOST_LOOKS) throw stillThere();
    await pause(PAUSE_MS);
  }
  // Landing tables come after the store, because the HR system may be gone. The definition goes last, because it is
  // needed to open them.
  const left = landing === 'keep' ? [KEPT] : await removeTables(store, row);
  if (!(await emptied(store))) left.push(LATER);
  const lastLook = (await countTenantRows(store, tenantId)).map(({ place, count }) => `${place}: ${count}`);
  const employee = 'records of the HR system are the customer’s: none was touched';
  return endTenantErasure(store, row, signer(deps, row, { person: [], employee, left, lastLook }));
}

/** How many looks Temporal's list, which lags a little, may take to become empty. */
const MOST_LOOKS = 240;

/** Deletes histories that the list did not show yet when the hires were ended, until it shows none. */
async function forgetHires({ forgetHire }: ErasureDeps, { tenantId, jobCandidates }: Subject): Promise<void> {
  for (const jobCandidateId of jobCandidates)
    for (let looks = 1; (await forgetHire({ tenantId, jobCandidateId })) > 0; looks += 1) {
      if (looks >= MOST_LOOKS) throw stillThere();
      await pause(PAUSE_MS);
    }
}

/** Returns how many schedules and histories the server still listed. */
async function forgetTenant(deps: ErasureDeps, row: ErasureRow): Promise<number> {
  const count = await deps.forgetTenant(row.tenant_id);
  if (count > 0) await noteFound(deps.store, row, [{ place: "Temporal's schedules and histories", count }]);
  return count;
}

/** How many tenants' erasures a process carries out at once. */
const TENANTS_AT_ONCE = 4;

/**
 * Continues erasures that are not done; a failed one is tried again in the next round. A tenant whose erasure takes
 * long, or whose HR system does not answer, delays no other tenant.
 */
export function createErasureRound(deps: ActivityDeps): () => Promise<void> {
  const underWay = new Set<string>();
  const limit = pLimit(TENANTS_AT_ONCE);
  return async () => {
    for (const [tenantId, rows] of Map.groupBy(await openErasures(deps.store), (row) => row.tenant_id)) {
      if (underWay.has(tenantId)) continue;
      underWay.add(tenantId);
      // Not awaited: work that was under way when the erasure was requested may take half a minute to end.
      void limit(() => continueErasures(deps, rows))
        .catch((error: unknown) => deps.log.error({ err: error, tenantId }, 'erasures failed'))
        .finally(() => underWay.delete(tenantId));
    }
  };
}

/** Continues the erasures of one tenant. */
async function continueErasures(
  { store, connections, limits, log, forgetting, dataDir }: ActivityDeps,
  rows: readonly ErasureRow[],
): Promise<void> {
  if (forgetting === undefined || dataDir === undefined) return;
  const connect = async (tenantId: string): Promise<Connection | undefined> => {
    const known = (await listAppliedTenants(store)).find((one) => one.tenantId === tenantId);
    return known === undefined || known.state === 'removed' ? undefined : connections.of(tenantId);
  };
  for (const { erasure_id: erasureId, tenant_id: tenantId } of rows)
    try {
      const receipt = await carryOutErasure({ store, limits, log, ...forgetting, dataDir, connect }, erasureId);
      if (receipt !== undefined) log.info({ tenantId, erasureId }, 'erased');
    } catch (error) {
      log.error({ err: error, tenantId, erasureId }, 'erasure failed, and is tried again');
      const why: Pick<Trouble, 'reason' | 'message'> = isConnectorError(error)
        ? { reason: error.code, message: error.withoutWords() }
        : {
            reason: 'UNEXPECTED',
            message: "An erasure keeps failing and is tried again every minute. See the worker's log.",
          };
      await noteTrouble(store, { ...alarmOf(tenantId, erasureId), ...why }, 0);
    }
}

/** Alarm of an erasure that was tried and failed. */
export function alarmOf(tenantId: string, erasureId: string): AlarmKey {
  return { tenantId, kind: 'erasure-failing', subject: `erasure ${erasureId}` };
}

/** The list of erasures outlives the store, because a restored backup knows nothing of erasures made since. */
async function keepBesideStore(
  store: Store,
  dataDir: string,
  ...erased: [Pick<ErasureRow, 'erasure_id' | 'tenant_id' | 'by'>, Whom][]
): Promise<void> {
  const { keys } = await readMarks(store);
  const lines = erased.map(([row, whom]): ErasedSince => {
    return { erasure: row.erasure_id, tenant: row.tenant_id, by: row.by, keys, person: [], ...whom };
  });
  await listErasures(join(dataDir, ERASURES_FILE), lines);
}

type Whom = Pick<ErasedSince, 'wholeTenant' | 'landing'> | Pick<ErasedSince, 'person'>;

/**
 * Lists on this machine, once a minute at most, what other machines erased: each has a data directory of its own, and
 * the store may be put back on any of them.
 */
export function createListKeeper({ store, dataDir }: Pick<ActivityDeps, 'store' | 'dataDir'>): () => Promise<void> {
  let [since, next] = [0, 0];
  return async () => {
    if (dataDir === undefined || performance.now() < next) return;
    const done = await doneErasures(store, since);
    const erased = done.map((row): [ErasureRow, Whom] => [row, whomOf(row)]);
    if (erased.length > 0) await keepBesideStore(store, dataDir, ...erased);
    // One that ended a little earlier may be committed later.
    since = Math.max(since, ...done.map((row) => Number(row.done_at) - STREAM_MS));
    next = performance.now() + LEASE_MS;
  };
}

/** As the receipt tells; it names nobody if the whole tenant was erased. */
function whomOf({ receipt, asked_at: askedAt }: ErasureRow): Whom {
  const { person, left } = JSON.parse(receipt ?? '{}') as ErasureReceipt;
  if (person.length > 0) return { person };
  return { wholeTenant: Number(askedAt), landing: left.includes(KEPT) ? 'keep' : 'delete' };
}

/** Prefix, among the places found, of work that was under way when the erasure was requested. */
const UNDER_WAY = 'under way: ';

/** Stores until when work under way may still write, and then ends the person's hires. */
async function settle(deps: ErasureDeps, row: ErasureRow, of: Subject | undefined): Promise<void> {
  const { store, limits } = deps;
  const ids = of === undefined || of.jobCandidates.length > 0 ? of?.jobCandidates : [''];
  const isTheirs = (eb: ExpressionBuilder<Tables, 'intents' | 'hires'>) =>
    eb.and([eb('tenant_id', '=', row.tenant_id), ...(ids === undefined ? [] : [eb('job_candidate_id', 'in', ids)])]);
  const open = await store.kysely
    .selectFrom('intents')
    .select(['verb', sql<number>`give_up_at - ${store.now}`.as('leaves')])
    .where(isTheirs)
    .where('outcome', '=', 'open')
    .execute();
  // The HR system accepted these, and may still make an employee whom no row names.
  const accepted = await unnotedCreates(store, ['done'])
    .select('intents.verb')
    .where('hires.tenant_id', '=', row.tenant_id)
    .$if(ids !== undefined, (creates) => creates.where('hires.job_candidate_id', 'in', ids ?? []))
    .execute();
  const isAtWork = of === undefined ? await endedLately(store, row) : await isInWork(store, row, isTheirs);
  const leaves = open.map((intent) => Number(intent.leaves) + limits.partnerLagMs);
  const byVerb = [...Map.groupBy([...open, ...accepted], ({ verb }) => verb)];
  const found = byVerb.map(([verb, some]) => ({ place: `${UNDER_WAY}${verb}`, count: some.length }));
  await noteFound(store, row, found);
  await noteQuiet(store, row, Math.max(0, ...leaves, isAtWork ? UNDER_WAY_MS : 0));
  for (const jobCandidateId of of?.jobCandidates ?? [])
    await deps.forgetHire({ tenantId: row.tenant_id, jobCandidateId });
}

async function isInWork(
  { kysely, now }: Store,
  { tenant_id: tenantId }: ErasureRow,
  isTheirs: (eb: ExpressionBuilder<Tables, 'intents' | 'hires'>) => Expression<SqlBool>,
): Promise<boolean> {
  const hires = await kysely.selectFrom('hires').select('state').where(isTheirs).execute();
  const running = await kysely
    .selectFrom('streams')
    .select('stream')
    .where('tenant_id', '=', tenantId)
    .where('state', '=', 'running')
    .where('updated_at', '>', sql<number>`${now} - ${sql.lit(STREAM_MS)}`)
    .execute();
  return running.length > 0 || hires.some(({ state }) => state === 'open');
}

/** The removed tenant's work has not ended yet, or only a moment ago, so a process may still write earlier readings. */
async function endedLately({ kysely, now }: Store, { tenant_id: tenantId }: ErasureRow): Promise<boolean> {
  const tenant = kysely.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId);
  const rested = tenant.where('ended_at', '<', sql<number>`${now} - ${sql.lit(UNDER_WAY_MS)}`);
  return (await rested.executeTakeFirst()) === undefined;
}

async function isQuiet(store: Store, row: ErasureRow): Promise<boolean> {
  return (await readClock(store)) >= Number(row.quiet_at);
}

async function untilQuiet(store: Store, row: ErasureRow): Promise<void> {
  while (!(await isQuiet(store, row))) await pause(PAUSE_MS);
}

/** Places that still hold something of the person; empty at the end. */
async function lookAgain({ store }: ErasureDeps, of: Subject, connection: Connection | undefined): Promise<string[]> {
  const rows = (await findPersonRows(store, of)).map(({ place, count }) => `${place}: ${count}`);
  const landed = connection === undefined ? [] : [...(await landedOf(of, connection))];
  return [...rows, ...landed.filter(([, ids]) => ids.length > 0).map(([stream, ids]) => `${stream}: ${ids.length}`)];
}

async function emptied(store: Store, tables?: readonly string[]): Promise<boolean> {
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    if (await forgetBytes(store, tables)) return true;
    await pause(PAUSE_MS);
  }
  return false;
}

function unknownErasure(erasureId: string): ConnectorError {
  return rejected(
    'ERASURE_UNKNOWN',
    `The store knows no erasure ${erasureId}. List them with: hirebridge person receipts TENANT`,
  );
}

function stillThere(): ConnectorError {
  return new ConnectorError({
    code: 'ERASURE_INCOMPLETE',
    action: 'retry',
    message:
      'Some data of the person comes back as soon as it is erased. A worker of an older version may start their ' +
      'hires again: replace it. A worker tries again in a minute.',
  });
}

type EndingDeps = Pick<ActivityDeps, 'store' | 'limits'>;

/** The verb of every ending of an employment that no longer belongs to a hire. */
const END_VERB = 'end-employment';

/**
 * Leaves the employee, who is the customer's record, or ends the employment on the day of the request if a person asked
 * for that. Each ending is sent once: intent, call, outcome. Reports employments that were not ended by codes, because
 * a message may name somebody.
 */
async function settleEmployees(
  deps: EndingDeps,
  row: ErasureRow,
  { of, connection }: { of: Subject; connection: Connection | undefined },
): Promise<{ said: string; left: string[] }> {
  const { employees } = of;
  if (employees.length === 0) return { said: 'none known', left: [] };
  if (row.employee === 'keep') return { said: 'kept in the HR system, as asked', left: [] };
  const lastDay = dayOf(Number(row.asked_at), connection && timezoneOf(connection.tenant));
  const refused: string[] = [];
  for (const [nth, one] of employees.entries()) {
    const employee = employeeIn(one.connection, one.id);
    const isTheirs: Ending['isTheirs'] = (at, shown) => !isStrangerTo(of, one, at, shown);
    const why = await endEmployment(deps, { row, connection, employee, isTheirs, nth, lastDay });
    if (why !== undefined) refused.push(why);
  }
  const ended = employees.length - refused.length;
  const rest = 'as asked; the record stays in the HR system';
  const said =
    refused.length === 0
      ? `employment ended as of ${lastDay}, ${rest}`
      : `${ended} of ${employees.length} employments ended as of ${lastDay}, ${rest}`;
  return { said, left: refused.map((why) => `An employment should have been ended but was not: ${why}.`) };
}

interface Ending {
  row: ErasureRow;
  connection: Connection | undefined;
  employee: Employee;
  isTheirs: (at: Connection, shown: OwnRecord) => boolean;
  /** Position among the person's employees. */
  nth: number;
  lastDay: string;
}

const STRANGER =
  'its record no longer has the reference that hirebridge gave it, so the id may mean somebody else by now; look in ' +
  'the HR system for the right one, and end it there';

/** Returns undefined once the employment has ended, else why it was not ended. */
async function endEmployment(deps: EndingDeps, ending: Ending): Promise<string | undefined> {
  const { row, connection, employee, isTheirs } = ending;
  if (connection === undefined) return 'no connection to the HR system was open; end it there';
  const { hris, tenant } = connection;
  if (employee.connection !== tenant.hris.connection)
    return 'it is in an HR system that the tenant no longer has; end it there';
  const key = deps.store.kysely.selectFrom('person_keys').select('value').where('tenant_id', '!=', row.tenant_id);
  const is = { scope: employee.connection, kind: 'employee', value: employee.id } as const;
  if ((await key.where((eb) => eb.and(is)).executeTakeFirst()) !== undefined) return "the employee is another tenant's";
  if (hris.employees.terminate === undefined)
    return 'hirebridge cannot end employments in this HR system; end it there';
  const shown = await readEmployee(hris, employee);
  if (shown !== undefined && !isTheirs(connection, shown)) return STRANGER;
  for (let tries = 1; ; tries += 1)
    try {
      const once = await writeOnce(endOf(deps, ending, connection));
      return once.kind === 'refused' ? `the HR system refused it (${once.error.code})` : undefined;
    } catch (error) {
      if (isConnectorError(error, 'TENANT_OBSERVES')) return 'the tenant only observes, so nothing is written for it';
      if (!isConnectorError(error, 'OUTCOME_UNKNOWN') || tries > MOST_TRIES) throw error;
      await pause(error.retryAfterMs ?? PAUSE_MS);
    }
}

/** The write belongs to no hire: the person's hires are gone, and their intents too. */
function endOf(
  { store, limits }: EndingDeps,
  { row, employee, nth, lastDay }: Ending,
  { hris }: Connection,
): Parameters<typeof writeOnce<null, { lastDay: string }>>[0] {
  return {
    store,
    key: { tenantId: row.tenant_id, jobCandidateId: row.erasure_id, period: nth },
    verb: END_VERB,
    state: 'none',
    pinned: () => ({ lastDay }),
    giveUpMs: limits.giveUpMs,
    readLagMs: hris.capabilities.readLagMs,
    sinceRead: startClock(),
    async look() {
      return (await readEmployee(hris, employee))?.former === true
        ? { kind: 'found', value: null }
        : { kind: 'absent' };
    },
    // Nothing about the person may be stored any more.
    note: async () => undefined,
    async send(pinned, guard) {
      await hris.employees.terminate?.(employee, pinned.lastDay, guard);
      return null;
    },
  };
}
