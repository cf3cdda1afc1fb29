import { createHmac } from 'node:crypto';
import type { ApiResponse, Context } from './context.ts';
import { contextOf } from './prepare.ts';
import { findAssessment, type SharedPart, sharePageSettings } from './records/assessments.ts';
import { companyById } from './records/companies.ts';
import { companyOfSubmission, findSubmission, inviteOfSubmission, resultOf } from './records/invites.ts';
import { record } from './records/ledger.ts';
import type { SandboxState } from './state.ts';

/** Section 4.6: the public result page of a submission. It does not expire, and anyone with the URL may read it. */
export function sharePageUrl(state: SandboxState, submissionId: string): string {
  return `${state.publicUrl}/results/${submissionId}/${tokenOf(state, submissionId)}`;
}

/** The page, or 404 for a URL that nobody was given. Undefined for other paths. */
export function openSharePage(state: SandboxState, method: string | undefined, url: string): ApiResponse | undefined {
  if (method !== 'GET' || !url.startsWith('/results/')) return undefined;
  return state.transaction(() => {
    const [, id, token] = /^\/results\/([0-9a-f-]{36})\/([0-9a-f]{32})$/.exec(url) ?? [];
    const known = id !== undefined && token === tokenOf(state, id);
    const companyId = known ? companyOfSubmission(state, id) : undefined;
    const company = companyId === undefined ? undefined : companyById(state, companyId);
    const ctx = company === undefined ? undefined : contextOf(state, company);
    const lines = ctx === undefined || id === undefined ? undefined : sharedLines(ctx, id);
    const status = lines === undefined ? 404 : 200;
    record(state, { kind: 'request', name: 'share-page', status, subject: known ? id : undefined, companyId });
    return lines === undefined ? page(404, 'There is no such result', []) : page(200, 'Interview result', lines);
  });
}

/** The parts of a result that the company shares; undefined if it shares none. */
function sharedLines(ctx: Context, id: string): string[] | undefined {
  const { enabled, shows } = sharePageSettings(ctx);
  if (!enabled) return undefined;
  const submission = findSubmission(ctx, id);
  const { firstName, lastName } = inviteOfSubmission(ctx, submission);
  const { score, bucket, cefrLevel } = resultOf(findAssessment(ctx, submission.assessmentId), submission);
  const parts: Record<SharedPart, string | null> = {
    name: [firstName, lastName].filter((part) => part !== null).join(' '),
    score: `Score ${String(score)} of 100`,
    bucket,
    cefrLevel: cefrLevel === null ? null : `CEFR level ${cefrLevel}`,
  };
  return shows.map((part) => parts[part]).filter((line) => line !== null);
}

function page(status: number, title: string, lines: readonly string[]): ApiResponse {
  const text = lines.map((line) => `<p>${escaped(line)}</p>`).join('');
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${text}</html>`,
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function tokenOf(state: SandboxState, submissionId: string): string {
  return createHmac('sha256', `results of seed ${String(state.seed)}`)
    .update(submissionId)
    .digest('hex')
    .slice(0, 32);
}
