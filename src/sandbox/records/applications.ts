import type { Context } from '../context.ts';
import { effect } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { emit } from '../events.ts';
import { candidateByEmail, createCandidate } from './candidates.ts';
import type { JobCandidate } from './job-candidates.ts';
import { addToJob, jobCandidateOf } from './job-candidates.ts';
import { findJob } from './jobs.ts';
import { scheduleScoring } from './scoring.ts';

/** How long a consent is good for. */
const CONSENT_MS = 365 * 86_400_000;

export interface HostedApplication {
  jobId: number;
  candidate: Record<string, unknown> & { email: string };
  consent: boolean;
  application: Record<string, unknown>;
}

/** The hosted application page: only an ACTIVE job has one (section 1, rule 3); the person stands in APPLIED. */
export function apply(ctx: Context, { jobId, candidate, consent, application }: HostedApplication): JobCandidate {
  const job = findJob(ctx, jobId);
  if (job.status !== 'ACTIVE')
    throw invalidRequest('Only an ACTIVE job has an application page', { jobId: `is ${job.status}` });
  const person = candidateByEmail(ctx, candidate.email) ?? createCandidate(ctx, candidate);
  if (jobCandidateOf(ctx, jobId, person.id) !== undefined)
    throw invalidRequest('This person is in the job already', { jobId: 'applied before' });
  const form = {
    ...application,
    candidate: { firstName: person.firstName, lastName: person.lastName, email: person.email, phone: person.phone },
    consent: consent ? { acceptedAt: ctx.now, policyVersion: '2025-01', expiresAt: ctx.now + CONSENT_MS } : null,
  };
  const applied = addToJob(ctx, person.id, job, 'APPLIED', form);
  effect(ctx, 'application', applied.id);
  emit(ctx, 'candidate.applied', {
    jobCandidateId: applied.id,
    jobId,
    candidateId: person.id,
    resumeUrl: null,
    dpaDocumentUrl: null,
  });
  scheduleScoring(ctx, applied.id);
  return applied;
}
