import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import { batchesOf } from '../../src/store/batches.ts';
import { consentsOf, saveConsents } from '../../src/store/consents.ts';
import type { PrivacyCaseRow } from '../../src/store/erasure-tables.ts';
import { askErasureWithin } from '../../src/store/erasures.ts';
import { BY_ITSELF, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
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
  for (const some of [...batchesOf(open, MOST_IDS - WITNESSES), ...batchesOf(ended, 1)]) {
    if (stop.aborted) return;
    for (const one of await (some[0]?.cause === 'gone' ? confirm : stopEnded)(deps, connection, some))
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
 * The same of people whose consent is over: each document is read again, their landed rows are marked, and after a day
 * the policy goes on. Their case stays as long as it is so, because nothing of theirs lands meanwhile.
 */
async function stopEnded(
  { store, log }: PolicyDeps,
  connection: Connection,
  cases: readonly PrivacyCaseRow[],
): Promise<PrivacyCaseRow[]> {
  const { tenant } = connection.tenant;
  const ready: PrivacyCaseRow[] = [];
  const now = await readClock(store);
  for (const one of cases) {
    const consents = await consentsOf(store, tenant, [one.candidate_id]);
    const applications = consents.map((row) => ({ id: row.job_candidate_id, candidateId: row.candidate_id }));
    const read = await withConsents(store, connection, applications);
    const rows = read.map((item) => rowOfConsent(tenant, item));
    await saveConsents(store, tenant, rows);
    if (rows.some(({ state }) => state === 'given')) {
      await dropCase(store, one);
      log.info({ tenantId: tenant }, 'a consent is good again');
      continue;
    }
    const ageMs = now - Number(one.since);
    // Again after a day: what was read before they were stopped may have landed since.
    if (ageMs < 2 * DAY_MS)
      await markLanded(store, connection, { one, applications: applications.map(({ id }) => id) });
    const isProven = rows.length > 0 || one.state === 'allowed';
    if (one.state !== 'allowed' && ageMs < DAY_MS) await postponeCase(store, one, { why: null, ms: DAY_MS - ageMs });
    else if (one.state !== 'allowed' && connection.tenant.policies.privacy[one.cause] === 'mark')
      await postponeCase(store, one, { why: null, ms: DAY_MS });
    else if (isProven) ready.push(one);
    // The applications are no longer shown.
    else await askAbout(store, one, 'unconfirmed');
  }
  return ready;
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
  for (const [stream, ids] of all) {
    const options = { tenant, signal: AbortSignal.timeout(HRIS_MS) };
    const isLeft = stream === 'consents' || connection.tenant.streams[stream as PullName].deletion === 'ignore';
    if (isLeft || ids.length === 0 || (await landing.marks?.(stream, options)) !== true) continue;
    const there = (await landing.read(stream, ids, options)).filter(({ hash }) => hash !== '');
    if (there.length === 0) continue;
    const ended = { target: stream, kind: 'end', changes: {}, sensitive: [], rowHash: '' } as const;
    const origin = { tenantId: tenant, runId: `privacy.${cause}`, by: BY_ITSELF, mappingHash: null };
    // Taken down before it leaves, as every foreign write.
    const batchId = await recordWrites(
      store,
      origin,
      there.map(({ id }) => ({ ...ended, recordId: id })),
    );
    await landing.remove(
      stream,
      there.map(({ id }) => id),
      { ...options, mark: true },
    );
    await settleWrites(store, batchId, 'done');
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
