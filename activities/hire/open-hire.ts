import { ConnectorError } from '../../src/errors.ts';
import { asksToCancel } from '../../src/hire/answers.ts';
import type { HireActivities, Opened } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { HirePolicy } from '../../src/hire/hire-run.ts';
import { isResting } from '../../src/hire/hire-state.ts';
import { moveResting } from '../../src/store/hire-states.ts';
import { insertHires, latestHire, readHireRow } from '../../src/store/hires.ts';
import { answersOf, lastAnswered } from '../../src/store/holds.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded } from '../guarded.ts';
import { readPresence } from '../presence/read-presence.ts';

type Input = Parameters<HireActivities['openHire']>[0];

/**
 * Finds or opens the hire of this application in `hires`: what is recorded there counts, whatever Temporal still
 * remembers. A person who is not in a hiring stage now opens nothing: a stale event costs no row and no credit.
 */
export function openHire(deps: ActivityDeps, input: Input): Promise<Opened> {
  return guarded(deps, input.tenantId, async (connection) => {
    const { store } = deps;
    const tenant = await readTenantState(store, input.tenantId);
    if (tenant.baseline_done_at === null) throw baselinePending(input.tenantId);
    const latest = await latestHire(store, input.tenantId, input.jobCandidateId);
    if (latest?.state === 'open') return resume(deps, connection, latest);
    if (latest?.state === 'done') return resumeDone(deps, connection, latest, input.watch);
    if (latest !== undefined && isResting(latest.state))
      return input.adopt ? adopt(deps, connection, latest) : closed(latest);
    return openPeriod(deps, connection, input, latest);
  });
}

async function openPeriod(
  { store, log }: ActivityDeps,
  connection: Connection,
  { tenantId, jobCandidateId }: Input,
  latest: HireRow | undefined,
): Promise<Opened> {
  const presence = await readPresence(store, connection, jobCandidateId, hiringStagesOf(connection.tenant));
  if (presence.verdict !== 'in') return latest === undefined ? notHired() : closed(latest);
  const period = (latest?.period ?? 0) + 1;
  const { candidateId, jobId } = presence;
  const fresh = await insertHires(store, [{ tenantId, jobCandidateId, period, state: 'open', candidateId, jobId }]);
  if (fresh > 0) log.info({ tenantId, jobCandidateId, period }, 'hire opened');
  return opened(connection, period, 'enrol');
}

/** A person asked for a hire of before go-live, or for one that was ended by somebody's word. */
async function adopt({ store }: ActivityDeps, connection: Connection, row: HireRow): Promise<Opened> {
  await moveResting(store, row, 'open');
  return opened(connection, row.period, 'enrol');
}

/**
 * Every step looks before it writes, so a workflow that starts anew may begin at the last one that is certain. What a
 * person answered and the lost workflow did not come to do is done first: their word must not be lost with it.
 */
async function resume({ store }: ActivityDeps, connection: Connection, row: HireRow): Promise<Opened> {
  const step = row.employee_id === null ? 'enrol' : 'write-back';
  const last = await lastAnswered(store, keyOf(row));
  if (last?.closed_at === null)
    return { ...opened(connection, row.period, step), hold: { holdId: last.hold_id, code: last.code } };
  const isCancelled = row.employee_id === null && asksToCancel(await answersOf(store, keyOf(row)));
  return opened(connection, row.period, isCancelled ? 'cancel' : step);
}

/** The employee is there; what is left is a person who may have gone since, or an answer about that. */
async function resumeDone(
  { store }: ActivityDeps,
  connection: Connection,
  row: HireRow,
  watch: boolean,
): Promise<Opened> {
  const last = await lastAnswered(store, keyOf(row));
  const watching = opened(connection, row.period, 'watch-done');
  if (last?.closed_at === null) return { ...watching, hold: { holdId: last.hold_id, code: last.code } };
  return watch ? watching : closed(row);
}

function keyOf(row: HireRow): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

type FirstStep = 'enrol' | 'write-back' | 'watch-done' | 'cancel';

function opened(connection: Connection, period: number, step: FirstStep): Extract<Opened, { verdict: 'open' }> {
  return { verdict: 'open', period, step, policy: policyOf(connection) };
}

function policyOf({ tenant }: Connection): HirePolicy {
  const { onboarding, cancel } = tenant.policies;
  return {
    skipOnboarding: onboarding === 'skip',
    onboardingDeadlineMs: onboarding === 'skip' ? 0 : onboarding.deadline,
    cancelGraceMs: cancel.grace,
  };
}

function closed(row: HireRow): Opened {
  return { verdict: 'closed', period: row.period, state: row.state };
}

function notHired(): Opened {
  return { verdict: 'closed', period: 0, state: 'not-hired' };
}

export async function hasEmployee({ store }: ActivityDeps, ref: HireRef): Promise<boolean> {
  return (await readHireRow(store, ref)).employee_id !== null;
}

function baselinePending(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'BASELINE_PENDING',
    action: 'throttle',
    message:
      `Tenant ${tenantId} is still recording who was hired before go-live. ` +
      'No hire starts before that is complete.',
    retryAfterMs: 2_000,
  });
}
