import { type Context, iso } from './context.ts';
import { ApiError, type ApiResponse } from './errors.ts';
import { type FileText, readFileUrl } from './file-urls.ts';
import { applicationFile, consentFile, resumeFile } from './records/applications.ts';
import { findAssessment } from './records/assessments.ts';
import { companyById } from './records/companies.ts';
import { findSubmission, inviteOfSubmission, resultOf } from './records/invites.ts';
import { record } from './records/ledger.ts';
import { certificateText, documentText, offerText } from './records/onboarding-documents.ts';
import { candidateResume } from './records/resumes.ts';
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

const LINE_HEIGHT = 18;
/** A page of A4 holds so many lines below its title. */
const LINES = 38;

/**
 * A one-page PDF 1.4 of a title and lines of text, in Helvetica, which every reader brings along. Plain ASCII
 * throughout, so it travels as text like every other answer.
 */
function pdfOf(title: string, lines: readonly string[]): string {
  const text = [
    `BT /F1 18 Tf 60 770 Td (${escaped(title)}) Tj /F1 11 Tf 0 -14 Td`,
    ...lines.slice(0, LINES).map((line) => `0 -${String(LINE_HEIGHT)} Td (${escaped(line)}) Tj`),
    'ET',
  ].join('\n');
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${String(text.length)} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Title (${escaped(title)}) >>`,
  ]);
}

/** Objects numbered from 1, the table of where each begins, and where the table begins. */
function assemble(objects: readonly string[]): string {
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${String(index + 1)} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = String(objects.length + 1);
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${String(file.length)}\n%%EOF\n`;
  return `${file}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`;
}

/** Latin-1 as it is, other letters without their accents, what is left as a question mark. */
function escaped(text: string): string {
  return Array.from(text.normalize('NFC'), (letter) => {
    const [plain = '?'] = letter.normalize('NFD');
    return isLatin(letter) ? octal(letter) : isLatin(plain) ? octal(plain) : '?';
  }).join('');
}

function isLatin(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff);
}

function octal(letter: string): string {
  return /[^ -~]|[()\\]/.test(letter) ? `\\${(letter.codePointAt(0) ?? 0x3f).toString(8).padStart(3, '0')}` : letter;
}

/** The result PDF of a scored interview. */
function interviewReport(ctx: Context, submissionId: string): FileText {
  const submission = findSubmission(ctx, submissionId);
  const assessment = findAssessment(ctx, submission.assessmentId);
  const { firstName, lastName, email } = inviteOfSubmission(ctx, submission);
  const { score, bucket, cefrLevel } = resultOf(assessment, submission);
  return {
    title: `Interview report: ${assessment.fields.testName.slice(0, 80)}`,
    lines: [
      [firstName, lastName].filter((name) => name !== null).join(' ') || email,
      `Role: ${assessment.fields.hiringForRole.slice(0, 80)}`,
      `Ended: ${submission.endedAt === null ? '' : iso(submission.endedAt)}`,
      `Score: ${String(score)} of 100`,
      `Bucket: ${String(bucket)}`,
      ...(cefrLevel === null ? [] : [`CEFR level: ${cefrLevel}`]),
    ],
  };
}
