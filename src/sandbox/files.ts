import type { ApiResponse } from './api-message.ts';
import type { Context } from './context.ts';
import { ApiError } from './errors.ts';
import { readFileUrl } from './file-urls.ts';
import { pdfOf } from './pdf.ts';
import { interviewReport } from './records/assessments/assessment-files.ts';
import { candidateResume } from './records/candidates/own-resumes.ts';
import { applicationFile, consentFile, resumeFile } from './records/job-candidates/application-record.ts';
import { certificateText, offerText } from './records/onboarding/offer-files.ts';
import { documentText } from './records/onboarding/onboarding-documents.ts';
import type { FileText } from './records/platform/file-text.ts';
import { record } from './records/platform/ledger.ts';
import { companyById } from './records/workspace/companies.ts';
import type { SandboxState } from './state.ts';

/**
 * Draws each kind of document from its record, by the kind given to `fileUrl`; undefined where the record is gone. A
 * family adds a line.
 */
const KINDS: Record<string, (ctx: Context, subject: string) => FileText | undefined> = {
  'interview-report': interviewReport,
  'onboarding-document': documentText,
  offer: offerText,
  'offer-certificate': certificateText,
  resume: resumeFile,
  'candidate-resume': candidateResume,
  consent: consentFile,
  'application-file': applicationFile,
};

/**
 * The answer to a URL of a document: the PDF, 403 once expired (G24, assumed), 404 without its record. Undefined for
 * other paths.
 */
export function openFile(state: SandboxState, method: string | undefined, url: string): ApiResponse | undefined {
  if (method !== 'GET' || !url.startsWith('/files/')) return undefined;
  return state.transaction(() => {
    const file = readFileUrl(state, url);
    const response = file === 'expired' ? text(403, 'This link has expired.') : drawn(state, file);
    const subject = file === undefined || file === 'expired' ? undefined : `${file.kind}/${file.subject}`;
    const companyId = file === undefined || file === 'expired' ? undefined : file.companyId;
    record(state, { kind: 'request', name: 'file', status: response.status, subject, companyId, origin: 'api' });
    return response;
  });
}

function drawn(
  state: SandboxState,
  file: { kind: string; companyId: number; subject: string } | undefined,
): ApiResponse {
  const company = file === undefined ? undefined : companyById(state, file.companyId);
  if (file === undefined || company === undefined) return text(404, 'There is no such file.');
  const ctx: Context = { state, company, now: state.clock.now(), origin: 'api' };
  const content = found(() => KINDS[file.kind]?.(ctx, file.subject));
  if (content === undefined) return text(404, 'There is no such file.');
  return {
    status: 200,
    headers: { 'content-type': 'application/pdf', 'content-disposition': `inline; filename="${file.kind}.pdf"` },
    body: pdfOf(content.title, content.lines),
  };
}

/** A record that is gone is no defect. */
function found<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function text(status: number, body: string): ApiResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
