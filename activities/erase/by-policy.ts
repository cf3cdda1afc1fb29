import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import { batchesOf } from '../../src/store/batches.ts';
import type { PrivacyCaseRow } from '../../src/store/erasure-tables.ts';
import { askErasureWithin } from '../../src/store/erasures.ts';
import { completeIds, type Subject } from '../../src/store/person-data.ts';
import { askAbout, BY_POLICY, dropCase, dueCases, erasedLately, postponeCase } from '../../src/store/privacy-cases.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { withRecords } from './landed-rows.ts';

type PolicyDeps = Pick<ActivityDeps, 'store' | 'connections' | 'log'>;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const HRIS_MS = 30_000;
/** People who should be there, asked for beside those who may be gone. */
const WITNESSES = 5;
/** Ids a call, the most that section 4.3 allows. */
const MOST_IDS = 100;

/**
 * Does what `policies.privacy` says of people whom it is about, once that is confirmed: an answer that lacks them proves
 * something only where it shows others who should be there. Erasing only begins here: a row that `carryOutErasure` goes
 * by, committed together with the case's end.
 */
export async function followPrivacy(deps: PolicyDeps, tenantId: string, stop: AbortSignal): Promise<void> {
  const { store, log } = deps;
  const cases = await dueCases(store, tenantId);
  if (cases.length === 0) return;
  await assertMayWrite(store, tenantId);
  const connection = await deps.connections.of(tenantId);
  const { privacy, changeLimits } = connection.tenant.policies;
  const confirmed: PrivacyCaseRow[] = [];
  for (const some of batchesOf(cases, MOST_IDS - WITNESSES)) {
    if (stop.aborted) return;
    confirmed.push(...(await confirm(deps, connection, some)));
  }
  for (const one of confirmed)
    if (one.state === 'asked') await postponeCase(store, one, { why: one.why, ms: DAY_MS });
    else if (one.state === 'due' && privacy[one.cause] === 'ask') await askAbout(store, one, 'policy');
    else if (one.state === 'due' && privacy[one.cause] === 'mark') await dropCase(store, one);
  const unasked = confirmed.filter(({ state, cause }) => state === 'due' && privacy[cause] === 'erase');
  const isTooMuch = unasked.length + (await erasedLately(store, tenantId)) > changeLimits.erasuresPerHour;
  if (isTooMuch && unasked.length > 0) {
    for (const one of unasked) await askAbout(store, one, 'limit');
    log.warn({ tenantId, people: unasked.length }, 'more people than the limit would be erased: a person decides');
  }
  const allowed = confirmed.filter(({ state }) => state === 'allowed');
  for (const one of isTooMuch ? allowed : [...allowed, ...unasked]) {
    if (stop.aborted) return;
    await eraseOne(deps, connection, one);
  }
}

/** Those of whom it is still true; whoever is back is no case any more, and what proves nothing is asked again later. */
async function confirm(
  { store, log }: PolicyDeps,
  connection: Connection,
  cases: readonly PrivacyCaseRow[],
): Promise<PrivacyCaseRow[]> {
  const ids = cases.map((one) => one.candidate_id);
  const witnesses = await witnessesBeside(connection, new Set(ids));
  const shown = witnesses.length === 0 ? undefined : await shownAmong(connection, [...ids, ...witnesses]);
  if (shown === undefined || !witnesses.some((id) => shown.has(id))) {
    const unproven = cases.filter(({ state }) => state !== 'allowed');
    for (const one of unproven)
      if (witnesses.length === 0 && one.state === 'due') await askAbout(store, one, 'unconfirmed');
      else await postponeCase(store, one, { why: one.why ?? 'unconfirmed', ms: HOUR_MS });
    // A person may know what nothing here can prove.
    return cases.filter(({ state }) => state === 'allowed');
  }
  const back = cases.filter((one) => shown.has(one.candidate_id));
  for (const one of back) await dropCase(store, one);
  if (back.length > 0) log.info({ tenantId: connection.tenant.tenant, people: back.length }, 'people are back');
  return cases.filter((one) => !shown.has(one.candidate_id));
}

/** Candidates who landed and were not missed. */
async function witnessesBeside({ hris, tenant }: Connection, others: ReadonlySet<string>): Promise<string[]> {
  const options = { tenant: tenant.tenant, signal: AbortSignal.timeout(HRIS_MS), most: others.size + WITNESSES };
  const landed = (await hris.landing?.ids('candidates', options)) ?? [];
  return landed.filter((id) => !others.has(id)).slice(0, WITNESSES);
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
  const { tenant_id: tenantId, candidate_id: candidateId, cause, state } = one;
  const start = { candidates: [candidateId], jobCandidates: [], enrolments: [], employees: [] };
  const subject = await withRecords(await completeIds(store, tenantId, start), connection);
  // Somebody who is being hired is no matter of course.
  if (state === 'due' && (await isBeingHired(store, subject))) return askAbout(store, one, 'hire-open');
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

async function isBeingHired({ kysely }: PolicyDeps['store'], { tenantId, jobCandidates }: Subject): Promise<boolean> {
  if (jobCandidates.length === 0) return false;
  const hires = kysely.selectFrom('hires').select('state').where('tenant_id', '=', tenantId);
  const open = await hires
    .where('job_candidate_id', 'in', jobCandidates)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return open !== undefined;
}
