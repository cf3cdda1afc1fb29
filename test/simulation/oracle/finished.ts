import { humanOf, takes, type World } from '../world.ts';
import { type Facts, type HireFact, idFieldOf } from './facts.ts';
import { membershipOf } from './memberships.ts';

/** Answers by which a person took a hire out of our hands. */
const OVER = new Set(['cancel', 'keep', 'left']);

/** I1: who is hired and not held is one employee, and the Employee ID stands with the partner. */
export function checkFinished(world: World, facts: Facts): string[] {
  return facts.hires
    .filter((hire) => isDue(world, hire))
    .flatMap((hire) => {
      const records = facts.employees.get(hire.human) ?? [];
      if (records.length === 0) return [`I1 job candidate ${hire.jobCandidateId} is hired and no employee`];
      const numbers = new Set(records.map((one) => one.number));
      const shown = (facts.enrolments.get(hire.customer.companyId) ?? []).some(
        (one) =>
          // One that was adopted may be of an earlier profile of theirs.
          humanOf(world, hire.customer.companyId, one.candidateId) === hire.human &&
          one.external.status === 'hired' &&
          numbers.has(one.external.employeeId ?? ''),
      );
      if (shown || numbers.has(idFieldOf(world, hire) ?? '')) return [];
      return [`I1 the Employee ID of job candidate ${hire.jobCandidateId} is not shown to the partner`];
    });
}

function isDue(world: World, hire: HireFact): boolean {
  if (!hire.hiredNow || hire.openHolds.length > 0) return false;
  if (hire.answers.some((answer) => OVER.has(answer))) return false;
  if (world.hiredBefore.has(hire.jobCandidateId) && !hire.answers.includes('adopt')) return false;
  return !isExcusedByLoss(world, hire);
}

/** After our store was lost, the hires that nobody knew of any more, and those a person said are none of ours. */
export function isExcusedByLoss(world: World, hire: HireFact): boolean {
  return world.storeLost && (wasLeft(world, hire) || isForgotten(world, hire));
}

/**
 * Hired before go-live, and out of the stage while the baseline of a lost store was taken anew: nobody knows of that
 * any more, and coming back looks like a hire.
 */
export function isForgottenHire(world: World, jobCandidateId: string): boolean {
  if (!world.storeLost || !world.hiredBefore.has(jobCandidateId)) return false;
  const [row] = world.store.all<{ at: number | null }>('select max(baseline_done_at) as at from tenants');
  const memberships = membershipOf(world, jobCandidateId);
  return !memberships.some(({ from, to }) => from <= world.storeLostAt && to >= (row?.at ?? 0));
}

/**
 * No enrolment told that they were work in progress when the store was lost, and no employee of ours, shown by then,
 * whose person stood in the stage of a job of this tenant all the time while the baseline was taken anew: nobody looks
 * for those of people who have left.
 */
function isForgotten(world: World, { tenantId, jobCandidateId, customer }: HireFact): boolean {
  const traced = world.tracedBy.get(tenantId);
  if (traced === undefined) return false;
  const [row] = world.store.all<{ since: number; until: number }>(
    `select t.baseline_started_at as since, t.baseline_done_at as until from hires h
       join tenants t on t.tenant_id = h.tenant_id
     where h.tenant_id = ? and h.job_candidate_id = ? and h.state = 'before-go-live'`,
    tenantId,
    jobCandidateId,
  );
  if (row === undefined) return false;
  return ![...world.people].some(
    ([id, candidateId]) =>
      traced.some((one) => one.candidateId === candidateId && one.shownAt <= row.since) &&
      takes(customer, world.jobs.get(id) ?? '') &&
      membershipOf(world, id).some(({ from, to }) => from <= row.since && to >= row.until),
  );
}

/** After a rebuilt baseline somebody said that the others are none of ours. */
function wasLeft(world: World, { tenantId, answers }: HireFact): boolean {
  return (
    !answers.includes('adopt') &&
    world.given.some((one) => one.code === 'REBUILT_BASELINE' && one.tenantId === tenantId)
  );
}

/** I8: with nothing broken any more, everything is done, over or asked. */
export function checkQuiet(world: World, { hires }: Facts, idle: ReadonlySet<string> = new Set()): string[] {
  const asked = world.store.all<{ id: string }>(
    'select job_candidate_id as id from holds where closed_at is null and job_candidate_id is not null',
  );
  const held = new Set([
    ...hires.filter((hire) => hire.openHolds.length > 0).map((hire) => hire.jobCandidateId),
    ...asked.map(({ id }) => id),
  ]);
  const open = world.store.all<{ tenant_id: string; job_candidate_id: string; period: number; step: string }>(
    "select tenant_id, job_candidate_id, period, step from hires where state = 'open'",
  );
  const waiting = world.store.all<{ event: string }>(
    "select event from inbox where state in ('waiting', 'undeliverable')",
  );
  const paused = world.store.all<{ tenant_id: string; paused_code: string }>(
    "select tenant_id, paused_code from tenants where state = 'paused'",
  );
  return [
    ...open
      .filter((row) => !held.has(row.job_candidate_id) && !idle.has(row.job_candidate_id))
      .map((row) => `I8 hire ${row.job_candidate_id} period ${row.period} stays ${row.step} and asks nobody`),
    ...waiting.map(({ event }) => `I8 a delivery (${event}) is left in the inbox`),
    ...paused.map((row) => `I8 tenant ${row.tenant_id} stays paused (${row.paused_code})`),
    ...world.temporal.pending().map((what) => `I8 ${what} is still tried`),
  ];
}

/**
 * I8: so soon after the last fault and the last deed, only a hire whose onboarding is not ready waits, for its new
 * colleague. Where
 * Temporal's own store was deleted, the fault lasts until the daily reconcile has started the lost workflows anew
 * (`checkQuiet`, after a night).
 */
export function checkSoonQuiet(world: World, facts: Facts): string[] {
  if (world.scenario.loseTemporal) return [];
  const waiting = new Set(
    [...facts.enrolments.values()].flat().flatMap((one) => (UNREADY.has(one.status) ? [one.candidateId] : [])),
  );
  const idle = new Set(facts.hires.filter((hire) => waiting.has(hire.candidateId)).map((hire) => hire.jobCandidateId));
  return checkQuiet(world, facts, idle);
}

const UNREADY = new Set(['not_started', 'in_progress', 'partial_submission', 'under_review']);

/** I10: each hold says why and takes answers; answered as a person would, it ends. */
export function checkHolds(world: World, when: 'calm' | 'answered'): string[] {
  const holds = world.store.all<{
    hold_id: string;
    job_candidate_id: string | null;
    code: string;
    answers: string;
    message: string;
  }>('select hold_id, job_candidate_id, code, answers, message from holds where closed_at is null');
  if (when === 'answered')
    return holds.map(
      (hold) => `I10 hold ${hold.code} of ${hold.job_candidate_id ?? 'the tenant'} does not end by answers`,
    );
  return holds
    .filter((hold) => hold.message === '' || (JSON.parse(hold.answers) as string[]).length === 0)
    .map((hold) => `I10 hold ${hold.code} of ${hold.job_candidate_id ?? 'the tenant'} says nothing or takes no answer`);
}
