import { type Held, held } from '../hire/holds.ts';

/** An enrolment that a person named, and what it must fit. */
export interface Adoption {
  jobCandidateId: string;
  onboardingCandidateId: string;
  /** The hire that has this enrolment, or that our reference on it names, where that is another one. */
  otherHire: string | undefined;
  flow: { shown: string | undefined; wanted: string | undefined };
  /** As both sides show it, cleaned; undefined where one does not. */
  email: { shown: string | undefined; wanted: string | undefined };
  /** A person was shown that the e-mails differ, and means this enrolment. */
  emailConfirmed: boolean;
}

/** Adopting another person's enrolment would make an employee by their onboarding. */
export function judgeAdoption(adoption: Adoption): { verdict: 'fits' } | Held {
  const { jobCandidateId, onboardingCandidateId } = adoption;
  const misfit = misfitOf(adoption);
  if (misfit !== undefined) return held('ADOPT_MISFIT', { jobCandidateId, onboardingCandidateId, misfit });
  if (adoption.emailConfirmed || !differs(adoption.email)) return { verdict: 'fits' };
  return held('ADOPT_OTHER_EMAIL', { jobCandidateId, onboardingCandidateId });
}

/** What nobody can confirm. */
function misfitOf({ otherHire, flow }: Adoption): string | undefined {
  if (otherHire !== undefined) return `belongs to job candidate ${otherHire}`;
  return differs(flow) ? `is in flow ${flow.shown}, and the tenant file names flow ${flow.wanted}` : undefined;
}

/** What one side does not show proves nothing. */
function differs({ shown, wanted }: { shown: string | undefined; wanted: string | undefined }): boolean {
  return shown !== undefined && wanted !== undefined && shown !== wanted;
}
