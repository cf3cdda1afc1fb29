import { ConnectorError } from '../../src/errors.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { held, holdOf } from '../../src/hire/holds.ts';
import type { Candidate } from '../../src/partner/contract/candidate.ts';
import { closeCreditGate, openCreditGate, passCreditGate } from '../../src/store/credit-gate.ts';
import { recordEnrolment } from '../../src/store/enrolments.ts';
import { hiresInState, readHireRow, updateHire } from '../../src/store/hires.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import { decideIntent, latestIntent } from '../../src/store/intents.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { readPresence } from '../presence/read-presence.ts';
import { adoptEnrolment } from './adopt-enrolment.ts';
import { type Enrolment, enrolmentOf, findEnrolments, lookForEnrolment } from './find-enrolment.ts';
import { enrolmentReference } from './hire-references.ts';
import { withHireOrHeld } from './with-hire.ts';
import { type Once, type SendGuard, startClock, writeOnce } from './write-once.ts';

type Enrolled = Awaited<ReturnType<HireActivities['enrol']>>;

/** What an enrolment request is made of; the first attempt's stays. Kept in the store, never in a history. */
interface PinnedEnrolment {
  flowId: string;
  email: string;
  firstName: string;
  lastName: string;
  reference: string;
}

/** The hire's nth enrolment in this period, by its reference. */
type Attempt = HireRef & { nth: number; reference: string };

/** Enrols the person once per (hire, period, enrolment): looks by our reference, then commits the intent, then spends the credit. */
export function enrol(deps: ActivityDeps, given: HireRef): Promise<Enrolled> {
  return withHireOrHeld(deps, given, async (hire): Promise<Enrolled> => {
    const { connection, ref, decisions } = hire;
    if (decisions.skipOnboarding) return { verdict: 'skip' };
    if (decisions.adopt !== undefined) return adoptEnrolment(hire, decisions.adopt);
    return enrolOnce(deps, connection, ref);
  });
}

async function enrolOnce(deps: ActivityDeps, connection: Connection, ref: HireRef): Promise<Enrolled> {
  const { store, limits } = deps;
  const { credits, onboarding } = connection.tenant.policies;
  if (onboarding === 'skip') return { verdict: 'skip' };
  const row = await readHireRow(store, ref);
  const reference = enrolmentReference(ref, row.enrolment);
  const attempt = { ...ref, nth: row.enrolment, reference };
  await updateHire(store, ref, { step: 'enrol', onboarding_reference: reference }, row);
  const gate = await passCreditGate(store, ref.tenantId, credits.canaryEvery);
  if (gate.pass && !gate.canary) deps.closedGates.delete(ref.tenantId);
  if (!gate.pass) return adoptOrWait(deps, connection, attempt, gate.waitMs);
  const sinceRead = startClock();
  const presence = await readPresence(store, connection, ref.jobCandidateId, hiringStagesOf(connection.tenant));
  if (presence.verdict !== 'in') return { verdict: 'left' };
  await updateHire(store, ref, { candidate_id: presence.candidateId, job_id: presence.jobId });
  const once = await writeOnce<Enrolment, PinnedEnrolment>({
    store,
    key: ref,
    verb: `enrol:${row.enrolment}`,
    pinned: () => ({ flowId: onboarding.flow, reference, ...identify(ref, presence.jobCandidate.candidate_details) }),
    giveUpMs: limits.giveUpMs,
    readLagMs: limits.partnerLagMs,
    look: () => lookForEnrolment(connection, reference),
    sinceRead,
    send: (request, guard) => send(connection, request, turnBackAtGate(deps, ref, gate.canary, guard)),
  });
  return settle(deps, connection, attempt, once);
}

/** With the credit gate closed: an enrolment that is there already is ours without a credit; otherwise wait for the canary. */
async function adoptOrWait(
  deps: ActivityDeps,
  connection: Connection,
  attempt: Attempt,
  waitMs: number,
): Promise<Enrolled> {
  const [hit, ...others] = await findEnrolments(connection, attempt.reference);
  if (hit === undefined || others.length > 0) return waitForCredits(deps, attempt, waitMs);
  const latest = await latestIntent(deps.store, attempt, `enrol:${attempt.nth}`);
  if (latest !== undefined) await decideIntent(deps.store, latest, 'done', hit);
  return record(deps, attempt, hit, false);
}

function identify(
  ref: HireRef,
  person: Candidate | null | undefined,
): { email: string; firstName: string; lastName: string } {
  const { email, firstName, lastName } = person ?? {};
  if (email && firstName && lastName) return { email, firstName, lastName };
  const missing = Object.entries({ email, firstName, lastName }).filter(([, value]) => !value);
  const fields = missing.map(([name]) => name);
  throw new ConnectorError({
    code: 'ENROLMENT_INCOMPLETE',
    action: 'reject',
    message: `Job candidate ${ref.jobCandidateId} cannot be enrolled: ${fields.join(', ')} is empty in the hiring platform. Fill it there, then answer retry.`,
    details: { fields },
  });
}

/** Many enrolments may have passed the gate before the first 402 closed it; nothing is gained by having each refused. */
function turnBackAtGate({ closedGates }: ActivityDeps, ref: HireRef, canary: boolean, guard: SendGuard): SendGuard {
  return {
    ...guard,
    beforeSend() {
      guard.beforeSend();
      if (canary || !closedGates.has(ref.tenantId)) return;
      throw new ConnectorError({
        code: 'CREDIT_GATE_CLOSED',
        action: 'retry',
        message: `The enrolment of job candidate ${ref.jobCandidateId} was not sent: tenant ${ref.tenantId} has no onboarding credits.`,
      });
    },
  };
}

async function send({ partner }: Connection, pinned: PinnedEnrolment, guard: SendGuard): Promise<Enrolment> {
  const { flowId, reference, ...person } = pinned;
  const body = { ...person, externalRef: reference, metadata: { reference } };
  const answer = await partner.onboarding.enrol(
    { params: { flowId }, body },
    { priority: 'live', signal: guard.signal, beforeSend: guard.beforeSend },
  );
  return enrolmentOf(answer.data);
}

async function settle(
  deps: ActivityDeps,
  connection: Connection,
  attempt: Attempt,
  once: Once<Enrolment>,
): Promise<Enrolled> {
  if (once.kind === 'unprovable')
    return held('ENROLMENT_UNKNOWN', { jobCandidateId: attempt.jobCandidateId, reference: attempt.reference });
  if (once.kind !== 'refused') return record(deps, attempt, once.value, once.kind === 'made');
  return refusals[once.error.code]?.(deps, connection, attempt, once.error) ?? Promise.reject(once.error);
}

type Refusal = (
  deps: ActivityDeps,
  connection: Connection,
  attempt: Attempt,
  error: ConnectorError,
) => Promise<Enrolled>;

const refusals: Record<string, Refusal> = {
  async INSUFFICIENT_ONBOARDING_CREDITS(deps, connection, ref, error) {
    const required = numberOf(error.details?.['requiredCredits']);
    const available = numberOf(error.details?.['availableCredits']);
    deps.closedGates.add(ref.tenantId);
    const first = await closeCreditGate(deps.store, ref.tenantId, { required, available });
    if (first)
      deps.log.error({ tenantId: ref.tenantId, required, available }, 'onboarding credits used up, enrolments wait');
    await openHold(deps.store, { tenantId: ref.tenantId, ...holdOf('CREDITS_USED_UP', { required, available }) });
    return waitForCredits(deps, ref, connection.tenant.policies.credits.canaryEvery);
  },
  async DUPLICATE_ENROLLMENT(deps, connection, attempt) {
    const hits = await findEnrolments(connection, attempt.reference);
    if (hits.length === 1 && hits[0] !== undefined) return record(deps, attempt, hits[0], false);
    return held('ENROLLED_ELSEWHERE', { jobCandidateId: attempt.jobCandidateId });
  },
};

/** An enrolment that is there, whoever made it. Only one that we made says anything about credits. */
async function record(deps: ActivityDeps, attempt: Attempt, enrolment: Enrolment, made: boolean): Promise<Enrolled> {
  const { nth, ...ref } = attempt;
  const { onboardingCandidateId: id, status } = enrolment;
  await recordEnrolment(deps.store, ref, nth, { id, status });
  if (made) deps.closedGates.delete(ref.tenantId);
  if (made && (await openCreditGate(deps.store, ref.tenantId))) await signalWaiting(deps, ref.tenantId);
  // Nobody is enrolled whose presence was not read in the same attempt.
  return made ? { verdict: 'enrolled', present: true, waiting: status === 'not_started' } : { verdict: 'enrolled' };
}

async function signalWaiting({ store, signalHire, log }: ActivityDeps, tenantId: string): Promise<void> {
  const open = await hiresInState(store, tenantId, 'open');
  const waiting = open.filter((hire) => hire.step === 'await-credits');
  log.info({ tenantId, waiting: waiting.length }, 'onboarding credits are back, enrolments go on');
  await closeTenantHolds(store, tenantId, 'CREDITS_USED_UP');
  for (const hire of waiting)
    await signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'credits', { start: false });
}

async function waitForCredits({ store }: ActivityDeps, ref: HireRef, waitMs: number): Promise<Enrolled> {
  await updateHire(store, ref, { step: 'await-credits' });
  return { verdict: 'no-credits', waitMs };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
