import { type ConnectorError, rejected } from '../errors.ts';
import { asksToCancel, type Decisions } from '../hire/answers.ts';
import { type HireRef, type HireState, type HireStep, isResting } from '../hire/hire.ts';
import { type Held, held } from '../hire/holds.ts';

/** What the store knows of an application when its hire is requested. */
export interface KnownHire {
  /** The newest period. */
  latest: { period: number; state: HireState; step: HireStep; employeeId: string | null } | undefined;
  /** The last answered hold. */
  lastAnswered: { holdId: string; code: string; isClosed: boolean } | undefined;
  /** Every answer given in this period, oldest first. */
  answers: ReadonlyArray<{ answer: string }>;
}

type Opening =
  /** A stale event must hire nobody, so a new period begins only while the person is in the stage. */
  | { kind: 'look'; period: number }
  | { kind: 'closed' }
  /** A person asked for a hire from before go-live, or for one that a person's answer ended. */
  | { kind: 'reopen' }
  | {
      kind: 'resume';
      step: 'enrol' | 'employ' | 'write-back' | 'watch-done' | 'cancel';
      /** Answered but not acted upon yet. */
      hold?: { holdId: string; code: string };
    };

/** The stored part of an enrolment; the journey link is a secret and is left out. */
export interface Enrolment {
  onboardingCandidateId: string;
  status: string;
}

/** Personal data: kept in the store, never in a workflow history. Every attempt uses the first attempt's request. */
export interface EnrolmentRequest {
  flowId: string;
  email: string;
  firstName: string;
  lastName: string;
  reference: string;
}

type EnrolmentPlan =
  | { kind: 'skip' }
  /** Enrolment made by hand, which a person named. */
  | { kind: 'adopt'; onboardingCandidateId: string }
  | { kind: 'enrol'; flowId: string };

/** A person's decision overrides the tenant's policy. */
export function planEnrolment(onboarding: 'skip' | { flow: string }, decisions: Decisions): EnrolmentPlan {
  if (decisions.skipOnboarding) return { kind: 'skip' };
  if (decisions.adopt !== undefined) return { kind: 'adopt', onboardingCandidateId: decisions.adopt };
  return onboarding === 'skip' ? { kind: 'skip' } : { kind: 'enrol', flowId: onboarding.flow };
}

/** Builds the request from the person as the partner shows them. Without a name or an e-mail, no enrolment is tried. */
export function enrolmentRequest(
  { jobCandidateId }: HireRef,
  into: { flowId: string; reference: string },
  person: { email?: unknown; firstName?: unknown; lastName?: unknown } | null | undefined,
): EnrolmentRequest {
  const [email, firstName, lastName] = [textOf(person?.email), textOf(person?.firstName), textOf(person?.lastName)];
  const fields = Object.entries({ email, firstName, lastName }).flatMap(([name, value]) => (value ? [] : [name]));
  if (fields.length === 0) return { ...into, email, firstName, lastName };
  throw rejected(
    'ENROLMENT_INCOMPLETE',
    `Job candidate ${jobCandidateId} cannot be enrolled: ${fields.join(', ')} is empty in the hiring platform. ` +
      'Fill it there, then answer retry.',
    { details: { fields } },
  );
}

/** The only enrolment with our reference is ours already and costs no credit, even while the credit gate is closed. */
export function adoptable(hits: readonly Enrolment[]): Enrolment | undefined {
  return hits.length === 1 ? hits[0] : undefined;
}

/** The partner says that this person is already enrolled, by us or by somebody else. */
export function judgeDuplicate({ jobCandidateId }: HireRef, hits: readonly Enrolment[]): Enrolment | Held {
  return adoptable(hits) ?? held('ENROLLED_ELSEWHERE', { jobCandidateId });
}

type RefusedEnrolment =
  | { kind: 'no-credits'; required: number | null; available: number | null }
  | { kind: 'duplicate' }
  | { kind: 'other' };

type Refusal = Pick<ConnectorError, 'code' | 'status' | 'details'>;

/** What a refusal is about. Amounts are null if the answer's body could not be read. */
export function judgeRefusedEnrolment({ code, status, details }: Refusal): RefusedEnrolment {
  if (code === 'DUPLICATE_ENROLLMENT') return { kind: 'duplicate' };
  // The status counts too, in case a proxy made the body unreadable.
  if (code !== 'INSUFFICIENT_ONBOARDING_CREDITS' && status !== 402) return { kind: 'other' };
  const required = numberOf(details?.['requiredCredits']);
  return { kind: 'no-credits', required, available: numberOf(details?.['availableCredits']) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

type Outcome = 'waiting' | 'ONBOARDING_REJECTED' | 'ONBOARDING_FAILED' | 'ONBOARDING_TERMINATED';

/** What each overall status means for a hire, unless the tenant's `readyAt` names it. */
const outcomes: Readonly<Record<string, Outcome>> = {
  not_started: 'waiting',
  in_progress: 'waiting',
  partial_submission: 'waiting',
  under_review: 'waiting',
  final_handoff: 'waiting',
  completed: 'waiting',
  rejected: 'ONBOARDING_REJECTED',
  failed: 'ONBOARDING_FAILED',
  terminated: 'ONBOARDING_TERMINATED',
};

/** `unknown`: the specification does not name the status. */
type OnboardingVerdict = { verdict: 'ready' } | { verdict: 'waiting' } | { verdict: 'unknown' } | Held;

export function judgeOnboarding(
  jobCandidateId: string,
  status: string,
  policy: 'skip' | { readyAt: readonly string[] },
): OnboardingVerdict {
  if (policy === 'skip' || policy.readyAt.includes(status)) return { verdict: 'ready' };
  const outcome = Object.hasOwn(outcomes, status) ? outcomes[status] : undefined;
  if (outcome === 'waiting') return { verdict: 'waiting' };
  return outcome === undefined ? { verdict: 'unknown' } : held(outcome, { jobCandidateId, status });
}

/** An enrolment that a person named, and what it must fit. */
export interface Adoption {
  jobCandidateId: string;
  onboardingCandidateId: string;
  /** Another hire that has this enrolment, or that our reference on it names. */
  otherHire: string | undefined;
  flow: { shown: string | undefined; wanted: string | undefined };
  /** E-mails on both sides, cleaned; undefined if a side shows none. */
  email: { shown: string | undefined; wanted: string | undefined };
  /** A person saw that the e-mails differ and wants this enrolment all the same. */
  emailConfirmed: boolean;
}

/** Checks an adoption, because adopting another person's enrolment would make an employee from their onboarding. */
export function judgeAdoption(adoption: Adoption): { verdict: 'fits' } | Held {
  const { jobCandidateId, onboardingCandidateId } = adoption;
  const { otherHire, flow } = adoption;
  // Misfits that no person can override.
  const isInOther = differs(flow)
    ? `is in flow ${flow.shown}, and the tenant file names flow ${flow.wanted}`
    : undefined;
  const misfit = otherHire === undefined ? isInOther : `belongs to job candidate ${otherHire}`;
  if (misfit !== undefined) return held('ADOPT_MISFIT', { jobCandidateId, onboardingCandidateId, misfit });
  if (adoption.emailConfirmed || !differs(adoption.email)) return { verdict: 'fits' };
  return held('ADOPT_OTHER_EMAIL', { jobCandidateId, onboardingCandidateId });
}

/** Whether both sides show a value and the values differ; a missing value proves nothing. */
function differs({ shown, wanted }: { shown: string | undefined; wanted: string | undefined }): boolean {
  return shown !== undefined && wanted !== undefined && shown !== wanted;
}

/**
 * Where a hire begins or continues; the store counts, no matter what Temporal remembers. Exception: a workflow that
 * followed a later period (`behind`) proves that the store was restored and that the earlier period is over.
 */
export function planOpening(
  known: KnownHire,
  { adopt, watch, behind = 0 }: { adopt: boolean; watch: boolean; behind?: number },
): Opening {
  const { latest } = known;
  const next = (latest?.period ?? 0) + 1;
  if (latest === undefined || latest.state === 'left' || behind >= next)
    return { kind: 'look', period: Math.max(next, behind) };
  if (isResting(latest.state)) return { kind: adopt ? 'reopen' : 'closed' };
  // An answer that a lost workflow did not act on goes first, so that it is not lost with the workflow.
  const { holdId, code, isClosed } = known.lastAnswered ?? { holdId: '', code: '', isClosed: true };
  const hold = isClosed ? undefined : { holdId, code };
  // The employee exists; what may be left is a person who has gone since, or an answer about that.
  if (latest.state === 'done') {
    if (hold !== undefined) return { kind: 'resume', step: 'watch-done', hold };
    return watch ? { kind: 'resume', step: 'watch-done' } : { kind: 'closed' };
  }
  // At `employ` it may have lost its employee to another hire, and an answer gives it one of its own.
  const withEmployee = latest.step === 'employ' ? 'employ' : 'write-back';
  const step = latest.employeeId === null ? 'enrol' : withEmployee;
  if (hold !== undefined) return { kind: 'resume', step, hold };
  return { kind: 'resume', step: step === 'enrol' && asksToCancel(known.answers) ? 'cancel' : step };
}

/** Facts about the surroundings of a hire that may forbid its start. */
interface AdmissionFacts {
  /** The tenant only observes. */
  observes: boolean;
  /** The tenant takes this job. */
  inScope: boolean;
  /** Another tenant of the same company with a hire of this application. */
  takenBy: string | undefined;
}

type Admission =
  | { kind: 'start' }
  /** Plan and record the hire. */
  | { kind: 'observe' }
  /** Record the hire, so that it never starts by itself later. */
  | { kind: 'pass'; why: string };

/** Whether a hire starts. A recorded hire never starts by itself, even if its job comes into the scope later. */
export function judgeAdmission({ observes, inScope, takenBy }: AdmissionFacts): Admission {
  if (!inScope) return { kind: 'pass', why: "its job is outside this tenant's scope" };
  if (takenBy !== undefined) return { kind: 'pass', why: `tenant ${takenBy} of the same company has this hire` };
  return { kind: observes ? 'observe' : 'start' };
}
