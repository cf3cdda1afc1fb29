import { readdirSync, readFileSync } from 'node:fs';
import { DateTime } from 'luxon';
import { ApiError, type ApiResponse, type Context, invalidRequest, notFound } from './context.ts';
import { signingToken } from './file-urls.ts';
import { contextOf } from './prepare.ts';
import { type Assessment, findAssessment, questionsOf } from './records/assessments.ts';
import { findSchedule, freeSlots, type Schedule, type Slot } from './records/booking-schedules.ts';
import { type BookingLink, book, isOpen, linkByToken, listBookings } from './records/bookings.ts';
import { findCandidate } from './records/candidates.ts';
import { companyById } from './records/companies.ts';
import { type Enrolment, enrolmentByJourney, findFlow, type Step, stepsOf } from './records/enrolments.ts';
import { finishInterview, leaveInterview, resumeInterview, startInterview } from './records/interviews.ts';
import { type Invite, inviteOf, type Submission, submissionOf } from './records/invites.ts';
import { record } from './records/ledger.ts';
import { openJourney, setStep } from './records/onboarding.ts';
import {
  documentsOf,
  findOffer,
  type Offer,
  openOffer,
  type Signer,
  signOffer,
  uploadDocuments,
} from './records/onboarding-documents.ts';
import { findJob } from './records/pipelines.ts';
import type { SandboxState } from './state.ts';

/** Text that may stand in a page as it is: made by the template below, and by nothing else. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | false | null | undefined | readonly Piece[];

/**
 * A piece of a page. Inserted values are escaped, unless they are pieces themselves; lists are joined, nothing is left
 * out.
 */
function html(parts: TemplateStringsArray, ...values: Piece[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(written)));
}

function written(value: Piece): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object' && value !== null) return value.map(written).join('');
  if (value === undefined || value === null || value === false) return '';
  return escaped(String(value));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** No script runs in these pages, and no form leads elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; img-src data:";

/** A whole small page of the kind a candidate sees. */
function hostedPage(title: string, content: Html, status = 200): ApiResponse {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/page/style.css">
</head>
<body class="hosted">
<main>
<h1>${title}</h1>
${content}
<p class="foot">A page of the sandbox: nothing here reaches a real person.</p>
</main>
</body>
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return { status, headers, body: text };
}

/** The error; a screen reader announces it at once. */
function alert(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="notice bad" role="alert">${message}</p>`;
}

function badge(text: string, tone = ''): Html {
  return html`<span class="badge ${tone}">${text.replaceAll('_', ' ').toLowerCase()}</span>`;
}

/** How a hosted page is opened. */
interface Visit {
  /** The part of the path that identifies the page's owner. */
  key: string;
  /** The path after the key. */
  rest: string;
  query: URLSearchParams;
  /** Why the form that was sent is refused; the page shows it. */
  refusal?: string | undefined;
}

interface HostedPage {
  show: (ctx: Context, visit: Visit) => ApiResponse;
  /** A form's act; without its own answer the page is fetched anew, so that a reload does not act twice. */
  act: (ctx: Context, visit: Visit, form: URLSearchParams) => ApiResponse | undefined;
}

const ENDED: Record<string, string> = {
  COMPLETED: 'Thank you. Your interview has been handed in.',
  TIMED_OUT: 'This interview has ended.',
  PAUSED: 'You have left the interview. Open the same link to go on.',
};

/** Where an invited person takes the interview: the e-mail of the invitation is the ticket. */
const interviewPage: HostedPage = {
  show: (ctx, { key, refusal }) => welcome(findAssessment(ctx, key), refusal),

  act(ctx, { key }, form) {
    const assessment = findAssessment(ctx, key);
    const invite = inviteOf(ctx, key, form.get('email') ?? '');
    if (invite === undefined) throw invalidRequest('Nobody with this e-mail address is invited');
    const submission = taken(ctx, invite, form.get('step'));
    return submission.status === 'IN_PROGRESS' ? questions(ctx, assessment, invite) : ended(assessment, submission);
  },
};

/** Begins, continues, leaves or submits an interview; a finished one says that it is finished. */
function taken(ctx: Context, invite: Invite, step: string | null): Submission {
  const before = submissionOf(ctx, invite.id);
  if (before === undefined) return startInterview(ctx, invite);
  if (before.status === 'PAUSED') return resumeInterview(ctx, before.id);
  if (before.status !== 'IN_PROGRESS' || step === 'begin') return before;
  return step === 'leave'
    ? leaveInterview(ctx, before.id, { scored: true })
    : finishInterview(ctx, before.id, { scored: true });
}

function welcome({ status, fields }: Assessment, refusal: string | undefined): ApiResponse {
  if (status !== 'ACTIVE')
    return hostedPage(fields.testName, html`<p class="notice">This interview is closed at the moment.</p>`);
  return hostedPage(
    fields.testName,
    html`<p>An interview of about ${fields.duration} minutes for the role ${fields.hiringForRole}.</p>
      ${alert(refusal)}
      <form method="post">
        <input type="hidden" name="step" value="begin">
        <label>E-mail address of your invitation<input name="email" type="email" required autocomplete="email"></label>
        <button class="primary">Begin</button>
      </form>`,
  );
}

/** Answers are not kept: the platform's scores do not depend on them either. */
function questions(ctx: Context, { id, fields }: Assessment, { email }: Invite): ApiResponse {
  const one = ({ question }: { question: string }): Html =>
    html`<label>${question}<textarea rows="3"></textarea></label>`;
  return hostedPage(
    fields.testName,
    html`<p>Take your time. In the sandbox any answer will do, and none is kept.</p>
      <form method="post">
        <input type="hidden" name="email" value="${email}">
        ${questionsOf(ctx, id).map(one)}
        <div class="actions">
          <button class="primary" name="step" value="finish">Hand in</button>
          <button name="step" value="leave">Leave for now</button>
        </div>
      </form>`,
  );
}

function ended({ fields }: Assessment, { status }: Submission): ApiResponse {
  return hostedPage(fields.testName, html`<p class="notice" role="status">${ENDED[status] ?? status}</p>`);
}

/** A step that waits for the candidate. */
const OPEN: ReadonlySet<string> = new Set(['pending', 'in_progress', 'rejected']);
const TONES: Record<string, string> = { verified: 'good', submitted: 'accent', rejected: 'bad' };

/** Where a new colleague works through the steps of onboarding. */
const journeyPage: HostedPage = {
  show(ctx, visit) {
    const enrolment = journeyOf(ctx, visit);
    const steps = stepsOf(ctx, enrolment.id);
    return hostedPage(
      `Welcome, ${enrolment.firstName}`,
      html`<p>${findFlow(ctx, enrolment.flowId).name} at ${ctx.company.name}</p>
        ${alert(visit.refusal)}${summary(enrolment, steps)}
        <ol class="steps">${steps.map((step) => stepItem(ctx, enrolment, step))}</ol>`,
    );
  },

  act(ctx, visit, form) {
    const { id } = journeyOf(ctx, visit);
    const stepKey = form.get('step') ?? '';
    const names = form.getAll('document').filter((name) => name.trim() !== '');
    const step = stepsOf(ctx, id).find((one) => one.stepKey === stepKey);
    if (step === undefined || !OPEN.has(step.status)) throw invalidRequest('This step is not open');
    if (stepKey === 'doc_collection') {
      if (names.length === 0) throw invalidRequest('Name at least one document');
      uploadDocuments(
        ctx,
        openJourney(ctx, id),
        names.map((name) => ({ name: name.trim(), bytes: 1000 })),
      );
    }
    setStep(ctx, id, stepKey, 'submitted');
    return undefined;
  },
};

/** A link that is no longer good opens nothing (section 2.9). */
function journeyOf(ctx: Context, { key }: Visit): Enrolment {
  return openJourney(ctx, enrolmentByJourney(ctx, key).id);
}

function summary({ overallStatus }: Enrolment, steps: readonly Step[]): Html {
  if (overallStatus === 'completed') return html`<p class="notice good" role="status">Your onboarding is complete.</p>`;
  const open = steps.filter(({ status }) => OPEN.has(status)).length;
  return open === 0
    ? html`<p class="notice good" role="status">You have done your part. Everything is being looked at.</p>`
    : html`<p>${open} of ${steps.length} steps wait for you.</p>`;
}

function stepItem(ctx: Context, enrolment: Enrolment, { stepKey, status, rejectionReason }: Step): Html {
  const name = stepKey.replaceAll('_', ' ');
  const isOpen = OPEN.has(status) && enrolment.overallStatus !== 'completed';
  const documents = stepKey === 'doc_collection' ? documentsOf(ctx, enrolment.id, 'document') : [];
  return html`<li>
    <h2>${name.charAt(0).toUpperCase()}${name.slice(1)} ${badge(status, TONES[status])}</h2>
    ${status === 'rejected' && html`<p class="notice bad">Please send it again: ${rejectionReason}</p>`}
    ${documents.length > 0 && html`<ul>${documents.map((one) => html`<li>${one.name}</li>`)}</ul>`}
    ${isOpen && stepForm(stepKey)}
  </li>`;
}

/** No file is sent: in a sandbox its name is enough. */
function stepForm(stepKey: string): Html {
  const documents = html`<label>Document<input name="document" value="Identity card"></label>
    <label>Another document<input name="document" value="Proof of address"></label>`;
  return html`<form method="post">
    <input type="hidden" name="step" value="${stepKey}">
    ${stepKey === 'doc_collection' && documents}
    <button class="primary">${stepKey === 'doc_collection' ? 'Send these documents' : 'I have done this'}</button>
  </form>`;
}

const SIGNING_TONES: Record<string, string> = { signed: 'good', sent: 'accent', opened: 'accent' };

/** Where one signer reads an offer and signs it. */
const signingPage: HostedPage = {
  show(ctx, visit) {
    const { offer: found, signer: before } = signerOf(ctx, visit);
    const offer = before.status === 'sent' ? openOffer(ctx, found.id, before.signingOrder) : found;
    const signer = offer.signers.find(({ signingOrder }) => signingOrder === before.signingOrder) ?? before;
    return hostedPage(
      offer.name,
      html`${alert(visit.refusal)}${offerLines(ctx, offer)}${signerList(offer, signer)}${signing(offer, signer)}`,
    );
  },

  act(ctx, visit, form) {
    const { offer, signer } = signerOf(ctx, visit);
    if ((form.get('name') ?? '').trim() === '') throw invalidRequest('Type your name to sign');
    signOffer(ctx, offer.id, signer.signingOrder);
    return undefined;
  },
};

function signerOf(ctx: Context, { key, rest }: Visit): { offer: Offer; signer: Signer } {
  const [order, token] = rest.split('/');
  const offer = findOffer(ctx, key);
  const signer = offer.signers.find(({ signingOrder }) => String(signingOrder) === order);
  if (signer === undefined || token !== signingToken(ctx.state, offer.id, signer.signingOrder))
    throw notFound('Signing link');
  return { offer, signer };
}

function offerLines(ctx: Context, offer: Offer): Html {
  const { firstName, lastName } = findCandidate(ctx, offer.candidateId);
  return html`<p>For <b>${firstName} ${lastName}</b>, as <b>${findJob(ctx, offer.jobId).fields.title}</b>
    at ${ctx.company.name}.</p>`;
}

function signerList({ signers }: Offer, own: Signer): Html {
  const line = (one: Signer): Html =>
    html`<li>${one.name}${one === own ? ' (you)' : ''} ${badge(one.status, SIGNING_TONES[one.status])}</li>`;
  return html`<h2>Signatures</h2><ol class="plain">${signers.map(line)}</ol>`;
}

function signing(offer: Offer, signer: Signer): Html {
  if (offer.status === 'completed')
    return html`<p class="notice good" role="status">Everybody has signed. The offer is complete.</p>`;
  if (signer.status === 'signed')
    return html`<p class="notice good" role="status">You have signed. The next signer has been asked.</p>`;
  if (signer.status === 'pending')
    return html`<p class="notice">It is not your turn yet: somebody else signs first, or the offer is a draft.</p>`;
  return html`<form method="post">
    <label>Type your name to sign<input name="name" required autocomplete="name" value="${signer.name}"></label>
    <button class="primary">Sign</button>
  </form>`;
}

const SHOWN_DAYS = 3;

/** Where an invited person picks a time. */
const bookingPage: HostedPage = {
  show(ctx, { key, query, refusal }) {
    const link = linkByToken(ctx, key);
    const schedule = findSchedule(ctx, link.scheduleId);
    const { firstName } = JSON.parse(link.person) as { firstName: string | null };
    const [booking] = listBookings(ctx, null, link.id);
    const greeting = html`<p>${firstName !== null && `Hello ${firstName}. `}${schedule.description}</p>`;
    const content =
      booking === undefined
        ? choice(ctx, link, schedule, query.get('from'))
        : html`<p class="notice good" role="status">You are booked for
            <b>${told(schedule, booking.startAt, DateTime.DATETIME_FULL)}</b>.</p>`;
    return hostedPage(schedule.name, html`${greeting}${alert(refusal)}${content}`);
  },

  act(ctx, { key }, form) {
    const link = linkByToken(ctx, key);
    if (!isOpen(ctx, link)) throw invalidRequest('This link can no longer be used');
    const start = form.get('slot');
    if (start === null) throw invalidRequest('Choose a time');
    const selectedFormat = form.get('format') as 'ONLINE' | 'ONSITE' | null;
    book(ctx, findSchedule(ctx, link.scheduleId), {
      entityType: link.entityType,
      entityId: link.entityId,
      scheduledStartAt: start,
      ...(selectedFormat === null ? {} : { selectedFormat }),
    });
    return undefined;
  },
};

function choice(ctx: Context, link: BookingLink, schedule: Schedule, from: string | null): Html {
  if (!isOpen(ctx, link)) return html`<p class="notice">This link can no longer be used. Ask for a new one.</p>`;
  const first = Date.parse(from ?? '') || ctx.now;
  const slots = freeSlots(ctx, schedule, first, first + 60 * 86_400_000);
  const days = [...Map.groupBy(slots, ({ start }) => told(schedule, start, DateTime.DATE_HUGE))];
  if (days.length === 0) return html`<p class="notice">No time is free any more.</p>`;
  const later = days[SHOWN_DAYS]?.[1][0];
  return html`<form method="post">
    <p class="hint">Times are those of ${schedule.timezone}; it takes ${schedule.durationMinutes} minutes.</p>
    ${days.slice(0, SHOWN_DAYS).map(([day, ofDay]) => dayChoice(schedule, day, ofDay))}
    ${later !== undefined && html`<p><a href="?from=${new Date(later.start).toISOString()}">Later days</a></p>`}
    ${schedule.bookingMode === 'BOTH' && FORMATS}
    <button class="primary">Book this time</button>
  </form>`;
}

const FORMATS = html`<fieldset><legend>How</legend><div class="slots">
  <label><input type="radio" name="format" value="ONLINE" checked> Online</label>
  <label><input type="radio" name="format" value="ONSITE"> On site</label></div></fieldset>`;

function dayChoice(schedule: Schedule, day: string, slots: readonly Slot[]): Html {
  const one = ({ start }: Slot): Html => html`<label>
    <input type="radio" name="slot" value="${new Date(start).toISOString()}" required>
    ${told(schedule, start, DateTime.TIME_SIMPLE)}</label>`;
  return html`<fieldset><legend>${day}</legend><div class="slots">${slots.map(one)}</div></fieldset>`;
}

function told({ timezone }: Schedule, at: number, format: Intl.DateTimeFormatOptions): string {
  return DateTime.fromMillis(at, { zone: timezone, locale: 'en-GB' }).toLocaleString(format);
}

/** The pages behind the addresses that answers and webhooks hand out, by the first part of their path. */
const PAGES: Record<HostedKind, HostedPage> = {
  assessment: interviewPage,
  book: bookingPage,
  journey: journeyPage,
  sign: signingPage,
};

/** The page of an address, or the result of a form sent from it. Undefined for other paths. */
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

/** Undoes the changes of a refused form, and shows the page with the reason. */
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
  return hostedPage('This link is not active', html`<p>${why}. Ask the sender for a new one.</p>`, 404);
}

/** Where the company of an address stands, by the kind of page: the address alone opens it, without an API key. */
const OWNERS = {
  assessment: 'select company_id as id from assessments where id = ?',
  book: 'select company_id as id from booking_links where token = ?',
  journey: "select company_id as id from onboarding_candidates where journey_url = '/journey/' || ?",
  sign: 'select company_id as id from offers where id = ?',
};
type HostedKind = keyof typeof OWNERS;

function ownerOf(state: SandboxState, kind: HostedKind, key: string): number | undefined {
  return state.one<{ id: number }>(OWNERS[kind], key)?.id;
}

interface PageFile {
  type: string;
  text: string;
}

const TYPES: Record<string, string> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };

let files: Map<string, PageFile> | undefined;

/** A file of the page by its path: `/` or `/page/<name>`. They are served unchanged, without a build step. */
export function pageFile(path: string): PageFile | undefined {
  files ??= readFiles(new URL('page/', import.meta.url));
  return files.get(path);
}

function readFiles(folder: URL): Map<string, PageFile> {
  return new Map(
    readdirSync(folder).map((name) => [
      name === 'index.html' ? '/' : `/page/${name}`,
      { type: TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain', text: readFileSync(new URL(name, folder), 'utf8') },
    ]),
  );
}
