import { isConnectorError } from '../../src/errors.ts';
import { count } from '../../src/in-words.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { clearTrouble, noteTrouble } from '../../src/store/alarms.ts';
import { openHiresAfter, openHiresSince } from '../../src/store/hire-states.ts';
import { hiresInState, hiresOfEnrolments } from '../../src/store/hires.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { onePage } from '../presence/fetch-job-candidates.ts';
import { afterPage, type Run, waitsForOnboarding } from './run.ts';

const PAGE = 100;
/** Enrolments read by id in one step. */
const AT_ONCE = 20;
/** Temporal may take this long to list a new workflow. */
const SETTLED_MS = 60_000;
/** Replaces a list's number: each enrolment is read by its id. */
const EACH = 1;

/**
 * The only poll of onboarding, one page at a time. The list holds everybody ever enrolled, in an order that the
 * specification does not name, and has no filter by date. If few hires wait, the first page shows that reading their
 * enrolments one by one costs less.
 */
export async function lookAtOnboardings(run: Run): Promise<boolean> {
  const { deps, tenantId, position, connection } = run;
  if (position.list === EACH) return lookAtEach(run);
  const waiting = (await hiresInState(deps.store, tenantId, 'open')).filter(waitsForOnboarding);
  if (waiting.length === 0) return true;
  const { cursor } = position;
  const page = await onePage(
    connection.partner.pages(contract.onboarding.listCandidates, {}, { priority: 'bulk', from: cursor.page }),
  );
  const { items = [], unreadable = [] } = page ?? {};
  run.counts.unreadable += unreadable.length;
  const statuses = new Map<string, string>(
    items.map((item) => [item.onboardingCandidateId, String(item.overallStatus)]),
  );
  const hires = await hiresOfEnrolments(deps.store, tenantId, [...statuses.keys()]);
  for (const hire of hires.filter((one) => one.state === 'open' && waitsForOnboarding(one)))
    await signalMoved(run, hire, statuses.get(hire.onboarding_candidate_id ?? ''));
  const next = page === undefined ? undefined : afterPage(cursor, page, false);
  if (page === undefined || next === undefined) {
    const isWhole = cursor.page === 1 && cursor.pass === 'first' && unreadable.length === 0;
    const unshown = waiting.filter((hire) => !statuses.has(hire.onboarding_candidate_id ?? ''));
    if (isWhole && unshown.length <= AT_ONCE) await signalGone(run, unshown);
    return true;
  }
  const pagesLeft = page.total === undefined ? 0 : Math.ceil((page.total - next.read) / PAGE);
  const isEach = cursor.page === 1 && waiting.length <= pagesLeft;
  run.position = { ...position, cursor: next, list: isEach ? EACH : position.list };
  return false;
}

async function lookAtEach(run: Run): Promise<boolean> {
  const { deps, tenantId, position, connection } = run;
  const waiting = (await hiresInState(deps.store, tenantId, 'open')).filter(waitsForOnboarding);
  const due = waiting
    .filter((hire) => hire.job_candidate_id > position.after)
    .toSorted((a, b) => (a.job_candidate_id < b.job_candidate_id ? -1 : 1))
    .slice(0, AT_ONCE);
  for (const hire of due) {
    const params = { onboardingCandidateId: hire.onboarding_candidate_id ?? '' };
    const answer = await connection.partner.onboarding
      .getCandidate({ params }, { priority: 'bulk' })
      .catch(unlessRefused);
    if (answer === 'gone') await signalGone(run, [hire]);
    else if (answer === undefined) run.counts.unreadable += 1;
    else await signalMoved(run, hire, String(answer.data.overallStatus));
  }
  const last = due.at(-1);
  if (last === undefined) return true;
  run.position = { ...position, after: last.job_candidate_id };
  return false;
}

/** An enrolment that is gone or unreadable says nothing about the others. */
function unlessRefused(error: unknown): 'gone' | undefined {
  if (!isConnectorError(error) || error.action !== 'reject') throw error;
  return error.code === 'NOT_FOUND' ? 'gone' : undefined;
}

/** Has hires read an enrolment that was not shown. One that is gone empties the known status, and is not told again. */
async function signalGone({ deps, tenantId, counts }: Run, hires: readonly HireRow[]): Promise<void> {
  for (const { job_candidate_id: jobCandidateId, step, onboarding_status: known } of hires) {
    if (step !== 'onboard' || known === null) continue;
    await deps.signalHire({ tenantId, jobCandidateId }, 'onboarding', { start: true });
    counts.hinted += 1;
  }
}

async function signalMoved({ deps, tenantId, counts }: Run, hire: HireRow, status: string | undefined): Promise<void> {
  if (status === undefined || hire.onboarding_status === status) return;
  await deps.signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'onboarding', { start: true });
  counts.hinted += 1;
}

/** Signals every open hire once a day, and starts its workflow again if that is gone. */
export async function signalOpenHires(run: Run): Promise<boolean> {
  const { deps, tenantId, position, counts } = run;
  const ids = await openHiresAfter(deps.store, tenantId, { after: position.after, limit: PAGE });
  for (const jobCandidateId of ids) {
    await deps.signalHire({ tenantId, jobCandidateId }, 'answer', { start: true });
    counts.hinted += 1;
  }
  const last = ids.at(-1);
  if (last === undefined) return true;
  run.position = { ...position, after: last };
  return false;
}

/**
 * Starts open hires without a workflow again: Temporal lost it, or the store was restored from before the hire's end.
 * Compares only hires that have not moved for a while, because Temporal lists new workflows late.
 */
export async function signalUnfollowed({ deps, tenantId, counts }: Run): Promise<boolean> {
  const { store, log } = deps;
  const open = await openHiresSince(store, tenantId, SETTLED_MS);
  if (open.length === 0) return true;
  const followed = await deps.followedHires(tenantId);
  const lost = open.filter((jobCandidateId) => !followed.has(jobCandidateId));
  for (const jobCandidateId of lost) {
    await deps.signalHire({ tenantId, jobCandidateId }, 'answer', { start: true });
    counts.hinted += 1;
  }
  const key = { tenantId, kind: 'hires-unfollowed' as const, subject: 'hires' };
  if (lost.length === 0) {
    await clearTrouble(store, key);
    return true;
  }
  log.error({ tenantId, hires: lost.length, some: lost.slice(0, 10) }, 'open hires had no workflow');
  // Names nobody, because an alarm may outlast an erasure.
  const hires = lost.length;
  const message =
    `Temporal had no workflow for ${count(hires, 'open hire')}; hirebridge started them again, ` +
    `and the worker's log names them. Temporal lost its history, or the store was restored from a backup.`;
  await noteTrouble(store, { ...key, reason: 'WORKFLOW_LOST', message }, 0);
  return true;
}
