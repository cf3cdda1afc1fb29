import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ExpressionBuilder, sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { employeeIn } from '../../src/hire/employee.ts';
import type { StoredRow } from '../../src/hris/port.ts';
import { listAppliedTenants } from '../../src/store/applied-tenants.ts';
import { batchesOf } from '../../src/store/batches.ts';
import { ERASURES_FILE } from '../../src/store/erase-restored.ts';
import type { ErasureRow } from '../../src/store/erasure-tables.ts';
import {
  type ErasureReceipt,
  endErasure,
  findErasure,
  noteFound,
  noteQuiet,
  openErasures,
} from '../../src/store/erasures.ts';
import { createLease } from '../../src/store/leases.ts';
import type { Store } from '../../src/store/open-store.ts';
import { erasePersonRows, findPersonRows, forgetBytes, STREAM_IDS, type Subject } from '../../src/store/person-data.ts';
import { idsOf, readMarks } from '../../src/store/person-marks.ts';
import type { Tables } from '../../src/store/schema.ts';
import { openSigner, signed } from '../../src/store/signing-key.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import { peopleNamedIn } from '../../src/streams/without-erased.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';

export interface ErasureDeps extends Pick<ActivityDeps, 'store' | 'limits' | 'log'> {
  /** Undefined where the tenant has no ends any more: it was removed, or its files cannot be read. */
  connect: (tenantId: string) => Promise<Connection | undefined>;
  /** Ends a hire's workflow and its histories. */
  forgetHire: (hire: { tenantId: string; jobCandidateId: string }) => Promise<void>;
  /** Where the signing key and the list of erasures stand, beside the store. */
  dataDir: string;
}

const LEASE_MS = 60_000;
const HRIS_MS = 30_000;
const PAUSE_MS = 250;
/** A page that was read before the person was marked is landed by then, and an activity has heard of its end. */
const UNDER_WAY_MS = 32_000;
/** A run that wrote nothing for so long is dead. */
const STREAM_MS = 120_000;
const MOST_TRIES = 5;

/**
 * Erases a person who was asked to be: stops their hires, takes them out of landing tables and store, looks once more,
 * and signs what was done. Each step may be repeated, so whoever comes next goes on where a process died. Undefined
 * where another process is at it.
 */
export async function carryOutErasure(deps: ErasureDeps, erasureId: string): Promise<ErasureReceipt | undefined> {
  const lease = createLease(deps.store, 'erasures');
  if (!(await lease.take(LEASE_MS))) return undefined;
  const beat = setInterval(() => void lease.take(LEASE_MS).catch(() => undefined), LEASE_MS / 4);
  try {
    return await inActivity('erase', () => erase(deps, erasureId));
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
  const subject = JSON.parse(row.subject) as Subject;
  await keepBesideStore(store, dataDir, row);
  await noteFound(store, row, await findPersonRows(store, subject));
  await settle(deps, row, subject);
  const left: string[] = [];
  const connection = await deps.connect(row.tenant_id);
  if (connection === undefined)
    left.push('The tenant has no open HR system any more: its landing tables and employees were not looked at.');
  for (let tries = 1; ; tries += 1) {
    await removeLanded(deps, row, subject, connection);
    await erasePersonRows(store, subject);
    if (!(await isQuiet(store, row))) await untilQuiet(store, row);
    else if ((await lookAgain(deps, subject, connection)).length === 0) break;
    else if (tries > MOST_TRIES) throw stillThere();
  }
  const employee = await settleEmployee(row, subject, connection);
  if (!(await emptied(store))) left.push('Somebody was reading the store, so its log is emptied a little later.');
  const signer = openSigner(dataDir);
  const lastLook = JSON.stringify(await lookAgain(deps, subject, connection));
  const { marks } = await readMarks(store);
  const found = Object.entries(JSON.parse(row.found) as Record<string, number>);
  for (const [place] of found)
    if (place.startsWith(UNDER_WAY))
      left.push(
        `${place.slice(UNDER_WAY.length)} was under way when the person was erased, and its answer is not known: ` +
          'look in the HR system or the hiring platform whether it arrived.',
      );
  return endErasure(store, row, (doneAt) =>
    signed(signer, {
      receipt: erasureId,
      tenant: row.tenant_id,
      person: marks.filter(({ about }) => about === erasureId).map(({ digest }) => digest),
      askedAt: new Date(Number(row.asked_at)).toISOString(),
      doneAt,
      by: row.by,
      reason: row.reason,
      erased: Object.fromEntries(found.filter(([place]) => !place.startsWith(UNDER_WAY))),
      employee,
      left,
      lastLook: createHash('sha256').update(lastLook).digest('hex'),
    }),
  );
}

/** Goes on with what was asked for and is not done; one that fails is tried again in the next round. */
export async function continueErasures({ store, connections, limits, log, forgetHire, dataDir }: ActivityDeps) {
  if (forgetHire === undefined || dataDir === undefined) return;
  const connect = async (tenantId: string): Promise<Connection | undefined> => {
    const known = (await listAppliedTenants(store)).find((one) => one.tenantId === tenantId);
    return known === undefined || known.state === 'removed' ? undefined : connections.of(tenantId);
  };
  for (const { erasure_id: erasureId, tenant_id: tenantId } of await openErasures(store))
    try {
      const receipt = await carryOutErasure({ store, limits, log, forgetHire, dataDir, connect }, erasureId);
      if (receipt !== undefined) log.info({ tenantId, erasureId }, 'person erased');
    } catch (error) {
      log.error({ err: error, tenantId, erasureId }, 'erasure failed, and is tried again');
    }
}

/** The list of erasures outlives the store: a backup that is restored knows nothing of those since. */
async function keepBesideStore(store: Store, dataDir: string, row: ErasureRow): Promise<void> {
  const file = join(dataDir, ERASURES_FILE);
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.includes(row.erasure_id)) return;
  const { keys, marks } = await readMarks(store);
  const own = marks.filter(({ about }) => about === row.erasure_id).map(({ digest }) => digest);
  const line = { erasure: row.erasure_id, tenant: row.tenant_id, by: row.by, keys, person: own };
  // Half a line of a process that was killed is nobody's.
  const start = text === '' || text.endsWith('\n') ? '' : '\n';
  await appendFile(file, `${start}${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
}

/** What was under way when it was asked for, among what was found. */
const UNDER_WAY = 'under way: ';

/** Notes until when something that was under way may still write, and then ends the person's hires. */
async function settle({ store, forgetHire, limits }: ErasureDeps, row: ErasureRow, of: Subject): Promise<void> {
  const ids = of.jobCandidates.length === 0 ? [''] : of.jobCandidates;
  const isTheirs = (eb: ExpressionBuilder<Tables, 'intents' | 'hires'>) =>
    eb.and([eb('tenant_id', '=', row.tenant_id), eb('job_candidate_id', 'in', ids)]);
  const open = await store.kysely
    .selectFrom('intents')
    .select(['verb', sql<number>`give_up_at - ${store.now}`.as('leaves')])
    .where(isTheirs)
    .where('outcome', '=', 'open')
    .execute();
  const hires = await store.kysely.selectFrom('hires').select('state').where(isTheirs).execute();
  const running = await store.kysely
    .selectFrom('streams')
    .select('stream')
    .where('tenant_id', '=', row.tenant_id)
    .where('state', '=', 'running')
    .where('updated_at', '>', sql<number>`${store.now} - ${sql.lit(STREAM_MS)}`)
    .execute();
  const isAtWork = running.length > 0 || hires.some(({ state }) => state === 'open');
  const leaves = open.map((intent) => Number(intent.leaves) + limits.partnerLagMs);
  await noteFound(
    store,
    row,
    open.map(({ verb }) => ({ place: `${UNDER_WAY}${verb}`, count: 1 })),
  );
  await noteQuiet(store, row, Math.max(0, ...leaves, isAtWork ? UNDER_WAY_MS : 0));
  for (const jobCandidateId of of.jobCandidates) await forgetHire({ tenantId: row.tenant_id, jobCandidateId });
}

async function isQuiet(store: Store, row: ErasureRow): Promise<boolean> {
  return (await readClock(store)) >= Number(row.quiet_at);
}

async function untilQuiet(store: Store, row: ErasureRow): Promise<void> {
  while (!(await isQuiet(store, row))) await pause(PAUSE_MS);
}

/** Rows of the customer's tables that this tenant landed. */
async function removeLanded(
  { store }: ErasureDeps,
  row: ErasureRow,
  of: Subject,
  connection: Connection | undefined,
): Promise<void> {
  const landing = connection?.hris.landing;
  if (connection === undefined || landing === undefined) return;
  for (const [stream, ids] of await landedOf(of, connection)) {
    if (ids.length === 0) continue;
    await noteFound(store, row, [{ place: `landing table of ${stream}`, count: ids.length }]);
    const options = { tenant: row.tenant_id, mark: false, signal: AbortSignal.timeout(HRIS_MS) };
    for (const some of batchesOf(ids)) await landing.remove(stream, some, options);
  }
}

/** A person's rows in the customer's tables, by stream. */
export async function readLanded(
  of: Subject,
  connection: Connection,
): Promise<{ stream: string; rows: StoredRow[] }[]> {
  const found: { stream: string; rows: StoredRow[] }[] = [];
  // Whoever has their records was looked for in every row already.
  const known = (stream: string): [string, string[]] => [stream, STREAM_IDS[stream]?.(of) ?? []];
  const all = of.records === undefined ? await landedOf(of, connection) : Object.keys(connection.landings).map(known);
  for (const [stream, ids] of all) {
    const options = { tenant: of.tenantId, signal: AbortSignal.timeout(HRIS_MS) };
    const rows = ids.length === 0 ? [] : await connection.hris.landing?.read(stream, ids, options);
    if (rows !== undefined && rows.length > 0) found.push({ stream, rows });
  }
  return found;
}

/** The same person with the landed records that name them and go by an id of their own. */
export async function withRecords(of: Subject, connection: Connection): Promise<Subject> {
  const all = await landedOf(of, connection);
  const records = Object.fromEntries(
    [...all].filter(([stream, ids]) => NAMING.has(stream) && stream !== 'applications' && ids.length > 0),
  );
  const more = all.get('applications') ?? [];
  return { ...of, jobCandidates: [...new Set([...of.jobCandidates, ...more])], records };
}

/** Ids of the rows that stand there, by stream: by the person's own ids, and rows that name them. */
async function landedOf(of: Subject, connection: Connection): Promise<Map<string, string[]>> {
  const landing = connection.hris.landing;
  const found = new Map<string, string[]>();
  if (landing === undefined) return found;
  for (const stream of Object.keys(connection.landings)) {
    const known = STREAM_IDS[stream]?.(of) ?? [];
    const options = { tenant: of.tenantId, signal: AbortSignal.timeout(HRIS_MS) };
    const rows = known.length === 0 ? [] : await landing.read(stream, known, options);
    const more = NAMING.has(stream) ? await rowsNaming(stream, of, connection) : [];
    found.set(stream, [...new Set([...rows.map(({ id }) => id), ...more])]);
  }
  return found;
}

const PAGE = 1_000;
/** Streams whose rows name people, and are not found by a person's ids alone. */
const NAMING: ReadonlySet<string> = new Set(['applications', 'interviews', 'screenings', 'bookings']);

async function rowsNaming(stream: string, of: Subject, { hris: { landing } }: Connection): Promise<string[]> {
  const found: string[] = [];
  if (landing === undefined) return found;
  const own = new Set(idsOf(of).map(({ kind, id }) => `${kind} ${id}`));
  for (let after: string | undefined; ; ) {
    const options = { tenant: of.tenantId, signal: AbortSignal.timeout(HRIS_MS) };
    const ids = await landing.ids(stream, { ...options, after, most: PAGE });
    if (ids.length === 0) return found;
    const rows = await landing.read(stream, ids, options);
    for (const { id, fields } of rows)
      if (peopleNamedIn(fields).some((one) => own.has(`${one.kind} ${one.id}`))) found.push(id);
    after = ids.at(-1);
  }
}

/** Where something of the person still stands; empty at the end. */
async function lookAgain({ store }: ErasureDeps, of: Subject, connection: Connection | undefined): Promise<string[]> {
  const rows = (await findPersonRows(store, of)).map(({ place, count }) => `${place}: ${count}`);
  const landed = connection === undefined ? [] : [...(await landedOf(of, connection))];
  return [...rows, ...landed.filter(([, ids]) => ids.length > 0).map(([stream, ids]) => `${stream}: ${ids.length}`)];
}

/** The employee is the customer's record: it is left, or the employment ends today where a person said so. */
async function settleEmployee(
  { employee }: ErasureRow,
  { employees }: Subject,
  connection: Connection | undefined,
): Promise<string> {
  if (employees.length === 0) return 'none known';
  if (employee === 'keep' || connection === undefined) return 'kept in the HR system, as asked';
  const { hris, tenant } = connection;
  if (hris.employees.terminate === undefined) return 'kept: hirebridge cannot end employments in this HR system';
  const lastDay = new Date().toISOString().slice(0, 10);
  for (const { connection: system, id } of employees) {
    if (system !== tenant.hris.connection) continue;
    const options = { signal: AbortSignal.timeout(HRIS_MS), beforeSend: () => undefined };
    try {
      await hris.employees.terminate(employeeIn(system, id), lastDay, options);
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      return `not ended: ${error.message}`;
    }
  }
  return `employment ended as of ${lastDay}, as asked; the record stays in the HR system`;
}

async function emptied(store: Store): Promise<boolean> {
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    if (await forgetBytes(store)) return true;
    await pause(PAUSE_MS);
  }
  return false;
}

function unknownErasure(erasureId: string): ConnectorError {
  return new ConnectorError({
    code: 'ERASURE_UNKNOWN',
    action: 'reject',
    message: `The store knows no erasure ${erasureId}. List them with: hirebridge person receipts TENANT`,
  });
}

function stillThere(): ConnectorError {
  return new ConnectorError({
    code: 'ERASURE_INCOMPLETE',
    action: 'retry',
    message: 'Something of the person comes back as soon as it is erased. A worker tries again in a minute.',
  });
}
