import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { emit } from '../../events.ts';
import { fileUrl } from '../../file-urls.ts';
import { stableUuid } from '../../random.ts';
import type { FileText } from '../platform/file-text.ts';
import type { Enrolment } from './enrolments.ts';

/** Fields beyond id and URL are not shown (DOCUMENTS, assumed). */
export interface OnboardingDocument {
  id: string;
  onboardingId: string;
  stepKey: string;
  type: string;
  name: string;
  status: string;
  createdAt: number;
  verifiedAt: number | null;
}

const DOCUMENT = `select id, onboarding_id as onboardingId, step_key as stepKey, type, name, status,
  created_at as createdAt, verified_at as verifiedAt
  from onboarding_documents`;

/** Section 8: journey uploads. */
export const MAX_FILES = 30;
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** What a journey holds when the person uploads nothing by name. */
const USUAL = ['Identity card', 'Proof of address'];

const REPORTS: Record<string, string> = {
  background_verification: 'Background verification report',
  pre_employment_medical_test: 'Medical test report',
};

/** The journey link's upload: at most 30 files, each at most 10 MB. */
export function uploadDocuments(
  ctx: Context,
  enrolment: Enrolment,
  files: readonly { name: string; bytes: number }[],
): OnboardingDocument[] {
  if (files.length > MAX_FILES) throw invalidRequest('At most 30 files at once', { files: 'too many' });
  const large = files.findIndex((file) => file.bytes > MAX_FILE_BYTES);
  if (large !== -1) throw invalidRequest('A file is at most 10 MB', { [`files[${String(large)}]`]: 'too large' });
  return files.map(({ name }) => add(ctx, enrolment.id, 'doc_collection', 'document', name, null));
}

/**
 * What a step leaves behind: documents submitted are there, verified ones are told as onboarding.documents.verified;
 * the other steps end in a report, told as onboarding.report.ready (DOCUMENTS, assumed).
 */
export function followStep(ctx: Context, enrolment: Enrolment, stepKey: string, status: string): void {
  if (stepKey !== 'doc_collection') {
    if (status === 'verified') report(ctx, enrolment, stepKey);
    return;
  }
  if (status === 'submitted' && documentsOf(ctx, enrolment.id, 'document').length === 0)
    for (const name of USUAL) add(ctx, enrolment.id, stepKey, 'document', name, null);
  if (status === 'rejected') mark(ctx, enrolment.id, 'rejected', null);
  if (status !== 'verified') return;
  mark(ctx, enrolment.id, 'verified', ctx.now);
  const documents = documentsOf(ctx, enrolment.id, 'document').map((one) => shortly(ctx, one));
  emit(ctx, 'onboarding.documents.verified', { ...idsOf(enrolment), documents });
}

function report(ctx: Context, enrolment: Enrolment, stepKey: string): void {
  const made = add(ctx, enrolment.id, stepKey, 'report', REPORTS[stepKey] ?? 'Report', ctx.now);
  emit(ctx, 'onboarding.report.ready', { ...idsOf(enrolment), stepKey, ...shortly(ctx, made) });
}

function idsOf({ id, flowId, externalRef }: Enrolment): Record<string, unknown> {
  return { onboardingCandidateId: id, flowId, externalRef };
}

function shortly(ctx: Context, { id, name }: OnboardingDocument): Record<string, unknown> {
  return { documentId: id, name, pdfUrl: pdfUrl(ctx, id) };
}

function pdfUrl(ctx: Context, id: string): string {
  return fileUrl(ctx, 'onboarding-document', id);
}

function add(
  ctx: Context,
  onboardingId: string,
  stepKey: string,
  type: 'document' | 'report',
  name: string,
  verifiedAt: number | null,
): OnboardingDocument {
  const { state, company, now } = ctx;
  const seq = state.nextId('onboarding-document');
  const id = stableUuid(state.seed, 'onboarding-document', seq);
  state.run(
    `insert into onboarding_documents (id, company_id, seq, onboarding_id, step_key, type, name, status, created_at,
      verified_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    onboardingId,
    stepKey,
    type,
    name,
    verifiedAt === null ? 'uploaded' : 'verified',
    now,
    verifiedAt,
  );
  effect(ctx, 'onboarding-document', id, { type });
  return findDocument(ctx, onboardingId, id);
}

function mark(ctx: Context, onboardingId: string, status: string, verifiedAt: number | null): void {
  ctx.state.run(
    "update onboarding_documents set status = ?, verified_at = ? where onboarding_id = ? and type = 'document'",
    status,
    verifiedAt,
    onboardingId,
  );
}

export function documentsOf(ctx: Context, onboardingId: string, type?: string): OnboardingDocument[] {
  return ctx.state.all<OnboardingDocument>(
    `${DOCUMENT} where onboarding_id = ? and company_id = ? and (? is null or type = ?) order by seq`,
    onboardingId,
    ctx.company.id,
    type ?? null,
    type ?? null,
  );
}

/** 404 when it is not this enrolment's. */
export function findDocument(ctx: Context, onboardingId: string, id: string): OnboardingDocument {
  const found = documentsOf(ctx, onboardingId).find((one) => one.id === id);
  if (found === undefined) throw notFound('Document');
  return found;
}

/** With a fresh URL. */
export function renderDocument(ctx: Context, document: OnboardingDocument): Record<string, unknown> {
  const { id, onboardingId, ...fields } = document;
  return { documentId: id, onboardingCandidateId: onboardingId, ...fields, pdfUrl: pdfUrl(ctx, id) };
}

/** The page behind the URL. */
export function documentText(ctx: Context, id: string): FileText | undefined {
  const found = ctx.state.one<OnboardingDocument & { person: string }>(
    `select d.id, d.name, d.type, d.status, e.first_name || ' ' || e.last_name as person from onboarding_documents d
     join onboarding_candidates e on e.id = d.onboarding_id where d.id = ? and d.company_id = ?`,
    id,
    ctx.company.id,
  );
  if (found === undefined) return undefined;
  return { title: found.name, lines: [found.person, `${found.type}, ${found.status}`, `Document ${found.id}`] };
}
