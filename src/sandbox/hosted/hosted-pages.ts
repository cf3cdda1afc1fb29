import type { ApiResponse } from '../api-message.ts';
import { ApiError } from '../errors.ts';
import { pageFile } from '../page-files.ts';
import { contextOf } from '../prepare.ts';
import { type HostedKind, ownerOf } from '../records/browse/owners.ts';
import { record } from '../records/platform/ledger.ts';
import { companyById } from '../records/workspace/companies.ts';
import type { SandboxState } from '../state.ts';
import { bookingPage } from './booking-page.ts';
import { hostedPage, html } from './html.ts';
import { interviewPage } from './interview-page.ts';
import { journeyPage } from './journey-page.ts';
import { signingPage } from './signing-page.ts';
import type { HostedPage, Visit } from './visit.ts';

/** The pages behind the addresses that answers and webhooks hand out, by the first part of their path. */
const PAGES: Record<HostedKind, HostedPage> = {
  assessment: interviewPage,
  book: bookingPage,
  journey: journeyPage,
  sign: signingPage,
};

/** The page of an address, or what became of a form sent from it. Undefined for other paths. */
export function openHostedPage(
  state: SandboxState,
  method: string | undefined,
  url: string,
  body: string,
): ApiResponse | undefined {
  const { pathname, searchParams: query } = new URL(url, 'http://hosted');
  if (/^\/page\/[a-z]+\.css$/.test(pathname)) return styleSheet(pathname);
  const [, kind, key = '', rest = ''] = /^\/(assessment|book|journey|sign)\/([\w-]+)\/?([\w/-]*)$/.exec(pathname) ?? [];
  if (kind === undefined || (method !== 'GET' && method !== 'POST')) return undefined;
  const form = method === 'POST' ? new URLSearchParams(body) : undefined;
  const response = opened(state, kind as HostedKind, { key, rest, query }, form);
  record(state, { kind: 'request', name: `${kind}-page`, status: response.status, origin: 'api' });
  return response;
}

function styleSheet(path: string): ApiResponse | undefined {
  const file = pageFile(path);
  return file && { status: 200, headers: { 'content-type': `${file.type}; charset=utf-8` }, body: file.text };
}

/** What a refused form had begun is undone, and the page is shown with the reason. */
function opened(state: SandboxState, kind: HostedKind, visit: Visit, form?: URLSearchParams): ApiResponse {
  const companyId = ownerOf(state, kind, visit.key);
  const company = companyId === undefined ? undefined : companyById(state, companyId);
  if (company === undefined) return gone('There is nothing at this address');
  const { show, act } = PAGES[kind];
  const ctx = contextOf(state, company);
  const refusal = form && refusalOf(() => state.transaction(() => act(ctx, visit, form)) ?? seeAgain(kind, visit));
  if (typeof refusal === 'object') return refusal;
  const shown = refusalOf(() => state.transaction(() => show(ctx, { ...visit, refusal })));
  return typeof shown === 'string' ? gone(shown) : shown;
}

/** The answer, or why there is none. */
function refusalOf(run: () => ApiResponse): ApiResponse | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

function seeAgain(kind: string, { key, rest }: Visit): ApiResponse {
  const location = `/${kind}/${key}${rest === '' ? '' : `/${rest}`}`;
  return { status: 303, headers: { location }, body: '' };
}

function gone(why: string): ApiResponse {
  return hostedPage('This link is not active', html`<p>${why}. Ask whoever sent it for a new one.</p>`, 404);
}
