import { type Context, effect, invalidRequest, iso, notFound, refuse } from '../context.ts';
import { type FileText, fileUrl } from '../file-urls.ts';
import { type Candidate, candidateByEmail, createCandidate, findCandidate } from './candidates.ts';
import { emit } from './deliveries.ts';
import { addToJob, findJobCandidate, type JobCandidate, jobCandidateOf, updateJobCandidate } from './job-candidates.ts';
import { findJob } from './pipelines.ts';
import { scheduleScoring } from './rescoring.ts';
import { parseApplicantResume, resumeLines } from './resumes.ts';

/** How long a consent is valid. */
const CONSENT_MS = 365 * 86_400_000;
const TYPED = ['firstName', 'lastName', 'phone'];

interface Consent {
  acceptedAt: number;
  policyVersion: string;
  expiresAt: number;
}

/** The hosted page's form as stored. */
interface ApplicationForm extends Record<string, unknown> {
  candidate: Pick<Candidate, 'firstName' | 'lastName' | 'email' | 'phone'>;
  hasResume: boolean;
  consent: Consent | null;
}

interface HostedApplication {
  jobId: number;
  candidate: Record<string, unknown> & { email: string };
  /** Ticked on the form, with the version of the policy. */
  consent: boolean;
  policyVersion?: string | undefined;
  resume: boolean;
  application: Record<string, unknown>;
}

/** The hosted application page: only an ACTIVE job has one (section 1, rule 3); the person is in APPLIED. */
export function apply(ctx: Context, hosted: HostedApplication): JobCandidate {
  const { jobId, candidate } = hosted;
  const job = findJob(ctx, jobId);
  if (job.status !== 'ACTIVE')
    throw invalidRequest('Only an ACTIVE job has an application page', { jobId: `is ${job.status}` });
  const person = candidateByEmail(ctx, candidate.email) ?? createCandidate(ctx, candidate);
  if (jobCandidateOf(ctx, jobId, person.id) !== undefined)
    throw invalidRequest('This person is in the job already', { jobId: 'applied before' });
  // Section 2.4: the record has what was typed on the page, even if the profile of a known person says otherwise.
  const typed = Object.entries(candidate).filter(([field]) => TYPED.includes(field));
  const form = formOf(ctx, { ...person, ...Object.fromEntries(typed) }, hosted);
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

/** Turns somebody already on a job into an applicant through the page, without events. */
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

/** The part of an application that comes from the page. */
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

/**
 * Section 2.4: entries of the hosted page besides the person, and fields that an update of the job candidate may change
 * later.
 */
const ASKED = [
  'currentJobTitle',
  'company',
  'noticePeriod',
  'isWillingToRelocate',
  'expectedCTC',
  'currencyExpectedCTC',
  'expectedCTCPeriod',
  'currentCTC',
  'currencyCurrentCTC',
  'currentCTCPeriod',
  'gender',
  'dateOfBirth',
  'nationality',
] as const;

/** 409 for a candidate who did not apply through the hosted page. */
function findForm(ctx: Context, id: number): { applied: JobCandidate; form: ApplicationForm } {
  const applied = findJobCandidate(ctx, id);
  if (applied.application === null)
    throw refuse('NO_APPLICATION', 'The candidate did not apply through the hosted page');
  return { applied, form: JSON.parse(applied.application) as ApplicationForm };
}

/** 409 for a candidate without a consent. */
function findConsent(ctx: Context, id: number): Consent {
  const { consent } = findForm(ctx, id).form;
  if (consent === null) throw refuse('NO_CONSENT_RECORD', 'The application has no consent record');
  return consent;
}

/** The application record of section 2.4; every URL is new and time-limited. */
export function renderApplication(ctx: Context, id: number): Record<string, unknown> {
  const { applied, form } = findForm(ctx, id);
  const changed = JSON.parse(applied.body) as Record<string, unknown>;
  return {
    jobCandidateId: id,
    jobId: applied.jobId,
    candidateId: applied.candidateId,
    appliedAt: applied.appliedAt,
    candidate: form.candidate,
    ...Object.fromEntries(ASKED.map((field) => [field, changed[field] ?? form[field] ?? null])),
    resumeUrl: form.hasResume ? fileUrl(ctx, 'resume', id) : null,
    screeningQuestionAnswer: listOf(form, 'screeningQuestionAnswer'),
    otherFiles: fileNames(form).map((name, index) => ({
      name,
      url: fileUrl(ctx, 'application-file', `${String(id)}.${String(index)}`),
    })),
    consent:
      form.consent === null
        ? null
        : {
            acceptedAt: form.consent.acceptedAt,
            policyVersion: form.consent.policyVersion,
            consentDocumentUrl: fileUrl(ctx, 'consent', id),
            expiresAt: form.consent.expiresAt,
          },
  };
}

/** Withdraws a consent, or changes when it expires, with the event of an edited application (CONSENT, assumed). */
export function changeConsent(ctx: Context, id: number, expiresAt: number | undefined): void {
  const { form } = findForm(ctx, id);
  const consent = expiresAt === undefined ? null : { ...findConsent(ctx, id), expiresAt };
  ctx.state.run('update job_candidates set application = ? where id = ?', JSON.stringify({ ...form, consent }), id);
  updateJobCandidate(ctx, id, {});
}

/** Section 4.4; expiresAt is that of the consent (K18, assumed). */
export function renderConsentDocument(ctx: Context, id: number): Record<string, unknown> {
  const { policyVersion, acceptedAt, expiresAt } = findConsent(ctx, id);
  const document = {
    name: 'Data privacy acknowledgment',
    category: 'dpa_acknowledgment',
    policyVersion,
    acceptedAt,
    pdfUrl: fileUrl(ctx, 'consent', id),
    expiresAt,
  };
  return { jobCandidateId: id, document };
}

export function consentFile(ctx: Context, subject: string): FileText {
  const { acceptedAt, policyVersion, expiresAt } = findConsent(ctx, Number(subject));
  const { form } = findForm(ctx, Number(subject));
  return {
    title: 'Data privacy acknowledgment',
    lines: [
      nameOf(form),
      `Policy version ${policyVersion}`,
      `Accepted ${iso(acceptedAt)}`,
      `Expires ${iso(expiresAt)}`,
    ],
  };
}

export function resumeFile(ctx: Context, subject: string): FileText {
  const { form, applied } = findForm(ctx, Number(subject));
  if (!form.hasResume) throw notFound('Resume');
  return {
    title: `Resume of ${nameOf(form)}`,
    lines: [
      `Sent in for: ${findJob(ctx, applied.jobId).fields.title}`,
      ...resumeLines({ ...findCandidate(ctx, applied.candidateId), email: form.candidate.email }),
    ],
  };
}

export function applicationFile(ctx: Context, subject: string): FileText {
  const [id, index] = subject.split('.').map(Number);
  const { form } = findForm(ctx, id ?? 0);
  const name = fileNames(form)[index ?? -1];
  if (name === undefined) throw notFound('File');
  return { title: name, lines: [`Attached by ${nameOf(form)}`] };
}

function nameOf({ candidate: { firstName, lastName, email } }: ApplicationForm): string {
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  return name === '' ? email : name;
}

/** Names of attachments, given as text or as `{ name }`. */
function fileNames(form: ApplicationForm): string[] {
  return listOf(form, 'otherFiles').map((file, index) => {
    const name = typeof file === 'object' && file !== null && 'name' in file ? file.name : file;
    return typeof name === 'string' ? name : `File ${String(index + 1)}`;
  });
}

function listOf(form: ApplicationForm, key: string): unknown[] {
  return Array.isArray(form[key]) ? (form[key] as unknown[]) : [];
}
