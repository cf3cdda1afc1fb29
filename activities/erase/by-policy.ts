import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { consentsOf, saveConsents } from '../../src/store/consents.ts';
import { askErasureWithin } from '../../src/store/erasures.ts';
import { BY_ITSELF } from '../../src/store/foreign-writes.ts';
import { assertMayWrite } from '../../src/store/freezes.ts';
import { batchesOf, readClock } from '../../src/store/open-store.ts';
import { completeIds } from '../../src/store/person-data.ts';
import {
  askAbout,
  BY_POLICY,
  dropCase,
  dueCases,
  erasedLately,
  HIRED,
  listCases,
  postponeCase,
} from '../../src/store/privacy-cases.ts';
import { readMissing } from '../../src/store/stream-missing.ts';
import type { PrivacyCaseRow } from '../../src/store/tenant-tables.ts';
import { rowOfConsent, withConsents } from '../../src/streams/consents.ts';
import { removeRows } from '../../src/streams/land-page.ts';
import type { PullName } from '../../src/streams/streams.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { landedOf, withRecords } from './landed-rows.ts';

type PolicyDeps = Pick<ActivityDeps, 'store' | 'connections' | 'log'>;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const HRIS_MS = 30_000;
/** A person is asked about a deletion that could not be confirmed for this long. */
const UNPROVEN_MS = 3 * DAY_MS;
/** How many candidates who should still exist are looked up together with the missing ones. */
const WITNESSES = 5;
/** Most ids per call (section 4.3). */
const MOST_IDS = 100;

/**
 * Applies `policies.privacy` to each person with an open case, once the case is confirmed. An answer that lacks a
 * person proves a deletion only if it shows others who should be there. This starts the erasure only: it commits a row
 * for `carryOutErasure` together with the end of the case.
 */
export async function followPrivacy(deps: PolicyDeps, tenantId: string, stop: AbortSignal): Promise<void> {
  const { store, log } = deps;
  const cases = await dueCases(store, tenantId);
  if (cases.length === 0) return;
  await assertMayWrite(store, tenantId);
  const connection = await deps.connections.of(tenantId);
  const { privacy, changeLimits } = connection.tenant.policies;
  const gone = cases.filter(({ cause }) => cause === 'gone');
  const isOver = ({ state }: PrivacyCaseRow): boolean => state !== 'allowed' && privacy.gone === 'mark';
  for (const one of gone.filter(isOver)) await dropCase(store, one);
  const open = gone.filter((one) => !isOver(one));
  const ready: PrivacyCaseRow[] = [];
  const ended = cases.filter(({ cause }) => cause !== 'gone');
  const steps = [
    ...batchesOf(open, MOST_IDS - WITNESSES).map((some) => () => confirm(deps, connection, some)),
    ...ended.map((one) => async () => ((await stopEnded(deps, connection, one)) ? [one] : [])),
  ];
  for (const step of steps) {
    if (stop.aborted) return;
    for (const one of await step())
      if (one.state === 'asked') await postponeCase(store, one, { why: one.why, ms: DAY_MS });
      else if (one.state === 'due' && privacy[one.cause] === 'ask') await askAbout(store, one, 'policy');
      // The policy never erases a person with an open hire unasked: somebody must decide about each of them.
      else if (one.why !== HIRED && (await isBeingHired(store, one))) await askAbout(store, one, HIRED);
      else ready.push(one);
  }
  const unasked = ready.filter(({ state }) => state === 'due');
  const isTooMuch = unasked.length + (await erasedLately(store, tenantId)) > changeLimits.erasuresPerHour;
  if (isTooMuch && unasked.length > 0) {
    for (const one of unasked) await askAbout(store, one, 'limit');
    log.warn({ tenantId, people: unasked.length }, 'more people than the limit would be erased: a person decides');
  }
  for (const one of isTooMuch ? ready.filter(({ state }) => state === 'allowed') : ready) {
    if (stop.aborted) return;
    await eraseOne(deps, connection, one);
  }
}

/**
 * Returns the cases that still hold. Drops the cases of people who are back, and retries later if the answer proves
 * nothing.
 */
async function confirm(
  { store, log }: PolicyDeps,
  connection: Connection,
  cases: readonly PrivacyCaseRow[],
): Promise<PrivacyCaseRow[]> {
  const ids = cases.map((one) => one.candidate_id);
  const witnesses = await findWitnesses(store, connection);
  const shown = witnesses.length === 0 ? undefined : await shownAmong(connection, [...ids, ...witnesses]);
  if (shown === undefined || !witnesses.some((id) => shown.has(id))) {
    const now = await readClock(store);
    for (const one of cases.filter(({ state }) => state !== 'allowed'))
      if (one.state === 'due' && (witnesses.length === 0 || now - Number(one.since) > UNPROVEN_MS))
        await askAbout(store, one, 'unconfirmed');
      else await postponeCase(store, one, { why: one.why ?? 'unconfirmed', ms: HOUR_MS });
    // A person who allowed the erasure may know more than the answer proves.
    return cases.filter(({ state }) => state === 'allowed');
  }
  const back = cases.filter((one) => shown.has(one.candidate_id));
  for (const one of back) await dropCase(store, one);
  if (back.length > 0) log.info({ tenantId: connection.tenant.tenant, people: back.length }, 'people are back');
  return cases.filter((one) => !shown.has(one.candidate_id));
}

/**
 * Whether the policy goes on with a person whose consent has ended: their consents are read again, their landed rows
 * are marked, and a day must have passed. The case stays open meanwhile, so that nothing of theirs lands.
 */
async function stopEnded({ store, log }: PolicyDeps, connection: Connection, one: PrivacyCaseRow): Promise<boolean> {
  const { tenant, policies } = connection.tenant;
  const consents = await consentsOf(store, tenant, [one.candidate_id]);
  const applications = consents.map((row) => ({ id: row.job_candidate_id, candidateId: row.candidate_id }));
  const { items, refused } = await withConsents(store, connection, applications);
  if (refused[0] !== undefined) throw refused[0].error;
  const rows = items.map((item) => rowOfConsent(tenant, item));
  await saveConsents(store, tenant, rows);
  if (rows.some(({ state }) => state === 'given')) {
    await dropCase(store, one);
    log.info({ tenantId: tenant }, 'a consent is good again');
    return false;
  }
  const ageMs = (await readClock(store)) - Number(one.since);
  // Marks again on the second day: a run that read the person before the stop may have landed rows since.
  if (ageMs < 2 * DAY_MS) await markLanded(store, connection, { one, applications: applications.map(({ id }) => id) });
  if (one.state === 'allowed') return true;
  const waitMs = ageMs < DAY_MS ? DAY_MS - ageMs : policies.privacy[one.cause] === 'mark' ? DAY_MS : 0;
  if (waitMs > 0) await postponeCase(store, one, { why: null, ms: waitMs });
  // The partner no longer shows the applications.
  else if (rows.length === 0) await askAbout(store, one, 'unconfirmed');
  return waitMs === 0 && rows.length > 0;
}

/**
 * Marks a person's landed rows in each table that has the column. Rows of `consents` stay: they already show the state.
 */
async function markLanded(
  store: PolicyDeps['store'],
  connection: Connection,
  { one, applications }: { one: PrivacyCaseRow; applications: readonly string[] },
): Promise<void> {
  const { tenant_id: tenant, cause } = one;
  const { landing } = connection.hris;
  if (landing === undefined) return;
  const of = await subjectOf(store, one);
  const all = await landedOf(
    { ...of, jobCandidates: [...new Set([...of.jobCandidates, ...applications])] },
    connection,
  );
  for (const [name, ids] of all) {
    const signal = AbortSignal.timeout(HRIS_MS);
    const isLeft = name === 'consents' || connection.tenant.streams[name as PullName].deletion === 'ignore';
    if (isLeft || ids.length === 0 || (await landing.marks?.(name, { signal })) !== true) continue;
    const origin = { tenantId: tenant, runId: `privacy.${cause}`, by: BY_ITSELF, mappingHash: null };
    const stream = name as PullName;
    await removeRows({ landing, store, origin, stream }, ids, { mark: true, signal: () => signal });
  }
}

/** Candidates who landed, were never missed by a pass and have no case of their own. */
async function findWitnesses(store: PolicyDeps['store'], { hris, tenant: { tenant } }: Connection): Promise<string[]> {
  const missing = await readMissing(store, { tenantId: tenant, stream: 'candidates' });
  const known = (await listCases(store, tenant)).map((one) => one.candidate_id);
  const doubtful = new Set([...known, ...missing.map(({ recordId }) => recordId)]);
  const options = { tenant, signal: AbortSignal.timeout(HRIS_MS), most: doubtful.size + WITNESSES };
  const landed = (await hris.landing?.ids('candidates', options)) ?? [];
  return landed.filter((id) => !doubtful.has(id)).slice(0, WITNESSES);
}

/** Which of these candidates the partner returns, readable or not. */
async function shownAmong(connection: Connection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    const body = { candidateIds: [...ids] };
    const options = { priority: 'bulk' } as const;
    const found = await connection.partner.readAll(contract.candidates.bulkFetch, { body }, options);
    const { items, unreadable } = found;
    return new Set([...items.map(({ id }) => String(id)), ...unreadable.flatMap(({ id }) => id ?? [])]);
  } catch (error) {
    if (!isConnectorError(error, 'NOT_FOUND')) throw error;
    // Some partners answer 404 to the whole call if one id is unknown, so ask for each id alone.
    const each: ReadonlySet<string>[] = [];
    if (ids.length > 1) for (const id of ids) each.push(await shownAmong(connection, [id]));
    return new Set(each.flatMap((some) => [...some]));
  }
}

async function eraseOne({ store, log }: PolicyDeps, connection: Connection, one: PrivacyCaseRow): Promise<void> {
  const { tenant_id: tenantId, cause } = one;
  const subject = await withRecords(await subjectOf(store, one), connection);
  const by = one.decided_by ?? BY_POLICY;
  const reason = `policies.privacy.${cause}`;
  try {
    await store.kysely.transaction().execute(async (kysely) => {
      const trx = { ...store, kysely };
      if (await dropCase(trx, one)) await askErasureWithin(trx, { subject, by, reason, employee: 'keep' });
    });
    log.info({ tenantId, cause }, 'erasure asked for by policy');
  } catch (error) {
    if (!isConnectorError(error, 'LEGAL_HOLD')) throw error;
    await postponeCase(store, one, { why: 'legal-hold', ms: DAY_MS });
  }
}

function subjectOf(store: PolicyDeps['store'], { tenant_id: tenantId, candidate_id: id }: PrivacyCaseRow) {
  return completeIds(store, tenantId, { candidates: [id], jobCandidates: [], enrolments: [], employees: [] });
}

async function isBeingHired(store: PolicyDeps['store'], one: PrivacyCaseRow): Promise<boolean> {
  const { tenantId, jobCandidates } = await subjectOf(store, one);
  if (jobCandidates.length === 0) return false;
  const hires = store.kysely.selectFrom('hires').select('state').where('tenant_id', '=', tenantId);
  const open = await hires
    .where('job_candidate_id', 'in', jobCandidates)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return open !== undefined;
}
