import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { fileUrl } from '../../file-urls.ts';
import type { FileText } from '../platform/file-text.ts';
import { type Candidate, findCandidate, storedText } from './candidates.ts';

/** Stands in a stored profile for a resume that the sandbox draws itself. */
export const OWN_RESUME = 'sandbox:resume';
const STORED = `"resume":"${OWN_RESUME}"`;

/** The JSON text a candidate is answered with. */
export function candidateText(ctx: Context, id: number): string | undefined {
  const stored = storedText(ctx, id);
  return stored === undefined ? undefined : answeredText(ctx, id, stored);
}

/** A stored profile as it is answered: its resume under a URL of this moment (section 8). */
export function answeredText(ctx: Context, id: number, stored: string): string {
  const at = stored.indexOf(STORED);
  if (at === -1) return stored;
  const url = JSON.stringify(fileUrl(ctx, 'candidate-resume', id));
  return `${stored.slice(0, at)}"resume":${url}${stored.slice(at + STORED.length)}`;
}

export function answeredCandidate(ctx: Context, candidate: Candidate): Candidate {
  if (candidate['resume'] !== OWN_RESUME) return candidate;
  return { ...candidate, resume: fileUrl(ctx, 'candidate-resume', candidate.id) };
}

export function candidateResume(ctx: Context, subject: string): FileText {
  const candidate = findCandidate(ctx, Number(subject));
  if (candidate['resume'] !== OWN_RESUME) throw notFound('Resume');
  return { title: resumeTitle(candidate), lines: resumeLines(candidate) };
}

function resumeTitle({ firstName, lastName, email }: Candidate): string {
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  return `Resume of ${name === '' ? email : name}`;
}

/** A profile as its owner would write it down. */
export function resumeLines(candidate: Candidate): string[] {
  const entries = (field: string): Record<string, string>[] => (candidate[field] ?? []) as Record<string, string>[];
  const words = (field: string): string => (Array.isArray(candidate[field]) ? candidate[field].join(', ') : '');
  const told = [
    candidate.email,
    [candidate['city'], candidate['country']].filter((part) => typeof part === 'string').join(', '),
    typeof candidate['summary'] === 'string' ? candidate['summary'] : '',
    ...section(
      'Experience',
      entries('workExperiences').map(({ title, company, duration }) => [title, company, duration]),
    ),
    ...section(
      'Education',
      entries('educations').map(({ degree, field, institution }) => [degree, field, institution]),
    ),
    ...section('Skills', [[words('skills')]]),
    ...section('Languages', [[words('languages')]]),
  ];
  return told.filter((line) => line !== '');
}

function section(title: string, rows: readonly (string | undefined)[][]): string[] {
  const lines = rows.map((row) => row.filter((part) => typeof part === 'string' && part !== '').join(', '));
  return lines.every((line) => line === '') ? [] : [title, ...lines.map((line) => `  ${line}`)];
}
