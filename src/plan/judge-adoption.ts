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
}

/** Adopting another person's enrolment would make an employee by their onboarding. */
export function judgeAdoption(adoption: Adoption): { verdict: 'fits' } | Held {
  const { jobCandidateId, onboardingCandidateId } = adoption;
  const misfit = misfitOf(adoption);
  return misfit === undefined
    ? { verdict: 'fits' }
    : held('ADOPT_MISFIT', { jobCandidateId, onboardingCandidateId, misfit });
}

function misfitOf({ otherHire, flow, email }: Adoption): string | undefined {
  if (otherHire !== undefined) return `belongs to job candidate ${otherHire}`;
  if (differs(flow)) return `is in flow ${flow.shown}, and the tenant file names flow ${flow.wanted}`;
  return differs(email) ? 'has another e-mail than this candidate' : undefined;
}

/** What one side does not show proves nothing. */
function differs({ shown, wanted }: { shown: string | undefined; wanted: string | undefined }): boolean {
  return shown !== undefined && wanted !== undefined && shown !== wanted;
}
