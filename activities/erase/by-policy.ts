import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import { batchesOf } from '../../src/store/batches.ts';
import { consentsOf, saveConsents } from '../../src/store/consents.ts';
import type { PrivacyCaseRow } from '../../src/store/erasure-tables.ts';
import { askErasureWithin } from '../../src/store/erasures.ts';
import { BY_ITSELF } from '../../src/store/foreign-writes.ts';
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
import { readClock } from '../../src/store/tenant-states.ts';
import { rowOfConsent, withConsents } from '../../src/streams/consents.ts';
import { removeRows } from '../../src/streams/land-page.ts';
import type { PullName } from '../../src/streams/streams.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { landedOf, withRecords } from './landed-rows.ts';

type PolicyDeps = Pick<ActivityDeps, 'store' | 'connections' | 'log'>;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const HRIS_MS = 30_000;
/** What was not proven for so long is asked about. */
const UNPROVEN_MS = 3 * DAY_MS;
/** People who should be there, asked for beside those who may be gone. */
const WITNESSES = 5;
/** Ids a call, the most that section 4.3 allows. */
const MOST_IDS = 100;

/**
 * Does what `policies.privacy` says of people whom it is about, once that is confirmed: an answer that lacks them
 * proves something only where it shows others who should be there. Erasing only begins here: a row that
 * `carryOutErasure` goes by, committed together with the case's end.
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
      // Whoever is being hired is no matter of course: a person says so of them alone.
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

/** Those of whom it is still true; whoever is back is no case any more, what proves nothing is asked again later. */
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
    // A person may know what nothing here can prove.
    return cases.filter(({ state }) => state === 'allowed');
  }
  const back = cases.filter((one) => shown.has(one.candidate_id));
  for (const one of back) await dropCase(store, one);
  if (back.length > 0) log.info({ tenantId: connection.tenant.tenant, people: back.length }, 'people are back');
  return cases.filter((one) => !shown.has(one.candidate_id));
}

/**
 * Whether the policy goes on with somebody whose consent is over: each document is read again, their landed rows are
 * marked, and a day must have passed. Their case stays as long as it is so, because nothing of theirs lands meanwhile.
 */
async function stopEnded({ store, log }: PolicyDeps, connection: Connection, one: PrivacyCaseRow): Promise<boolean> {
  const { tenant, policies } = connection.tenant;
  const consents = await consentsOf(store, tenant, [one.candidate_id]);
  const applications = consents.map((row) => ({ id: row.job_candidate_id, candidateId: row.candidate_id }));
  const read = await withConsents(store, connection, applications);
  const rows = read.map((item) => rowOfConsent(tenant, item));
  await saveConsents(store, tenant, rows);
  if (rows.some(({ state }) => state === 'given')) {
    await dropCase(store, one);
    log.info({ tenantId: tenant }, 'a consent is good again');
    return false;
  }
  const ageMs = (await readClock(store)) - Number(one.since);
  // Again after a day: what was read before they were stopped may have landed since.
  if (ageMs < 2 * DAY_MS) await markLanded(store, connection, { one, applications: applications.map(({ id }) => id) });
  if (one.state === 'allowed') return true;
  const waitMs = ageMs < DAY_MS ? DAY_MS - ageMs : policies.privacy[one.cause] === 'mark' ? DAY_MS : 0;
  if (waitMs > 0) await postponeCase(store, one, { why: null, ms: waitMs });
  // The applications are no longer shown.
  else if (rows.length === 0) await askAbout(store, one, 'unconfirmed');
  return waitMs === 0 && rows.length > 0;
}

/** Marks what landed of a person, where a table has the column; their consent stands there as it is. */
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

/** Candidates who landed, whom no pass missed and nobody took for gone. */
async function findWitnesses(store: PolicyDeps['store'], { hris, tenant: { tenant } }: Connection): Promise<string[]> {
  const missing = await readMissing(store, { tenantId: tenant, stream: 'candidates' });
  const known = (await listCases(store, tenant)).map((one) => one.candidate_id);
  const doubtful = new Set([...known, ...missing.map(({ recordId }) => recordId)]);
  const options = { tenant, signal: AbortSignal.timeout(HRIS_MS), most: doubtful.size + WITNESSES };
  const landed = (await hris.landing?.ids('candidates', options)) ?? [];
  return landed.filter((id) => !doubtful.has(id)).slice(0, WITNESSES);
}

/** Which of these candidates the partner shows, readable or not. */
async function shownAmong(connection: Connection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    const body = { candidateIds: [...ids] };
    const options = { priority: 'bulk' } as const;
    const found = await connection.partner.readAll(contract.candidates.bulkFetch, { body }, options);
    const { items, unreadable } = found;
    return new Set([...items.map(({ id }) => String(id)), ...unreadable.flatMap(({ id }) => id ?? [])]);
  } catch (error) {
    if (!isConnectorError(error, 'NOT_FOUND')) throw error;
    // A partner that refuses all where one is unknown.
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
