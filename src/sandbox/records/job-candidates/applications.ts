import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { invalidRequest } from '../../errors.ts';
import { emit } from '../../events.ts';
import { fileUrl } from '../../file-urls.ts';
import type { Candidate } from '../candidates/candidates.ts';
import { candidateByEmail, createCandidate } from '../candidates/candidates.ts';
import { parseApplicantResume } from '../candidates/resumes.ts';
import { findJob } from '../jobs/jobs.ts';
import type { JobCandidate } from './job-candidates.ts';
import { addToJob, jobCandidateOf } from './job-candidates.ts';
import { scheduleScoring } from './scoring.ts';

/** How long a consent is good for. */
const CONSENT_MS = 365 * 86_400_000;

export interface Consent {
  acceptedAt: number;
  policyVersion: string;
  expiresAt: number;
}

/** The hosted page's form as it is kept. */
export interface ApplicationForm extends Record<string, unknown> {
  candidate: Pick<Candidate, 'firstName' | 'lastName' | 'email' | 'phone'>;
  hasResume: boolean;
  consent: Consent | null;
}

export interface HostedApplication {
  jobId: number;
  candidate: Record<string, unknown> & { email: string };
  /** Ticked on the form, of which version of the policy. */
  consent: boolean;
  policyVersion?: string | undefined;
  resume: boolean;
  application: Record<string, unknown>;
}

/** The hosted application page: only an ACTIVE job has one (section 1, rule 3); the person stands in APPLIED. */
export function apply(ctx: Context, hosted: HostedApplication): JobCandidate {
  const { jobId, candidate } = hosted;
  const job = findJob(ctx, jobId);
  if (job.status !== 'ACTIVE')
    throw invalidRequest('Only an ACTIVE job has an application page', { jobId: `is ${job.status}` });
  const person = candidateByEmail(ctx, candidate.email) ?? createCandidate(ctx, candidate);
  if (jobCandidateOf(ctx, jobId, person.id) !== undefined)
    throw invalidRequest('This person is in the job already', { jobId: 'applied before' });
  const form = formOf(ctx, person, hosted);
  const applied = addToJob(ctx, person.id, job, 'APPLIED', form);
  effect(ctx, 'application', applied.id);
  emit(ctx, 'candidate.applied', {
    jobCandidateId: applied.id,
    jobId,
    candidateId: person.id,
    appliedAt: ctx.now,
    resumeUrl: form.hasResume ? fileUrl(ctx, 'resume', applied.id) : null,
    dpaDocumentUrl: form.consent === null ? null : fileUrl(ctx, 'consent', applied.id),
  });
  if (form.hasResume) parseApplicantResume(ctx, person.id, candidate['resume']);
  scheduleScoring(ctx, applied.id);
  return applied;
}

/** Makes somebody who stands in a job already one who came through the page, before anybody was watching. */
export function attachApplication(
  ctx: Context,
  jobCandidateId: number,
  person: Candidate,
  given: Parameters<typeof formOf>[2],
): void {
  ctx.state.run(
    'update job_candidates set applied_at = ?, application = ? where id = ?',
    ctx.now,
    JSON.stringify(formOf(ctx, person, given)),
    jobCandidateId,
  );
}

/** What the page keeps of an application. */
export function formOf(
  ctx: Context,
  person: Candidate,
  given: Pick<HostedApplication, 'consent' | 'policyVersion' | 'resume' | 'application'>,
): ApplicationForm {
  const { firstName, lastName, email, phone } = person;
  const { policyVersion = '2025-01' } = given;
  return {
    ...given.application,
    candidate: { firstName, lastName, email, phone },
    hasResume: given.resume,
    consent: given.consent ? { acceptedAt: ctx.now, policyVersion, expiresAt: ctx.now + CONSENT_MS } : null,
  };
}
